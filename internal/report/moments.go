package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"utvi/internal/quad"
	"utvi/internal/special"
	"utvi/moment"
	"utvi/rng"
)

// Moments shows one Gaussian pushed through one function: the function with the
// rule's points on it, the input's density below, and beside it the output's
// true density and the Normal that the rule makes of it.
type Moments struct {
	F                   *moment.Func
	Rule                moment.Rule
	Mean, Var           float64 // of the input
	Key                 rng.Key // of a rule that draws
	OutMean, OutVar     float64 // by the rule
	ExactMean, ExactVar float64
}

func (Moments) Size() (width, height vg.Length) { return 16 * vg.Centimeter, 12 * vg.Centimeter }

// Draw implements Figure.
func (m Moments) Draw(c draw.Canvas) error {
	w, h := m.Size()
	// Data areas: the function, the input density below it, the output right.
	const left, bottom, gap = 52, 38, 14
	x1, y1 := w*0.635, bottom+h*0.21
	top, right := h-26, w-14
	rect := func(x0, y0, x1, y1 vg.Length) vg.Rectangle {
		return vg.Rectangle{Min: vg.Point{X: x0, Y: y0}, Max: vg.Point{X: x1, Y: y1}}
	}
	v := m.view()
	place(m.curve(v), c, rect(left, y1+gap, x1, top))
	place(m.input(v), c, rect(left, bottom, x1, y1))
	place(m.output(v), c, rect(x1+gap, y1+gap, right, top))
	m.legend(c, rect(x1+gap, bottom-16, right, y1-22))
	return nil
}

// A momentsView is what the panels share.
type momentsView struct {
	sd, outSD      float64
	xlo, xhi       float64
	ylo, yhi       float64
	points, weight []float64
}

func (m Moments) view() momentsView {
	v := momentsView{sd: math.Sqrt(m.Var), outSD: math.Sqrt(m.OutVar)}
	v.points, v.weight = moment.PointsAt(m.Rule, m.Mean, m.Var, m.Key)
	reach := 3.5 * v.sd
	if reach == 0 {
		reach = 1
	}
	v.xlo, v.xhi = m.Mean-reach, m.Mean+reach
	for _, x := range v.points {
		v.xlo, v.xhi = min(v.xlo, x-0.1*reach), max(v.xhi, x+0.1*reach)
	}
	v.ylo, v.yhi = m.OutMean-2.5*v.outSD, m.OutMean+2.5*v.outSD
	for _, x := range linspace(m.Mean-0.9*reach, m.Mean+0.9*reach, 401) {
		v.include(m.F.F(x))
	}
	for _, x := range v.points {
		v.include(m.F.F(x))
	}
	pad := 0.05 * (v.yhi - v.ylo)
	if pad == 0 {
		pad = 1
	}
	v.ylo, v.yhi = v.ylo-pad, v.yhi+pad
	return v
}

func (v *momentsView) include(y float64) {
	if math.Abs(y) < 1e305 { // spans must not overflow
		v.ylo, v.yhi = min(v.ylo, y), max(v.yhi, y)
	}
}

// within is y, or where y leaves the panel far behind, just outside it: the axes
// clip lines, but cannot those that end at infinity.
func (v *momentsView) within(y float64) float64 {
	span := v.yhi - v.ylo
	return min(max(y, v.ylo-span), v.yhi+span)
}

// curve is the panel of the function.
func (m Moments) curve(v momentsView) *plot.Plot {
	p := newPlot(fmt.Sprintf("%s of %s by %v", m.F.Name, minus(fmt.Sprintf("N(%.4g, %.4g)", m.Mean, m.Var)), m.Rule), "", "y = f(x)")
	p.X.Tick.Marker = unnumbered{ticks{}}
	x := linspace(v.xlo, v.xhi, 1201)
	x = slices.Sorted(slices.Values(append(x, m.F.Kinks...)))
	x = slices.DeleteFunc(x, func(x float64) bool { return x < v.xlo || x > v.xhi })
	y := make([]float64, len(x))
	for i := range x {
		y[i] = v.within(m.F.F(x[i]))
	}
	if len(v.points) <= 12 {
		for _, x := range v.points {
			y := v.within(m.F.F(x))
			p.Add(line([]float64{x, x, v.xhi}, []float64{v.ylo, y, y}, stroke(fade(vermilion, 0.7), 0.6, 2, 2)))
		}
	}
	p.Add(line(x, y, stroke(ink, 1.6)))
	p.Add(weighted{v.points, v.weight, m.F.F})
	// After Add, which widens the axes to all it is given.
	p.X.Min = v.xlo
	p.X.Max = v.xhi
	p.Y.Min = v.ylo
	p.Y.Max = v.yhi
	return p
}

// input is the panel of the input's density.
func (m Moments) input(v momentsView) *plot.Plot {
	p := newPlot("", "input x", "density")
	p.X.Min = v.xlo
	p.X.Max = v.xhi
	p.Y.Min = 0
	p.Y.Tick.Marker = plot.ConstantTicks{}
	p.Y.LineStyle.Width = 0
	if v.sd == 0 {
		p.Y.Max = 1
		p.Add(line([]float64{m.Mean, m.Mean}, []float64{0, 0.95}, stroke(blue, 2)))
		return p
	}
	x := linspace(v.xlo, v.xhi, 401)
	y := make([]float64, len(x))
	for i := range x {
		y[i] = normalPDF(x[i], m.Mean, v.sd)
	}
	p.Y.Max = 1.08 * normalPDF(m.Mean, m.Mean, v.sd)
	if len(v.points) <= 12 {
		for _, x := range v.points {
			p.Add(line([]float64{x, x}, []float64{0, p.Y.Max}, stroke(fade(vermilion, 0.7), 0.6, 2, 2)))
		}
	}
	p.Add(band(x, make([]float64, len(x)), y, fade(blue, 0.25)), line(x, y, stroke(blue, 1.2)))
	return p
}

