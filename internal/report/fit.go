package report

import (
	"fmt"
	"math"
	"slices"
)

// PredictedActual shows predictions with error bars of ± sd against what was
// true. Of thousands of rows, some hundreds are shown.
func PredictedActual(actual, mean, sd []float64, target string) Chart {
	sameLength(actual, mean, sd)
	const most = 600
	step := (len(actual) + most - 1) / most
	t := Trace{Name: "prediction ± sd", Colour: blue, Style: Dots}
	for i := 0; i < len(actual); i += max(1, step) {
		t.X = append(t.X, actual[i])
		t.Y = append(t.Y, mean[i])
		t.SD = append(t.SD, sd[i])
	}
	if step > 1 {
		t.Name += fmt.Sprintf(" (%d of %d rows)", len(t.X), len(actual))
	}
	x, y := Axis{Label: "actual " + target}, Axis{Label: "predicted " + target}
	if skewed(actual, mean) {
		all := newSpan() // of the values: error bars may leave a logarithmic axis
		for i := range t.X {
			for _, v := range []float64{t.X[i], t.Y[i]} {
				if v > 0 {
					all.include(v)
				}
			}
		}
		x.Scale = Log10
		x.Min = all.lo / 1.5
		x.Max = all.hi * 1.5
		y.Scale = Log10
		y.Min = x.Min
		y.Max = x.Max
	}
	return Chart{Title: "predicted against actual", X: x, Y: y, Traces: []Trace{t}, Diagonal: true}
}

// skewed reports whether values need a logarithmic axis to be seen: nearly all are
// positive, and the larger ones dwarf the median.
func skewed(actual, mean []float64) bool {
	const fewest, dwarfs = 10, 20
	all := slices.Sorted(slices.Values(actual))
	n := len(all)
	if n < fewest || all[n/100] <= 0 || all[n-1-n/100] < dwarfs*all[n/2] {
		return false
	}
	below := 0
	for _, v := range mean {
		if !(v > 0) {
			below++
		}
	}
	return below <= n/50 // which a logarithmic axis leaves out
}

// PIT is the histogram of probability integral transforms F(y): flat where the
// predicted distributions are right. The band holds 95 % of the bars of as many
// uniform values.
func PIT(values []float64) Chart {
	n := 0
	for _, v := range values {
		if v >= 0 && v <= 1 {
			n++
		}
	}
	bins := min(20, max(4, n/10))
	x, y := make([]float64, bins), make([]float64, bins)
	for i := range x {
		x[i] = (float64(i) + 0.5) / float64(bins)
	}
	perBar := float64(max(n, 1)) / float64(bins)
	for _, v := range values {
		if v >= 0 && v <= 1 {
			y[min(int(v*float64(bins)), bins-1)] += 1 / perBar
		}
	}
	lo, hi := binomial95(n, 1/float64(bins))
	edges := []float64{0, 1}
	return Chart{Title: "probability integral transform", X: Axis{Label: "PIT value F(y)", Max: 1}, Y: Axis{Label: "density"},
		Traces: []Trace{
			{Name: "uniform, 95 %", Colour: grey, Style: Dashed, X: edges, Y: []float64{1, 1},
				Lo: []float64{lo / perBar, lo / perBar}, Hi: []float64{hi / perBar, hi / perBar}},
			{Name: fmt.Sprintf("%d rows", n), Colour: blue, Style: Bars, X: x, Y: y},
			{Colour: ink, Style: Dashed, X: edges, Y: []float64{1, 1}},
		}}
}

// Calibration shows how often intervals held what they promised: the observed
// coverage of central intervals against the nominal one. The band holds 95 % of
// what n independent rows would show if every promise were true.
func Calibration(nominal, observed []float64, n int) Chart {
	truth := Trace{Name: "95 % if calibrated", Colour: grey, Style: Dashed, X: linspace(0, 1, 101), Y: linspace(0, 1, 101)}
	for _, p := range truth.X {
		lo, hi := binomial95(n, p)
		truth.Lo, truth.Hi = append(truth.Lo, lo/float64(max(n, 1))), append(truth.Hi, hi/float64(max(n, 1)))
	}
	c := Chart{Title: "calibration", X: Axis{Label: "nominal coverage", Max: 1}, Y: Axis{Label: "observed coverage", Max: 1}, Diagonal: true}
	if n > 0 {
		c.Traces = append(c.Traces, truth)
	}
	c.Traces = append(c.Traces, Trace{Name: "observed coverage", Colour: vermilion, X: nominal, Y: observed})
	return c
}

