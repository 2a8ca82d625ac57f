package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Regression compares methods on one-dimensional data: panels of predictions,
// and one of how the scores fell if there are Curves.
type Regression struct {
	X            []float64 // of the predictions, ascending
	Border       float64   // the data lie within ±Border
	DataX, DataY []float64
	Panels       []RegressionPanel
	Curves       []Curve
	CurveLabel   string
}

// A RegressionPanel is one method's prediction at X.
type RegressionPanel struct {
	Title           string
	Colour          Colour
	Mean, SD, Truth []float64 // Truth is the uncertainty that SD should have
}

// A Curve is a positive score over epochs, with its range.
type Curve struct {
	Name         string
	Colour       Colour
	X            []float64
	Mean, Lo, Hi []float64
}

// Size implements Figure.
func (r Regression) Size() (width, height vg.Length) { return r.grid().Size() }

// Draw implements Figure.
func (r Regression) Draw(c draw.Canvas) error { return r.grid().Draw(c) }

// Narrow implements Narrower.
func (r Regression) Narrow() Figure { return r.grid().Narrow() }

var (
	outside    = fade(grey, 0.12)
	truthStyle = stroke(ink, 0.9, 4, 2)
)

// grid lays the panels out: two by two with the scores, else in a row.
func (r Regression) grid() Grid {
	g := Grid{key: []keyEntry{
		{"data", keyDot(fade(ink, 0.4), 1.6)},
		{"mean", keyLine(stroke(ink, 1.8))},
		{"predicted ±σ", keyFill(fade(ink, 0.3))},
		{"true ±σ", keyLine(truthStyle)},
		{"out of distribution", keyFill(outside)},
	}}
	y := r.yRange()
	for _, p := range r.Panels {
		g.Charts = append(g.Charts, r.panel(p, y))
	}
	if len(r.Curves) > 0 {
		g.Charts = append(g.Charts, r.scores(len(g.Charts)))
		for _, c := range r.Curves {
			g.key = append(g.key, keyEntry{c.Name, keyLine(stroke(c.Colour, 1.8))})
		}
	}
	return g
}

// yRange shows all data and the predictions where there are data; elsewhere
// they may leave the panel.
func (r Regression) yRange() span {
	y, reach := newSpan(), 0.0
	for _, v := range r.DataY {
		y.include(v)
	}
	for _, p := range r.Panels {
		sameLength(r.X, p.Mean, p.SD, p.Truth)
		for i := range p.Mean {
			y.include(Axis{}.at(p.Mean[i] - 1.1*p.SD[i]))
			y.include(Axis{}.at(p.Mean[i] + 1.1*p.SD[i]))
			reach = max(reach, math.Abs(r.X[i]))
		}
	}
	if reach > 0 {
		y = span{max(y.lo, -2.2*reach), min(y.hi, 2.2*reach)}
	}
	return y.pad(0)
}

func (r Regression) panel(m RegressionPanel, y span) Chart {
	offset := func(sign float64, sd []float64) []float64 {
		out := make([]float64, len(sd))
		for i := range out {
			out[i] = m.Mean[i] + sign*sd[i]
		}
		return out
	}
	c := Chart{Title: m.Title, X: Axis{Label: "x"}, Y: Axis{Label: "y", Min: y.lo, Max: y.hi}}
	if n := len(r.X); n > 0 {
		c.X.Min, c.X.Max = r.X[0], r.X[n-1]
		c.Shades = []Shade{{From: r.X[0], To: -r.Border}, {From: r.Border, To: r.X[n-1]}}
	}
	c.Traces = []Trace{
		{Colour: ink, Style: Dots, X: r.DataX, Y: r.DataY},
		{Colour: m.Colour, X: r.X, Y: m.Mean, Lo: offset(-1, m.SD), Hi: offset(1, m.SD)},
		{Colour: ink, Style: Dashed, X: r.X, Y: offset(-1, m.Truth)},
		{Colour: ink, Style: Dashed, X: r.X, Y: offset(1, m.Truth)},
	}
	return c
}

// scores is the panel of the curves, on a logarithmic axis.
func (r Regression) scores(at int) Chart {
	c := Chart{Title: fmt.Sprintf("(%c)  validation score", 'a'+at), X: Axis{Label: "epoch", Whole: true}, Y: Axis{Label: r.CurveLabel, Scale: Log10}}
	for _, k := range r.Curves {
		c.Traces = append(c.Traces, Trace{Name: k.Name, Colour: k.Colour, X: k.X, Y: k.Mean, Lo: k.Lo, Hi: k.Hi})
	}
	_, y := c.extent()
	if hi := math.Pow(10, y.hi) * 1.2; hi > 1e-4 && !y.empty() {
		c.Y.Min, c.Y.Max = max(math.Pow(10, y.lo)*0.8, min(1e-4, hi/10)), hi
	}
	return c
}
