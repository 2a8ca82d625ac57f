package report

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A keyEntry explains one mark of a figure.
type keyEntry struct {
	text string
	mark func(c draw.Canvas, box vg.Rectangle)
}

func keyLine(s draw.LineStyle) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, b vg.Rectangle) {
		y := (b.Min.Y + b.Max.Y) / 2
		c.StrokeLine2(s, b.Min.X, y, b.Max.X, y)
	}
}

func keyFill(col Colour) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, b vg.Rectangle) {
		c.FillPolygon(col, []vg.Point{b.Min, {X: b.Max.X, Y: b.Min.Y}, b.Max, {X: b.Min.X, Y: b.Max.Y}})
	}
}

func keyDot(col Colour, radius vg.Length) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, b vg.Rectangle) {
		at := vg.Point{X: (b.Min.X + b.Max.X) / 2, Y: (b.Min.Y + b.Max.Y) / 2}
		c.DrawGlyph(draw.GlyphStyle{Color: col, Radius: radius, Shape: draw.CircleGlyph{}}, at)
	}
}

const keyWidth = 16 // of a mark

// drawKey draws one entry with its middle at height y and returns where it ends.
func drawKey(c draw.Canvas, x, y vg.Length, e keyEntry) vg.Length {
	e.mark(c, vg.Rectangle{Min: vg.Point{X: x, Y: y - 4}, Max: vg.Point{X: x + keyWidth, Y: y + 4}})
	style := textStyle(tickSize, ink)
	style.YAlign = draw.YCenter
	x += keyWidth + 5
	c.FillText(style, vg.Point{X: x, Y: y}, e.text)
	return x + style.Width(e.text)
}

// keyRow draws entries side by side, centred between left and right.
func keyRow(c draw.Canvas, left, right, y vg.Length, entries ...keyEntry) {
	const gap = 18
	style := textStyle(tickSize, ink)
	width := -vg.Length(gap)
	for _, e := range entries {
		width += gap + keyWidth + 5 + style.Width(e.text)
	}
	x := (left + right - width) / 2
	for _, e := range entries {
		x = drawKey(c, x, y, e) + gap
	}
}