// output is the panel of the output's densities, drawn along y.
func (m Moments) output(v momentsView) *plot.Plot {
	p := newPlot("output density", "", "")
	p.Y.Tick.Marker = unnumbered{ticks{}}
	p.X.Tick.Marker = plot.ConstantTicks{}
	p.X.LineStyle.Width = 0

	const bins = 600
	density := make([]float64, bins)
	var atoms []quad.Atom
	if v.sd > 0 {
		atoms = quad.Density(m.F, m.Mean, v.sd, v.ylo, v.yhi, density)
	} else {
		atoms = []quad.Atom{{At: m.F.F(m.Mean), Mass: 1}}
	}
	half := (v.yhi - v.ylo) / (2 * bins)
	y := linspace(v.ylo+half, v.yhi-half, bins)
	// A density may have poles; show what the Normal and the bulk need.
	limit := 1.08 * slices.Max(density)
	if v.outSD > 0 {
		peak := normalPDF(0, 0, v.outSD)
		limit = max(min(limit, 2.5*peak), 1.08*peak)
	}
	if limit == 0 {
		limit = 1
	}
	for i := range density {
		density[i] = min(density[i], limit)
	}
	p.Add(sideways(density, y), line(density, y, stroke(green, 1.2)))
	for _, a := range atoms {
		p.Add(line([]float64{0, 0.97 * limit}, []float64{a.At, a.At}, stroke(green, 2.4)))
		p.Add(note(limit*0.97, a.At, fmt.Sprintf("P = %.3g", a.Mass), m.OutMean > a.At))
	}
	if v.outSD > 0 {
		normal := make([]float64, bins)
		for i := range y {
			normal[i] = normalPDF(y[i], m.OutMean, v.outSD)
		}
		p.Add(line(normal, y, stroke(vermilion, 1.4)))
	}
	p.Add(line([]float64{0, limit}, []float64{m.ExactMean, m.ExactMean}, stroke(green, 0.8)))
	p.Add(line([]float64{0, limit}, []float64{m.OutMean, m.OutMean}, stroke(vermilion, 0.9, 4, 2)))
	p.X.Min = 0
	p.X.Max = limit
	p.Y.Min = v.ylo
	p.Y.Max = v.yhi
	return p
}

// sideways fills between the y axis and a curve x(y).
func sideways(x, y []float64) *plotter.Polygon {
	ring := append(plotter.XYs{{X: 0, Y: y[0]}}, pairs(x, y)...)
	ring = append(ring, plotter.XY{X: 0, Y: y[len(y)-1]})
	return &plotter.Polygon{XYs: []plotter.XYs{ring}, Color: fade(green, 0.25)}
}

// note writes a short text that ends at x, below or above y.
func note(x, y float64, s string, below bool) *plotter.Labels {
	style := textStyle(tickSize, ink)
	style.XAlign = draw.XRight
	offset := vg.Point{Y: 3}
	if below {
		style.YAlign, offset.Y = draw.YTop, -3
	}
	return &plotter.Labels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{s},
		TextStyle: []draw.TextStyle{style}, Offset: offset}
}

// legend explains the colours and gives the numbers.
func (m Moments) legend(c draw.Canvas, area vg.Rectangle) {
	style := textStyle(tickSize, ink)
	style.YAlign = draw.YCenter
	x, y := area.Min.X, area.Max.Y
	for _, r := range []struct {
		name           string
		style          draw.LineStyle
		mean, variance float64
	}{
		{"input", stroke(blue, 1.6), m.Mean, m.Var},
		{"exact", stroke(green, 1.6), m.ExactMean, m.ExactVar},
		{"rule", stroke(vermilion, 1.6), m.OutMean, m.OutVar},
	} {
		if math.Abs(r.mean) < 1e-12*math.Sqrt(r.variance) {
			r.mean = 0 // rounding
		}
		drawKey(c, x, y, keyEntry{r.name, keyLine(r.style)})
		c.FillText(style, vg.Point{X: x + 48, Y: y}, minus(fmt.Sprintf("μ %.4g", r.mean)))
		c.FillText(style, vg.Point{X: x + 99, Y: y}, minus(fmt.Sprintf("σ² %.4g", r.variance)))
		y -= 15
	}
	if n := m.Rule.Nodes(); len(n.Xi) > 1 || n.Samples > 1 {
		drawKey(c, x, y, keyEntry{"points, area by weight", keyDot(vermilion, 3)})
	}
}

// weighted marks points on a curve, the area by the weight; a point without
// weight is hollow.
type weighted struct {
	x, w []float64
	f    func(float64) float64
}

func (g weighted) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for i, x := range g.x {
		at := vg.Point{X: tx(x), Y: ty(g.f(x))}
		if !c.Contains(at) {
			continue
		}
		r := vg.Length(max(1.6, 6*math.Sqrt(math.Abs(g.w[i]))))
		if g.w[i] == 0 {
			c.DrawGlyph(draw.GlyphStyle{Color: vermilion, Radius: 3, Shape: draw.RingGlyph{}}, at)
			continue
		}
		c.DrawGlyph(draw.GlyphStyle{Color: fade(vermilion, 0.85), Radius: r, Shape: draw.CircleGlyph{}}, at)
	}
}

func normalPDF(x, mean, sd float64) float64 { return special.PDF((x-mean)/sd) / sd }
