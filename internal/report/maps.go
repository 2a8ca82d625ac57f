package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Maps is a figure of pixel images in rows, each beside its colour bar.
type Maps struct {
	Maps    []Map
	Columns int    // chosen if zero
	Label   string // of the colours, with their unit
	Shared  bool   // one scale of colours for all
	Log     bool   // colours by the logarithm
	Plain   bool   // without axes and colour bars: examples of images

	// Side is that of a pixel in Unit, where places count from the top left corner.
	Side float64
	Unit string

	narrow bool
}

// A Map is an image of Width pixels per row, the first row at the bottom. Pixels
// are one unit wide and the middle of the image is the origin.
type Map struct {
	Title  string
	Width  int
	Values []float64
	Marks  [][2]float64 // points of interest, x and y
}

// Narrow implements Narrower.
func (m Maps) Narrow() Figure {
	m.narrow = true
	return m
}

func (m Map) height() int {
	if m.Width <= 0 || len(m.Values)%m.Width != 0 {
		panic("report: a map whose values do not fill its rows")
	}
	return max(1, len(m.Values)/m.Width)
}

// A mapsLayout is where everything goes.
type mapsLayout struct {
	width, height vg.Length
	left, top     vg.Length // margins
	cell          vg.Length // side of an image
	stepX, stepY  vg.Length
	cols          int
}

func (m Maps) columns() int {
	n := max(1, len(m.Maps))
	cols := m.Columns
	switch {
	case m.Plain && m.narrow:
		cols = 4
	case m.narrow:
		cols = 1
	case cols <= 0 && m.Plain:
		cols = 6
	case cols <= 0:
		cols = 3
	}
	return min(cols, n)
}

func (m Maps) layout() mapsLayout {
	l := mapsLayout{width: wideFigure, cols: m.columns()}
	if m.narrow {
		l.width = narrowFigure
	}
	// The first column shows the y axis; bars stand beside every map, or at the
	// end where all have the same.
	bar := vg.Length(barRoom)
	end := vg.Length(0)
	bottom := vg.Length(28)
	gap := vg.Length(12)
	l.left, l.top = 34, 20
	switch {
	case m.Plain:
		bar = 0
		bottom = 8
		gap = 8
		l.left = 0
		l.top = 0
		for _, x := range m.Maps {
			if x.Title != "" {
				l.top = 18
			}
		}
	case m.Shared:
		bar = 0
		end = barRoom
		gap = 18
	}
	cols := vg.Length(l.cols)
	l.cell = (l.width-2*edge-l.left-end-gap*(cols-1))/cols - bar
	if most := 5.4 * vg.Centimeter; !m.Plain {
		l.cell = min(l.cell, most)
	}
	tallest := 0.0
	for _, x := range m.Maps {
		tallest = max(tallest, float64(x.height())/float64(x.Width))
	}
	if tallest == 0 {
		tallest = 1
	}
	l.stepX = l.cell + bar + gap
	l.stepY = l.top + l.cell*vg.Length(tallest) + bottom
	l.width = 2*edge + l.left + l.stepX*cols - gap + end
	rows := (max(1, len(m.Maps)) + l.cols - 1) / l.cols
	l.height = 2*edge + l.stepY*vg.Length(rows)
	if m.shownLabel() != "" {
		l.height += keyHeight
	}
	return l
}

const barRoom = 44 // of a colour bar with its numbers

func (m Maps) shownLabel() string {
	if m.Plain {
		return ""
	}
	return m.Label
}

// Size implements Figure.
func (m Maps) Size() (width, height vg.Length) {
	l := m.layout()
	return l.width, l.height
}

// Draw implements Figure.
func (m Maps) Draw(c draw.Canvas) error {
	l := m.layout()
	top := l.height - edge
	if s := m.shownLabel(); s != "" {
		style := textStyle(labelSize, ink)
		style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
		c.FillText(style, vg.Point{X: l.width / 2, Y: top - keyHeight/2}, shorten(s, style, l.width-2*edge))
		top -= keyHeight
	}
	all := newSpan()
	for _, x := range m.Maps {
		m.include(&all, x)
	}
	for i, x := range m.Maps {
		s := all
		if !m.Shared {
			s = newSpan()
			m.include(&s, x)
		}
		x0 := edge + l.left + l.stepX*vg.Length(i%l.cols)
		y1 := top - l.top - l.stepY*vg.Length(i/l.cols)
		area := vg.Rectangle{Min: vg.Point{X: x0, Y: y1 - l.cell*vg.Length(float64(x.height())/float64(x.Width))}, Max: vg.Point{X: x0 + l.cell, Y: y1}}
		last := i%l.cols == l.cols-1 || i == len(m.Maps)-1
		m.one(c, x, area, s.pad(0), i%l.cols == 0, last || !m.Shared)
	}
	return nil
}