// Reliability shows how often the classes that were given a probability came
// true, one mark per bin of count rows, with the binomial standard error at (k+½)/(n+1):
// at k/n one row, always right or always wrong, would seem to be sure.
func Reliability(probability, frequency []float64, count []int) Chart {
	if len(count) != len(frequency) {
		panic("report: slices of different lengths")
	}
	sd := make([]float64, len(frequency))
	for i, f := range frequency {
		n := float64(max(count[i], 1))
		p := (f*n + 0.5) / (n + 1)
		sd[i] = math.Sqrt(p * (1 - p) / n)
	}
	return Chart{Title: "reliability", X: Axis{Label: "predicted probability", Max: 1}, Y: Axis{Label: "observed frequency", Max: 1},
		Traces: []Trace{{Name: "bins ± standard error", Colour: vermilion, Style: LineMarks, X: probability, Y: frequency, SD: sd}}, Diagonal: true}
}

// Training shows the scores over the steps. The best step, if not negative, is
// marked.
func Training(label string, steps, train, validation []float64, best float64) Chart {
	sameLength(steps, train)
	c := Chart{Title: "training", X: Axis{Label: "step", Whole: true}, Y: Axis{Label: label}, Traces: []Trace{
		{Name: "training", Colour: blue, X: steps, Y: train}}}
	if validation == nil {
		return c
	}
	sameLength(steps, validation)
	c.Traces = append(c.Traces, Trace{Name: "validation", Colour: orange, X: steps, Y: validation})
	for i, s := range steps {
		if s == best {
			c.Traces = append(c.Traces, Trace{Name: "kept", Colour: vermilion, Style: Marks, X: []float64{s}, Y: []float64{validation[i]}})
		}
	}
	return c
}

// Dependence shows how the prediction changes with one column, with a band from lo to hi.
// An x axis with Names shows categories.
func Dependence(x, y Axis, values, mean, lo, hi []float64) Chart {
	sameLength(values, mean, lo, hi)
	t := Trace{Name: "mean ± sd", Colour: blue, X: values, Y: mean, Lo: lo, Hi: hi}
	if y.Scale != Linear {
		t.Name = "median and central 68 %"
	}
	if len(x.Names) > 0 {
		t.Style = Marks
	}
	return Chart{X: x, Y: y, Traces: []Trace{t}}
}

// SameY gives charts one y axis that shows all of them.
func SameY(charts []Chart) []Chart {
	all := newSpan()
	for _, c := range charts {
		_, y := c.extent()
		all.include(y.lo)
		all.include(y.hi)
	}
	out := append([]Chart(nil), charts...)
	if s := all.pad(0.05); !all.empty() && !math.IsInf(s.lo, 0) && !math.IsInf(s.hi, 0) {
		for i := range out {
			lo, hi := s.lo, s.hi
			if out[i].Y.Scale == Log10 {
				lo, hi = math.Pow(10, lo), math.Pow(10, hi)
			}
			if out[i].Y.Scale != Log2 {
				out[i].Y.Min, out[i].Y.Max = lo, hi
			}
		}
	}
	return out
}

// binomial95 returns the 2.5 % and 97.5 % quantiles of the number of successes
// of n trials with probability p.
func binomial95(n int, p float64) (lo, hi float64) {
	switch {
	case n <= 0 || p <= 0:
		return 0, 0
	case p >= 1:
		return float64(n), float64(n)
	}
	total, _ := math.Lgamma(float64(n) + 1)
	sum := 0.0
	lo, hi = -1, float64(n)
	// Of millions of trials, what lies twelve deviations below adds nothing.
	mean := float64(n) * p
	for k := max(0, int(mean-12*math.Sqrt(mean*(1-p))-12)); k <= n; k++ {
		a, _ := math.Lgamma(float64(k) + 1)
		b, _ := math.Lgamma(float64(n-k) + 1)
		sum += math.Exp(total - a - b + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		if lo < 0 && sum >= 0.025 {
			lo = float64(k)
		}
		if sum >= 0.975 {
			hi = float64(k)
			break
		}
	}
	return max(lo, 0), hi
}
