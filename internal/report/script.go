package report

import (
	"math"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// A scribe measures and places text of any script. The font of the figures has Latin,
// Greek and Cyrillic letters; a browser draws others with fonts of the system, whose
// letters are about as wide as they are high in Chinese, Japanese and Korean.
type scribe struct{ text.Handler }

// missing reports whether the font lacks a character.
func missing(f font.Face, r rune) bool {
	i, err := f.Face.GlyphIndex(nil, r)
	return err != nil || i == 0
}

// width is the width of a line of text.
func (s scribe) width(f font.Face, line string) (w vg.Length) {
	start, size := 0, 0
	for i := 0; i < len(line); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(line[i:])
		if !missing(f, r) {
			continue
		}
		w += f.Width(line[start:i])
		start = i + size
		const firstWide = 0x1100 // Hangul and what follows
		if r >= firstWide {
			w += f.Font.Size
		} else {
			w += 0.6 * f.Font.Size
		}
	}
	return w + f.Width(line[start:])
}

// Box implements text.Handler.
func (s scribe) Box(line string, fnt font.Font) (width, height, depth vg.Length) {
	_, height, depth = s.Handler.Box("x", fnt)
	return s.width(s.Cache().Lookup(fnt, fnt.Size), line), height, depth
}

// Draw implements text.Handler.
func (s scribe) Draw(c vg.Canvas, txt string, style text.Style, at vg.Point) {
	f := s.Cache().Lookup(style.Font, style.Font.Size)
	lines := s.Lines(txt)
	c.SetColor(style.Color)
	if style.Rotation != 0 {
		c.Push()
		defer c.Pop()
		c.Rotate(style.Rotation)
	}
	sin, cos := math.Sincos(style.Rotation)
	at = vg.Point{X: at.Y*vg.Length(sin) + at.X*vg.Length(cos), Y: at.Y*vg.Length(cos) - at.X*vg.Length(sin)}
	at.Y += style.Height(txt)*vg.Length(style.YAlign) - f.Extents().Ascent
	for i, line := range lines {
		if line != "" {
			shift := vg.Point{X: vg.Length(style.XAlign) * s.width(f, line), Y: vg.Length(len(lines)-i) * style.Font.Size}
			c.FillString(f, at.Add(shift), line)
		}
	}
}

// handler is how all figures write.
var handler text.Handler = scribe{plot.DefaultTextHandler}

// CanWrite reports whether the font of the figures has every character of a figure. A
// figure that cannot be written is to be saved as SVG, which browsers draw with other
// fonts.
func CanWrite(f Figure) bool {
	var r recorder.Canvas
	w, h := f.Size()
	if f.Draw(draw.NewCanvas(&r, w, h)) != nil {
		return true // saving it will tell
	}
	fnt := handler.Cache().Lookup(face(tickSize), tickSize)
	for _, a := range r.Actions {
		if t, ok := a.(*recorder.FillString); ok {
			for _, c := range t.String {
				if missing(fnt, c) {
					return false
				}
			}
		}
	}
	return true
}
