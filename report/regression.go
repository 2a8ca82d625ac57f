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

func (Regression) Size() (width, height vg.Length) { return 17 * vg.Centimeter, 14.5 * vg.Centimeter }

// Draw implements Figure.
func (r Regression) Draw(c draw.Canvas) error {
	w, h := r.Size()
	const left, bottom, top, right, gapX, gapY = 44, 36, 48, 14, 58, 58
	cw, ch := (w-left-right-gapX)/2, (h-bottom-top-gapY)/2
	cell := func(i int) vg.Rectangle {
		at := vg.Point{X: left + vg.Length(i%2)*(cw+gapX), Y: bottom + vg.Length(1-i/2)*(ch+gapY)}
		return vg.Rectangle{Min: at, Max: at.Add(vg.Point{X: cw, Y: ch})}
	}
	lo, hi := r.yRange()
	for i, p := range r.Panels[:min(3, len(r.Panels))] {
		place(r.panel(p, lo, hi), c, cell(i))
	}
	place(r.scores(), c, cell(3))
	keyRow(c, left, w-right, h-12,
		keyEntry{"data", keyDot(dataColour, 1.6)},
		keyEntry{"mean", keyLine(stroke(ink, 1.8))},
		keyEntry{"predicted ±σ", keyFill(fade(ink, 0.3))},
		keyEntry{"true ±σ", keyLine(truthStyle)},
		keyEntry{"out of distribution", keyFill(outside)})
	return nil
}

var (
	dataColour = fade(ink, 0.35)
	outside    = fade(grey, 0.12)
	truthStyle = stroke(ink, 0.9, 4, 2)
)

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

func (r Regression) panel(m RegressionPanel, lo, hi float64) *plot.Plot {
	p := newPlot(m.Title, "x", "y")
	first, last := r.X[0], r.X[len(r.X)-1]
	for _, side := range [][]float64{{first, -r.Border}, {r.Border, last}} {
		p.Add(band(side, []float64{lo, lo}, []float64{hi, hi}, outside))
	}
	for _, x := range []float64{-r.Border, r.Border} {
		p.Add(line([]float64{x, x}, []float64{lo, hi}, stroke(grey, 0.6, 3, 2)))
	}
	offset := func(sign float64, sd []float64) []float64 {
		y := make([]float64, len(sd))
		for i := range y {
			y[i] = m.Mean[i] + sign*sd[i]
		}
		return y
	}
	data := dots(r.DataX, r.DataY, dataColour, 0.9)
	predicted := band(r.X, clamp(offset(-1, m.SD), lo, hi), clamp(offset(1, m.SD), lo, hi), fade(m.Colour, 0.35))
	mean := line(r.X, m.Mean, stroke(m.Colour, 1.8))
	below, above := line(r.X, offset(-1, m.Truth), truthStyle), line(r.X, offset(1, m.Truth), truthStyle)
	p.Add(data, predicted, below, above, mean)
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
	lo, hi = max(lo, 1e-4)*0.8, hi*1.2
	if !(lo < hi) {
		lo, hi = 1e-4, 1
	}
	log := func(y []float64) []float64 {
		y = clamp(y, lo, hi)
		for i := range y {
			y[i] = math.Log10(y[i])
		}
		return y
	}
	for _, c := range r.Curves {
		p.Add(band(c.X, log(c.Lo), log(c.Hi), fade(c.Colour, 0.18)))
	}
	for _, c := range r.Curves {
		l := line(c.X, log(c.Mean), stroke(c.Colour, 1.6))
		p.Add(l)
		p.Legend.Add(c.Name, l)
	}
	p.Legend.Top = true
	p.Y.Tick.Marker = decades{}
	p.Y.Min, p.Y.Max = math.Log10(lo), math.Log10(hi)
	p.X.Min = 0
	return p
}