func (m Maps) axis() Axis {
	if m.Log {
		return Axis{Scale: Log10}
	}
	return Axis{}
}

func (m Maps) include(s *span, x Map) {
	for _, v := range x.Values {
		s.include(m.axis().at(v))
	}
}

// one draws a map with its axes and its colour bar.
func (m Maps) one(c draw.Canvas, x Map, area vg.Rectangle, colours span, first, bar bool) {
	p := newPlot(shorten(x.Title, textStyle(titleSize, ink), area.Size().X+barRoom/2), "x (px)", "y (px)")
	p.Add(pixels{x, m.axis(), colours})
	if len(x.Values) == 0 {
		p.Add(emptyMark{})
	}
	w, h := float64(x.Width)/2, float64(x.height())/2
	p.X.Min = -w
	p.X.Max = w
	p.Y.Min = -h
	p.Y.Max = h
	p.X.Tick.Marker = ticks{most: 4.5}
	p.Y.Tick.Marker = ticks{most: 4.5}
	if m.Side > 0 {
		p.X.Label.Text = "x (" + m.Unit + ")"
		p.Y.Label.Text = "y (" + m.Unit + ")"
		p.X.Tick.Marker = placed{w * m.Side, m.Side}
		p.Y.Tick.Marker = placed{h * m.Side, -m.Side}
	}
	if !first {
		p.Y.Label.Text, p.Y.Tick.Marker = "", unnumbered{p.Y.Tick.Marker}
	}
	if m.Plain {
		p.X.Label.Text, p.Y.Label.Text = "", ""
		p.HideAxes()
	}
	place(p, c, area)
	if m.Plain || !bar {
		return
	}
	beside := vg.Rectangle{Min: vg.Point{X: area.Max.X + 7, Y: area.Min.Y}, Max: vg.Point{X: area.Max.X + 14, Y: area.Max.Y}}
	colourBar(c, beside, colours, m.axis())
}

// pixels draws a map's values.
type pixels struct {
	Map
	axis    Axis
	colours span
}

// Plot implements plot.Plotter.
func (m pixels) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	w, h := float64(m.Width)/2, float64(m.height())/2
	const over = 0.25 // neighbours overlap: no seams
	for i, v := range m.Values {
		x, y := float64(i%m.Width)-w, float64(i/m.Width)-h
		l := tx(x)
		r := min(tx(x+1)+over, c.Max.X)
		b := ty(y)
		t := min(ty(y+1)+over, c.Max.Y)
		share := (m.axis.at(v) - m.colours.lo) / (m.colours.hi - m.colours.lo)
		c.FillPolygon(heat(share), []vg.Point{{X: l, Y: b}, {X: r, Y: b}, {X: r, Y: t}, {X: l, Y: t}})
	}
	for _, k := range m.Marks {
		at := vg.Point{X: tx(k[0]), Y: ty(k[1])}
		if finite(at) && c.Contains(at) {
			c.DrawGlyph(draw.GlyphStyle{Color: white, Radius: 3.2, Shape: draw.CircleGlyph{}}, at)
			c.DrawGlyph(draw.GlyphStyle{Color: vermilion, Radius: 2.2, Shape: draw.CircleGlyph{}}, at)
		}
	}
}

// colourBar draws the scale of colours with numbers on its right.
func colourBar(c draw.Canvas, bar vg.Rectangle, s span, a Axis) {
	const steps = 64
	h := bar.Size().Y / steps
	for k := range steps {
		y := bar.Min.Y + h*vg.Length(k)
		top := min(y+h+0.25, bar.Max.Y)
		c.FillPolygon(heat((float64(k)+0.5)/steps), []vg.Point{{X: bar.Min.X, Y: y}, {X: bar.Max.X, Y: y}, {X: bar.Max.X, Y: top}, {X: bar.Min.X, Y: top}})
	}
	style := textStyle(tickSize, ink)
	style.YAlign = draw.YCenter
	marks := a.ticker(s, bar.Size().Y, func(string) vg.Length { return tickSize + 6 })
	for _, k := range marks.Ticks(s.lo, s.hi) {
		y := bar.Min.Y + bar.Size().Y*vg.Length((k.Value-s.lo)/(s.hi-s.lo))
		if math.IsNaN(float64(y)) || k.Label == "" {
			continue
		}
		c.StrokeLine2(stroke(ink, 0.6), bar.Max.X, y, bar.Max.X+2.5, y)
		c.FillText(style, vg.Point{X: bar.Max.X + 4.5, Y: y}, k.Label)
	}
}
