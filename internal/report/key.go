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
	width := -vg.Length(keyGap)
	for _, e := range entries {
		width += keyGap + keyLength(e)
	}
	x := (left + right - width) / 2
	for _, e := range entries {
		x = drawKey(c, x, y, e) + keyGap
	}
}

// keyTrace shows a trace as it is drawn: band, line or bar, mark.
func keyTrace(t Trace, shape draw.GlyphDrawer) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, b vg.Rectangle) {
		mid := vg.Point{X: (b.Min.X + b.Max.X) / 2, Y: (b.Min.Y + b.Max.Y) / 2}
		bars := t.Lo != nil && t.Style == Marks
		if t.Lo != nil && !bars {
			keyFill(fade(t.Colour, bandAlpha))(c, b)
		}
		switch t.Style {
		case Line, Dashed, LineMarks:
			keyLine(t.stroke())(c, b)
		case Dots:
			keyDot(fade(t.Colour, 0.5), 1.6)(c, b)
		case Bars:
			keyFill(fade(t.Colour, 0.55))(c, b)
		}
		if bars || t.SD != nil && t.marked() {
			c.StrokeLine2(stroke(t.Colour, 1), mid.X, b.Min.Y-1, mid.X, b.Max.Y+1)
		}
		if t.marked() {
			c.DrawGlyph(draw.GlyphStyle{Color: t.Colour, Radius: markRadius, Shape: shape}, mid)
		}
	}
}

func keyLevel(l Level) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, b vg.Rectangle) {
		if l.SD > 0 {
			keyFill(fade(l.Colour, bandAlpha))(c, b)
		}
		keyLine(l.stroke())(c, b)
	}
}

const (
	keyHeight = 16 // of a row of the key
	keyGap    = 18
)

func keyLength(e keyEntry) vg.Length {
	return keyWidth + 5 + textStyle(tickSize, ink).Width(e.text)
}

// wrapKeys breaks entries into as few rows of at most the given width as can
// be, of about equal length.
func wrapKeys(entries []keyEntry, width vg.Length) [][]keyEntry {
	fill := func(limit vg.Length) (rows [][]keyEntry) {
		used := limit
		for _, e := range entries {
			e.text = shorten(e.text, textStyle(tickSize, ink), width-keyWidth-5)
			used += keyGap + keyLength(e)
			if rows == nil || used > limit {
				rows = append(rows, nil)
				used = keyLength(e)
			}
			rows[len(rows)-1] = append(rows[len(rows)-1], e)
		}
		return rows
	}
	best := fill(width)
	for limit := width * 0.95; limit > width/3; limit -= width / 20 {
		rows := fill(limit)
		if len(rows) > len(best) {
			break
		}
		best = rows
	}
	return best
}

// drawKeys draws rows of entries from the top down.
func drawKeys(c draw.Canvas, rows [][]keyEntry, left, right, top vg.Length) {
	for i, row := range rows {
		keyRow(c, left, right, top-keyHeight*(vg.Length(i)+0.5), row...)
	}
}
