package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A traceMark is a trace on its axes.
type traceMark struct {
	Trace
	x, y  Axis
	shape draw.GlyphDrawer
	aside vg.Length // shift of marks that would cover those of other traces
	alpha float64   // of the band
}

// glyph gives each of some traces another shape. Where Series begins again, the shapes are shifted:
// 36 traces differ in colour or shape.
func glyph(i int) draw.GlyphDrawer {
	return [...]draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{}, draw.CrossGlyph{}, draw.PlusGlyph{}}[(i+i/6)%6]
}

// place is which shape the trace has: the one of its number, else that of the k-th of a chart.
func (t Trace) place(k int) int {
	if t.Number > 0 {
		return t.Number - 1
	}
	return k
}

const markRadius = 2.6

// Plot implements plot.Plotter.
func (t traceMark) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	at := func(i int, y float64) vg.Point {
		pt := vg.Point{X: tx(t.x.at(t.X[i])), Y: ty(t.y.floor(y, p.Y.Min))}
		return vg.Point{X: within(pt.X), Y: within(pt.Y)}
	}
	if t.Lo != nil && t.Style != Marks {
		t.band(c, at)
	}
	points := make([]vg.Point, len(t.X))
	for i := range points {
		points[i] = vg.Point{X: within(tx(t.x.at(t.X[i]))), Y: within(ty(t.y.at(t.Y[i])))}
	}
	switch t.Style {
	case Line, Dashed, LineMarks:
		t.lines(c, points)
	case Dots:
		drawDots(c, points, t.Colour)
	case Bars:
		t.bars(c, p, points)
	}
	t.errorBars(c, points, at)
	if t.marked() {
		t.marks(c, points)
	}
}

// band fills what lies between Lo and Hi, wherever both are finite.
func (t traceMark) band(c draw.Canvas, at func(int, float64) vg.Point) {
	known := func(i int) bool { return finite(at(i, t.Lo[i])) && finite(at(i, t.Hi[i])) }
	runs(len(t.X), known, func(from, to int) {
		var ring []vg.Point
		for i := from; i < to; i++ {
			ring = append(ring, at(i, t.Hi[i]))
		}
		for i := to - 1; i >= from; i-- {
			ring = append(ring, at(i, t.Lo[i]))
		}
		c.FillPolygon(fade(t.Colour, t.alpha), c.ClipPolygonXY(ring))
	})
}

// lines joins the points, with gaps where one is not finite.
func (t traceMark) lines(c draw.Canvas, points []vg.Point) {
	runs(len(points), func(i int) bool { return finite(points[i]) }, func(from, to int) {
		c.StrokeLines(t.stroke(), c.ClipLinesXY(points[from:to])...)
		if to == from+1 && t.Style != LineMarks && c.Contains(points[from]) { // a single epoch is seen too
			c.DrawGlyph(draw.GlyphStyle{Color: t.Colour, Radius: 1.4, Shape: draw.CircleGlyph{}}, points[from])
		}
	})
}

// bars draws a bar from 0 to each point.
func (t traceMark) bars(c draw.Canvas, p *plot.Plot, points []vg.Point) {
	tx, ty := p.Transforms(&c)
	half := barWidth(t.X) / 2
	base := ty(t.y.floor(0, p.Y.Min))
	for i := range points {
		l, r := tx(t.x.at(t.X[i]-half)), tx(t.x.at(t.X[i]+half))
		if finite(points[i]) && finite(vg.Point{X: l, Y: r}) && finite(vg.Point{Y: base}) {
			ring := []vg.Point{{X: l + 0.4, Y: base}, {X: r - 0.4, Y: base}, {X: r - 0.4, Y: points[i].Y}, {X: l + 0.4, Y: points[i].Y}}
			c.FillPolygon(fade(t.Colour, 0.55), c.ClipPolygonXY(ring))
		}
	}
}

func (t traceMark) errorBars(c draw.Canvas, points []vg.Point, at func(int, float64) vg.Point) {
	width, capped := vg.Length(1), vg.Length(2.4)
	colour := t.Colour
	if t.Style == Dots { // many: quiet
		width = 0.5
		capped = 0
		colour = fade(t.Colour, 0.3)
	}
	for i := range points {
		var lo, hi vg.Point
		switch {
		case !finite(points[i]):
			continue
		case t.SD != nil && t.SD[i] > 0:
			lo, hi = at(i, t.Y[i]-t.SD[i]), at(i, t.Y[i]+t.SD[i])
		case t.Lo != nil && t.Style == Marks && t.Hi[i] > t.Lo[i]:
			lo, hi = at(i, t.Lo[i]), at(i, t.Hi[i])
		default:
			continue
		}
		lo.X, hi.X = lo.X+t.aside, hi.X+t.aside
		if !finite(lo) || !finite(hi) {
			continue
		}
		c.StrokeLines(stroke(colour, width), c.ClipLinesXY([]vg.Point{lo, hi})...)
		for _, end := range []vg.Point{lo, hi} {
			if capped > 0 && c.Contains(end) && end.Y > c.Min.Y {
				c.StrokeLine2(stroke(colour, width), end.X-capped, end.Y, end.X+capped, end.Y)
			}
		}
	}
}

