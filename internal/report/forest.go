package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Forest is a figure of one value per name with its error bar, the first on
// top.
type Forest struct {
	Title string
	X     Axis
	Rows  []ForestRow
	Line  float64 // a value to compare with, drawn if LineName is set
	// LineName explains Line.
	LineName string

	narrow bool
}

// A ForestRow is a name's value ± SD. Rows of the same Group share a colour.
type ForestRow struct {
	Name      string
	Value, SD float64
	Group     int
}

// Narrow implements Narrower.
func (f Forest) Narrow() Figure {
	f.narrow = true
	return f
}

const forestRow = 17 // height of a row

// Size implements Figure.
func (f Forest) Size() (width, height vg.Length) {
	width = 14 * vg.Centimeter
	if f.narrow {
		width = narrowFigure
	}
	height = 2*edge + 32 + forestRow*vg.Length(max(2, len(f.Rows)))
	if f.Title != "" {
		height += 20
	}
	if f.LineName != "" {
		height += keyHeight
	}
	return width, height
}

// Draw implements Figure.
func (f Forest) Draw(c draw.Canvas) error {
	w, h := f.Size()
	most := vg.Length(0.42) * w
	style := textStyle(tickSize, ink)
	left := vg.Length(0)
	labels := make([]string, len(f.Rows))
	x := newSpan()
	for i, r := range f.Rows {
		labels[len(labels)-1-i] = shorten(r.Name, style, most)
		left = max(left, style.Width(labels[len(labels)-1-i]))
		for _, v := range []float64{r.Value - r.SD, r.Value, r.Value + r.SD} {
			x.include(f.X.at(v))
		}
	}
	top := h - edge
	if f.LineName != "" {
		x.include(f.X.at(f.Line))
		row := []keyEntry{{shorten(f.LineName, style, w-left-40), keyLine(stroke(ink, 0.9, 4, 2))}}
		keyRow(c, edge+left+10, w-edge-12, top-keyHeight/2, row...)
		top -= keyHeight
	}
	if f.Title != "" {
		top -= 20
	}
	shown := f.X.shows(x, 0.06)
	area := vg.Rectangle{Min: vg.Point{X: edge + left + 10, Y: edge + 28}, Max: vg.Point{X: w - edge - 12, Y: top - 4}}
	p := newPlot("", "", "")
	middle := (area.Min.X + area.Max.X) / 2
	centred(c, f.Title, textStyle(titleSize, ink), vg.Point{X: middle, Y: area.Max.Y + 9}, w)
	centred(c, f.X.Label, textStyle(labelSize, ink), vg.Point{X: middle, Y: edge + 3}, w)
	p.Add(forestMark{f})
	if x.empty() {
		p.Add(emptyMark{})
	}
	p.X.Tick.Marker = f.X.ticker(shown, area.Size().X, func(s string) vg.Length { return style.Width(s) + 8 })
	p.Y.Tick.Marker = names{text: labels, every: 1, most: 200}
	p.Y.Tick.LineStyle.Width = 0
	p.Y.LineStyle.Width = 0
	p.X.Min, p.X.Max = shown.lo, shown.hi
	p.Y.Min, p.Y.Max = -0.6, float64(max(2, len(f.Rows)))-0.4
	place(p, c, area)
	return nil
}

// centred writes a text about a place, aside where the figure's borders ask for
// it.
func centred(c draw.Canvas, s string, style draw.TextStyle, at vg.Point, width vg.Length) {
	s = shorten(s, style, width-2*edge)
	half := style.Width(s) / 2
	style.XAlign = draw.XCenter
	at.X = max(min(at.X, width-edge-half), edge+half)
	c.FillText(style, at, s)
}

// forestMark draws the rows.
type forestMark struct{ Forest }

// Plot implements plot.Plotter.
func (f forestMark) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	if at := tx(f.X.at(f.Line)); f.LineName != "" && finite(vg.Point{X: at}) && at >= c.Min.X && at <= c.Max.X {
		c.StrokeLine2(stroke(ink, 0.9, 4, 2), at, c.Min.Y, at, c.Max.Y)
	}
	for i, r := range f.Rows {
		y := ty(float64(len(f.Rows) - 1 - i))
		c.StrokeLine2(stroke(fade(grey, 0.35), 0.5), c.Min.X, y, c.Max.X, y)
		at := within(tx(f.X.at(r.Value)))
		if math.IsNaN(float64(at)) {
			style := textStyle(tickSize, grey)
			style.YAlign = draw.YCenter
			c.FillText(style, vg.Point{X: c.Min.X + 3, Y: y + 5}, "not finite")
			continue
		}
		colour := Series(r.Group)
		lo, hi := within(tx(f.X.floor(r.Value-r.SD, p.X.Min))), within(tx(f.X.at(r.Value+r.SD)))
		if r.SD > 0 && finite(vg.Point{X: lo, Y: hi}) {
			c.StrokeLines(stroke(colour, 1.2), c.ClipLinesXY([]vg.Point{{X: lo, Y: y}, {X: hi, Y: y}})...)
			for _, x := range []vg.Length{lo, hi} {
				if x > c.Min.X && x < c.Max.X {
					c.StrokeLine2(stroke(colour, 1.2), x, y-2.6, x, y+2.6)
				}
			}
		}
		switch {
		case at > c.Max.X:
			sideArrow(c, vg.Point{X: c.Max.X, Y: y}, -1, colour)
		case at < c.Min.X:
			sideArrow(c, vg.Point{X: c.Min.X, Y: y}, 1, colour)
		default:
			c.DrawGlyph(draw.GlyphStyle{Color: colour, Radius: 3, Shape: draw.CircleGlyph{}}, vg.Point{X: at, Y: y})
		}
	}
}

func sideArrow(c draw.Canvas, tip vg.Point, dir vg.Length, colour Colour) {
	c.FillPolygon(colour, []vg.Point{tip, {X: tip.X + dir*5, Y: tip.Y + 2.8}, {X: tip.X + dir*5, Y: tip.Y - 2.8}})
}
