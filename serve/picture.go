package serve

import (
	"encoding/base64"
	"net/url"
	"strings"

	"utvi/internal/pixels"
)

// isImage reports whether the body of a request is an image, by its Content-Type.
func (c *call) isImage() bool {
	return strings.HasPrefix(strings.ToLower(c.r.Header.Get("Content-Type")), "image/")
}

// takeImage takes the memory that the image in a text needs while it is decoded, if the column is that
// of images. Its header says how large it is. Images are decoded one after another.
func (l *loaded) takeImage(column int, text []byte, mem *lease) error {
	if column != l.picture || len(text) == 0 {
		return nil
	}
	if err := mem.take(2 * int64(len(text))); err != nil { // the text, and its bytes
		return err
	}
	size, err := pixels.Reader{Inline: true}.Size(string(text))
	if err != nil {
		return failf(invalid, "%v", err)
	}
	if err := mem.takeLargest(size.Memory()); err != nil {
		if f := faultOf(err); f.kind == tooLarge {
			return failf(tooLarge, "an image of %d × %d pixels needs %d bytes of memory while it is read, more than the server has for one client; make it smaller, or save one in WebP as PNG", size.Width, size.Height, size.Memory())
		}
		return err
	}
	return nil
}

// readImage makes a row of a body that is an image; other columns are in the address, as ?age=3.
func readImage(body []byte, others url.Values, l *loaded, mem *lease) (question, error) {
	var q question
	if l.picture < 0 {
		return q, failf(unsupported, "the body is an image, but the model predicts from other columns; send JSON")
	}
	if err := mem.take(4*int64(len(body)) + l.rowBytes + l.blockBytes(1)); err != nil {
		return q, err
	}
	text := append([]byte("data:;base64,"), base64.StdEncoding.EncodeToString(body)...)
	if err := l.takeImage(l.picture, text, mem); err != nil {
		return q, err
	}
	build := l.NewRowBuilder()
	build.Parse(l.picture, text)
	for name, values := range others {
		at := build.Column([]byte(name))
		if at < 0 || at == l.picture || len(values) != 1 {
			return q, failf(malformed, "the address has %.60q; beside a body that is an image, it may have each other column of the model once, as ?column=value", name)
		}
		build.Parse(at, []byte(values[0]))
	}
	if err := build.End(); err != nil {
		return q, as(invalid, err)
	}
	var err error
	q.x, err = build.Batch()
	return q, as(invalid, err)
}