// marks draws the glyphs; a value above or below the axes is an arrow there.
func (t traceMark) marks(c draw.Canvas, points []vg.Point) {
	for _, p := range points {
		p.X += t.aside
		if !finite(p) || p.X < c.Min.X-4 || p.X > c.Max.X+4 {
			continue
		}
		switch {
		case p.Y > c.Max.Y+0.5:
			arrow(c, vg.Point{X: p.X, Y: c.Max.Y}, -1, t.Colour)
		case p.Y < c.Min.Y-0.5:
			arrow(c, vg.Point{X: p.X, Y: c.Min.Y}, 1, t.Colour)
		default:
			c.DrawGlyph(draw.GlyphStyle{Color: t.Colour, Radius: markRadius, Shape: t.shape}, p)
		}
	}
}

func arrow(c draw.Canvas, tip vg.Point, dir vg.Length, colour Colour) {
	c.FillPolygon(colour, []vg.Point{tip, {X: tip.X - 2.6, Y: tip.Y + dir*5}, {X: tip.X + 2.6, Y: tip.Y + dir*5}})
}

func (t Trace) stroke() draw.LineStyle {
	switch t.Style {
	case Dashed:
		return stroke(t.Colour, 0.9, 4, 2)
	case LineMarks:
		return stroke(t.Colour, 1)
	}
	return stroke(t.Colour, 1.6)
}

const bandAlpha = 0.22

// drawDots draws many dots in a few paths: small files, and where dots of
// different paths meet the colour deepens.
func drawDots(c draw.Canvas, points []vg.Point, colour Colour) {
	const layers, radius = 8, 0.9
	c.SetColor(fade(colour, 0.4))
	for k := range layers {
		var path vg.Path
		for i := k; i < len(points); i += layers {
			if p := points[i]; finite(p) && c.Contains(p) {
				path.Move(vg.Point{X: p.X + radius, Y: p.Y})
				path.Arc(p, radius, 0, 2*math.Pi)
				path.Close()
			}
		}
		if len(path) > 0 {
			c.Fill(path)
		}
	}
}

// runs calls f for every stretch of consecutive good indices.
func runs(n int, good func(int) bool, f func(from, to int)) {
	from := 0
	for i := 0; i <= n; i++ {
		if i == n || !good(i) {
			if i > from {
				f(from, i)
			}
			from = i + 1
		}
	}
}

// within keeps a place near the canvas: what is far outside is clipped anyway,
// and clipping must not overflow.
func within(x vg.Length) vg.Length { return min(max(x, -1e5), 1e5) }

func finite(p vg.Point) bool { return !math.IsNaN(float64(p.X + p.Y)) }

// barWidth is the smallest distance of neighbours.
func barWidth(x []float64) float64 {
	width := math.Inf(1)
	for i := 1; i < len(x); i++ {
		if d := math.Abs(x[i] - x[i-1]); d > 0 {
			width = min(width, d)
		}
	}
	if math.IsInf(width, 1) {
		return 1
	}
	return width
}

// diamond is a square on its tip.
type diamond struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, p vg.Point) {
	r := 1.25 * s.Radius
	c.FillPolygon(s.Color, []vg.Point{{X: p.X - r, Y: p.Y}, {X: p.X, Y: p.Y + r}, {X: p.X + r, Y: p.Y}, {X: p.X, Y: p.Y - r}})
}

// A levelMark is a level on its axis.
type levelMark struct {
	Level
	y Axis
}

// Plot implements plot.Plotter.
func (l levelMark) Plot(c draw.Canvas, p *plot.Plot) {
	_, ty := p.Transforms(&c)
	at := func(v float64) vg.Length { return within(ty(l.y.floor(v, p.Y.Min))) }
	lo := at(l.Y - l.SD)
	hi := at(l.Y + l.SD)
	mid := within(ty(l.y.at(l.Y)))
	if finite(vg.Point{X: lo, Y: hi}) && l.SD > 0 {
		c.FillPolygon(fade(l.Colour, bandAlpha), c.ClipPolygonXY([]vg.Point{{X: c.Min.X, Y: lo}, {X: c.Max.X, Y: lo}, {X: c.Max.X, Y: hi}, {X: c.Min.X, Y: hi}}))
	}
	if finite(vg.Point{Y: mid}) {
		c.StrokeLines(l.stroke(), c.ClipLinesXY([]vg.Point{{X: c.Min.X, Y: mid}, {X: c.Max.X, Y: mid}})...)
	}
}

func (l Level) stroke() draw.LineStyle {
	if l.Dashed {
		return stroke(l.Colour, 0.9, 4, 2)
	}
	return stroke(l.Colour, 1.4)
}

// A shadeMark is a shade on its axis.
type shadeMark struct {
	Shade
	x     Axis
	shown span
}

// Plot implements plot.Plotter.
func (s shadeMark) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	a, b := s.x.at(s.From), s.x.at(s.To)
	lo, hi := max(a, s.shown.lo), min(b, s.shown.hi)
	if !(lo < hi) {
		return
	}
	l, r := tx(lo), tx(hi)
	c.FillPolygon(outside, []vg.Point{{X: l, Y: c.Min.Y}, {X: r, Y: c.Min.Y}, {X: r, Y: c.Max.Y}, {X: l, Y: c.Max.Y}})
	for _, at := range []float64{a, b} {
		if at > s.shown.lo && at < s.shown.hi {
			c.StrokeLine2(stroke(grey, 0.6, 3, 2), tx(at), c.Min.Y, tx(at), c.Max.Y)
		}
	}
}
