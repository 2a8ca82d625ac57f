package experiment

import (
	"fmt"
	"math"

	"utvi/report"
	"utvi/rng"
)

// Figure draws the paper's Figure 1: the predictions of the three methods,
// averaged over the replicates, and how their scores fell.
func (r *FCResult) Figure() report.Regression {
	fig := report.Regression{X: r.X, Border: fcBorder, CurveLabel: "NLL − true model's NLL (nats)"}
	shown := newFCSample(rng.New(r.Spec.Seed).Sub(0, 3), 400)
	for i, x := range shown.x.Mean {
		fig.DataX, fig.DataY = append(fig.DataX, float64(x)), append(fig.DataY, float64(shown.y[i]))
	}
	for i, m := range r.Methods {
		colour := report.Series(i)
		panel := report.RegressionPanel{Title: fmt.Sprintf("(%c)  %s", 'a'+i, fcMethods[i].title), Colour: colour}
		for k, x := range r.X {
			mean, sd, truth := m.average(k, x)
			panel.Mean, panel.SD, panel.Truth = append(panel.Mean, mean), append(panel.SD, sd), append(panel.Truth, truth)
		}
		fig.Panels = append(fig.Panels, panel)
		fig.Curves = append(fig.Curves, r.curve(m, colour))
	}
	return fig
}

// average returns, at X[k] = x, the predicted mean and standard deviation and
// the paper's "true uncertainty" √(noise² + (prediction − truth)²), each
// averaged over the replicates.
func (m FCMethod) average(k int, x float64) (mean, sd, truth float64) {
	n := float64(len(m.Trials))
	for _, t := range m.Trials {
		mean += t.Mean[k] / n
		sd += t.SD[k] / n
		truth += math.Hypot(fcNoise(x), t.Mean[k]-x) / n
	}
	return mean, sd, truth
}

// curve is the mean score per epoch with the range of the replicates.
func (r *FCResult) curve(m FCMethod, colour report.Colour) report.Curve {
	c := report.Curve{Name: m.Name, Colour: colour}
	for k, step := range r.ScoreSteps {
		mean, lo, hi := 0.0, math.Inf(1), math.Inf(-1)
		for _, t := range m.Trials {
			e := t.NLL[k] - r.TrueNLL
			mean += e / float64(len(m.Trials))
			lo, hi = min(lo, e), max(hi, e)
		}
		c.X = append(c.X, float64(step)/fcEpochSteps)
		c.Mean, c.Lo, c.Hi = append(c.Mean, mean), append(c.Lo, lo), append(c.Hi, hi)
	}
	return c
}
