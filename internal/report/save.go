package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"utvi/internal/atomicfile"
)

// A Figure draws itself on a canvas of its size.
type Figure interface {
	Size() (width, height vg.Length)
	Draw(c draw.Canvas) error
}

// CheckName reports whether Save knows the format of a file by its name.
func CheckName(path string) error {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".svg", ".png", ".pdf":
		return nil
	case "":
		return fmt.Errorf("%q has no extension; figures are .svg, .png or .pdf", path)
	default:
		return fmt.Errorf("figures are .svg, .png or .pdf, not %s", ext)
	}
}

// Save draws the figure to a file in the format its extension names, whole or
// not at all.
func Save(path string, f Figure) error {
	if err := CheckName(path); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := encode(&b, f, strings.ToLower(filepath.Ext(path))); err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}

const pngDPI = 220

func encode(b *bytes.Buffer, f Figure, ext string) error {
	type canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	w, h := f.Size()
	var c canvas
	switch ext {
	case ".png":
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(pngDPI))}
	case ".pdf":
		pdf := vgpdf.New(w, h)
		pdf.EmbedFonts(true)
		c = pdf
	default:
		c = vgsvg.New(w, h)
	}
	if err := f.Draw(draw.New(c)); err != nil {
		return err
	}
	if _, err := c.WriteTo(b); err != nil {
		return err
	}
	if ext == ".svg" {
		// Arial and Helvetica have the metrics of the font that was measured.
		const family = "font-family:Liberation Sans"
		s := bytes.ReplaceAll(b.Bytes(), []byte(family), []byte(family+",Arial,Helvetica,sans-serif"))
		*b = *bytes.NewBuffer(clean(s))
	}
	return nil
}

// clean replaces what no XML or HTML may hold: control characters, and bytes
// that are not text.
func clean(b []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7F && r < 0xA0 || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, b)
}
