package experiment

import (
	"fmt"
	"math"

	"utvi/internal/report"
	"utvi/rng"
)

// locColours are those of locMethods, UT's and MC's as in the other figures.
var locColours = []report.Colour{report.Series(2), report.Series(1), report.Series(3)}

const locMapLabel = "variance of the position (px²)"

// locPictures are the paper's Figures 3 and S2, and Figure 3 with one scale for
// all maps.
func locPictures(s Size, methods []LocalizationMethod, exact, paper emitterMap) []Picture {
	ut, mc := methods[0], methods[1]
	own := report.Maps{Label: locMapLabel, Maps: withMaps([]report.Map{
		locMap("(a)  bound σ²/N", paper[:]), locMap("(b)  UT, predicted", ut.Variance), locMap("(c)  MC10, predicted", mc.Variance),
	})}
	shared := report.Maps{Label: locMapLabel, Shared: true, Log: true, Columns: 3, Maps: withMaps([]report.Map{
		locMap("(a)  bound σ²/N", paper[:]), locMap("(b)  UT, predicted", ut.Variance), locMap("(c)  MC10, predicted", mc.Variance),
		locMap("(d)  exact bound", exact[:]), locMap("(e)  UT, squared error", ut.Error), locMap("(f)  MC10, squared error", mc.Error),
	})}
	var examples report.Maps
	examples.Plain, examples.Columns = true, 6
	set := newEmitters(rng.New(s.Seed).Sub(0, 3), 12)
	for i := range set.x.Rows {
		image, y := set.row(i)
		m := report.Map{Width: emitterSide}
		for _, v := range image {
			m.Values = append(m.Values, float64(v))
		}
		if math.Abs(float64(y[0])) < emitterSide/2 && math.Abs(float64(y[1])) < emitterSide/2 {
			m.Marks = [][2]float64{{float64(y[0]), float64(y[1])}}
		}
		examples.Maps = append(examples.Maps, m)
	}
	number := func(m LocalizationMethod, name string) string { return m.Maps[name].format("%.3f") }
	return []Picture{
		{"fig3", report.Picture{
			Figure: own, Label: "Figure 3", Title: "Predicted variance of the position across the image.",
			Caption: "The paper's approximate bound, and the variances that the networks predict, mean of x and y over the emitters in each pixel and over the replicates. Every map has its own scale, as in the paper.",
			Paper:   "UT follows the trend of the bound more accurately than MC.",
			Ours: fmt.Sprintf("Distance from the exact bound (root mean square of the logarithm of the ratio): UT %s, MC10 %s. Correlation of the logarithms: UT %s, MC10 %s.",
				number(ut, "log_distance"), number(mc, "log_distance"), number(ut, "log_correlation"), number(mc, "log_correlation")),
		}},
		{"fig3-shared", report.Picture{
			Figure: shared, Label: "Figure 3, shared scale", Title: "The same maps on one scale, with the exact bound and the squared errors.",
			Caption: "The exact bound accounts for the pixels and the border of the sensor. A network that knows its errors predicts the squared error below it.",
			Ours: fmt.Sprintf("Squared error over exact bound in the median pixel: UT %s, MC10 %s.",
				ut.Maps["median_error_over_bound"].format("%.2f"), mc.Maps["median_error_over_bound"].format("%.2f")),
		}},
		{"figS2", report.Picture{
			Figure: examples, Label: "Figure S2", Title: "Simulated emitters.",
			Caption: "Photons of twelve emitters as the networks see them. Dots mark the true positions; some lie outside the image. Every image has its own scale.",
		}},
	}
}

func locMap(title string, values []float64) report.Map {
	return report.Map{Title: title, Width: emitterSide, Values: values}
}

// withMaps leaves out the maps that no training gave.
func withMaps(maps []report.Map) (some []report.Map) {
	for _, m := range maps {
		if m.Values != nil {
			some = append(some, m)
		}
	}
	return some
}

// locCurves shows how the trainings went: position NLL and gradients by epoch.
// The methods differ by orders of magnitude, so NLLs are counted from the lowest
// of all.
func locCurves(methods []LocalizationMethod) Picture {
	lowest := math.Inf(1)
	for _, m := range methods {
		for _, best := range m.Best.Values {
			lowest = min(lowest, best)
		}
	}
	epoch := report.Axis{Label: "epoch of 300 steps"}
	nll := report.Chart{Title: "(a)  position", X: epoch, Y: report.Axis{Label: "NLL above the lowest (nats)", Scale: report.Log10}}
	grad := report.Chart{Title: "(b)  gradients", X: epoch, Y: report.Axis{Label: "largest norm", Scale: report.Log10}}
	for i, m := range methods {
		nll.Traces = append(nll.Traces, m.trace(locColours[i], func(k Mark) float64 { return k.Scores[locPosition] - lowest }))
		grad.Traces = append(grad.Traces, m.trace(locColours[i], func(k Mark) float64 { return k.MaxGrad }))
	}
	nll.Y.Min, nll.Y.Max = 0.005, 1 // what is lower is the lowest training itself
	for _, t := range nll.Traces {
		for _, y := range t.Hi {
			nll.Y.Max = max(nll.Y.Max, 1.5*y)
		}
	}
	grad.Levels = []report.Level{{Name: "clipped", Colour: report.Grey, Y: locClip, Dashed: true}}
	return Picture{"fig3-training", report.Picture{
		Figure: report.Grid{Charts: []report.Chart{nll, grad}}, Label: "Training", Title: "How the localisation networks trained.",
		Caption: "Validation NLL of the position after each epoch, above the lowest of all trainings, and the largest gradient norm within the epoch, before clipping: mean and range of the replicates that reached the epoch.",
		Paper:   "Training with three samples failed because the gradients exploded.",
	}}
}

// trace is a number at the marks, mean and range over the trials that reached them.
func (m LocalizationMethod) trace(colour report.Colour, f func(Mark) float64) report.Trace {
	t := report.Trace{Name: m.Name, Colour: colour}
	for k := 0; ; k++ {
		mean := 0.
		lo := math.Inf(1)
		hi := math.Inf(-1)
		n := 0.
		step := 0
		for _, trial := range m.Trials {
			if k < len(trial.Marks) {
				x := f(trial.Marks[k])
				n++
				mean += (x - mean) / n
				lo = min(lo, x)
				hi = max(hi, x)
				step = trial.Marks[k].Step
			}
		}
		if n == 0 {
			return t
		}
		t.X, t.Y = append(t.X, float64(step)/locEpochSteps), append(t.Y, mean)
		t.Lo, t.Hi = append(t.Lo, lo), append(t.Hi, hi)
	}
}
