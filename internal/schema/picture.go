package schema

import (
	"math"
	"path/filepath"

	"utvi/internal/pixels"
	"utvi/table"
)

// Images is what reads the images that the cells of a table name. Rows that no file holds have
// them in their cells.
func Images(h *table.Header) pixels.Reader {
	r := pixels.Reader{Folder: h.Folder, Inline: h.File == ""}
	if r.Folder == "" {
		r.Folder = filepath.Dir(h.File)
	}
	return r
}

// picture encodes the image that a cell names. One that cannot be read, among the rows of a file,
// is remarked on; its row is set aside or, where none is, gets inputs that are no numbers, so that its
// prediction is none.
func (e *Encoder) picture(c *table.Chunk, row, i int, dst []float32, aside bool) error {
	in := &e.inputs[i]
	text := c.Text(row, in.pos)
	if text == "" {
		return c.Errorf(row, in.pos, "no image is named")
	}
	im, err := Images(e.head).Read(text)
	if err == nil {
		in.Image.Encode(im, dst)
		return nil
	}
	if e.remarks == nil {
		return c.Errorf(row, in.pos, "%v", err)
	}
	e.remarkUnreadable(err)
	if aside {
		return err
	}
	for k := range dst {
		dst[k] = float32(math.NaN())
	}
	return nil
}
