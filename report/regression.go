package report

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Regression compares methods on one-dimensional data: up to three panels of
// predictions, and one of how the scores fell.
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

func (Regression) Size() (width, height vg.Length) { return 17 * vg.Centimeter, 14 * vg.Centimeter }

// Draw implements Figure.
func (r Regression) Draw(c draw.Canvas) error {
	w, h := r.Size()
	const left, bottom, top, right, gapX, gapY = 44, 36, 24, 12, 58, 62
	cw, ch := (w-left-right-gapX)/2, (h-bottom-top-gapY)/2
	cell := func(i int) vg.Rectangle {
		at := vg.Point{X: left + vg.Length(i%2)*(cw+gapX), Y: bottom + vg.Length(1-i/2)*(ch+gapY)}
		return vg.Rectangle{Min: at, Max: at.Add(vg.Point{X: cw, Y: ch})}
	}
	lo, hi := r.yRange()
	for i, p := range r.Panels[:min(3, len(r.Panels))] {
		place(r.panel(p, lo, hi, i == 0), c, cell(i))
	}
	place(r.scores(), c, cell(3))
	return nil
}

// yRange shows all data and the predictions where there are data; elsewhere
// they may leave the panel.
func (r Regression) yRange() (lo, hi float64) {
	lo, hi = slices.Min(r.DataY), slices.Max(r.DataY)
	for _, p := range r.Panels {
		for i := range r.X {
			lo, hi = min(lo, p.Mean[i]-1.1*p.SD[i]), max(hi, p.Mean[i]+1.1*p.SD[i])
		}
	}
	x := r.X[len(r.X)-1]
	return max(lo, -2.2*x), min(hi, 2.2*x)
}

func (r Regression) panel(m RegressionPanel, lo, hi float64, legend bool) *plot.Plot {
	p := newPlot(m.Title, "x", "y")
	first, last := r.X[0], r.X[len(r.X)-1]
	for _, side := range [][]float64{{first, -r.Border}, {r.Border, last}} {
		p.Add(band(side, []float64{lo, lo}, []float64{hi, hi}, fade(Grey, 0.10)))
	}
	for _, x := range []float64{-r.Border, r.Border} {
		p.Add(line([]float64{x, x}, []float64{lo, hi}, stroke(Grey, 0.6, 3, 2)))
	}
	offset := func(sign float64, sd []float64) []float64 {
		y := make([]float64, len(sd))
		for i := range y {
			y[i] = m.Mean[i] + sign*sd[i]
		}
		return y
	}
	data := dots(r.DataX, r.DataY, fade(Ink, 0.35), 0.9)
	predicted := band(r.X, clamp(offset(-1, m.SD), lo, hi), clamp(offset(1, m.SD), lo, hi), fade(m.Colour, 0.35))
	mean := line(r.X, m.Mean, stroke(m.Colour, 1.8))
	truth := stroke(Ink, 0.9, 4, 2)
	below, above := line(r.X, offset(-1, m.Truth), truth), line(r.X, offset(1, m.Truth), truth)
	p.Add(data, predicted, below, above, mean)
	if legend {
		p.Legend.Add("data", data)
		p.Legend.Add("mean", mean)
		p.Legend.Add("predicted ±σ", predicted)
		p.Legend.Add("true ±σ", above)
		p.Legend.Top, p.Legend.Left = true, true
		p.Legend.XOffs, p.Legend.YOffs = 4, -2
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = first, last, lo, hi
	return p
}

// scores is the panel of the curves, on a logarithmic axis.
func (r Regression) scores() *plot.Plot {
	p := newPlot("(d)  validation score", "epoch", r.CurveLabel)
	lo, hi := math.Inf(1), 0.0
	for _, c := range r.Curves {
		for i := range c.X {
			if c.Lo[i] > 0 {
				lo = min(lo, c.Lo[i])
			}
			hi = max(hi, c.Hi[i])
		}
	}
	lo, hi = math.Max(lo, 1e-4)*0.8, hi*1.2
	if !(lo < hi) {
		lo, hi = 1e-4, 1
	}
	for _, c := range r.Curves {
		p.Add(band(c.X, clamp(c.Lo, lo, hi), clamp(c.Hi, lo, hi), fade(c.Colour, 0.18)))
	}
	for _, c := range r.Curves {
		l := line(c.X, clamp(c.Mean, lo, hi), stroke(c.Colour, 1.6))
		p.Add(l)
		p.Legend.Add(c.Name, l)
	}
	p.Legend.Top = true
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker = decades{}
	p.Y.Min, p.Y.Max = lo, hi
	p.X.Min = 0
	return p
}
