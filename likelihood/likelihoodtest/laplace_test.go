package likelihoodtest

import (
	"errors"
	"math"
	"strings"
	"testing"

	"utvi/internal/redtest"
	"utvi/likelihood"
)

// laplace is the expected score of a target with Laplace noise of scale b around
// each output: ln 2b + E|f − y|/b, which has a kink in f and none in its moments.
type laplace struct {
	B                  float64
	ValueBug, SlopeBug float64 // relative errors
}

func (laplace) String() string      { return "laplace" }
func (laplace) NeedsVariance() bool { return false }

// Kind is the name of the likelihood in a file.
func (laplace) Kind() string { return "laplace" }

func (laplace) Targets(outputs int) (int, error) {
	if outputs < 1 {
		return 0, errors.New("laplace: there are no outputs")
	}
	return outputs, nil
}

// Row uses E|d| = d·(1 − 2Φ(−z)) + 2s·φ(z) for d ~ N(m − y, s²), z = d/s, whose slopes
// are 1 − 2Φ(−z) by the mean and φ(z)/s by the variance.
func (l laplace) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	for i, y := range y {
		d, s := mean[i]-y, math.Sqrt(variance[i])
		abs := math.Abs(d)
		sign := math.Copysign(1, d)
		peak := 0.0
		if s > 0 {
			z := d / s
			pdf := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
			sign = math.Erf(z / math.Sqrt2)
			abs, peak = d*sign+2*s*pdf, pdf/s
		}
		nll += math.Log(2*l.B) + abs/l.B*(1+l.ValueBug)
		dmean[i], dvar[i] = sign/l.B*(1+l.SlopeBug), peak/l.B
	}
	return nll, 0
}

// predictiveLaplace also predicts; its Score is right for fixed outputs only.
type predictiveLaplace struct{ laplace }

func (l predictiveLaplace) Predict(mean, variance, ymean, yvar []float64) {
	for i, v := range variance {
		ymean[i], yvar[i] = mean[i], v+2*l.B*l.B
	}
}

func (l predictiveLaplace) Score(y, mean, variance []float64) float64 {
	d := make([]float64, len(mean))
	nll, _ := l.Row(y, mean, make([]float64, len(mean)), d, d)
	return nll
}

func row(y, mean, variance []float64) Row { return Row{Y: y, Mean: mean, Var: variance} }

func laplaceCase(b float64, rows ...Row) Case {
	return Case{Rows: rows, Expected: true, NLL: func(r Row, f []float64) (nll float64) {
		for i, y := range r.Y {
			nll += math.Log(2*b) + math.Abs(f[i]-y)/b
		}
		return nll
	}}
}

func atTargets(r Row, i int, _ []float64) []float64 { return r.Y[i : i+1] }

// verdict names the parts of the suite that fail, with their first messages.
func verdict(t *testing.T, l likelihood.Likelihood, c Case) string {
	var found []string
	for _, p := range suite(l, c) {
		if failed := redtest.Run(t, p.run); len(failed) > 0 {
			found = append(found, p.name+": "+failed[0])
		}
	}
	return strings.Join(found, "\n")
}

func TestKinkedLikelihoodPasses(t *testing.T) {
	l := laplace{B: 0.7}
	one := row([]float64{0.31}, []float64{0.5}, []float64{0.2})
	sharp := row([]float64{0.31}, []float64{0.5}, []float64{25})
	fixed := row([]float64{0.31}, []float64{0.5}, []float64{0})
	Check(t, l, laplaceCase(0.7, one, sharp, fixed)) // one output is integrated adaptively

	two := row([]float64{0.31, -2}, []float64{0.5, -1.1}, []float64{0.2, 0.9})
	c := laplaceCase(0.7, two, row([]float64{1, 2}, []float64{0.5, 1.1}, []float64{0, 0.3}))
	c.Kinks = atTargets
	Check(t, l, c)

	c = laplaceCase(0.7, row([]float64{0.3, -2, 1}, []float64{0.5, -1.1, 1.2}, []float64{0.2, 0.9, 0.05}))
	c.Kinks = atTargets
	Check(t, l, c)

	// Without kinks the rule for several outputs is good for 1e-2, and the
	// tolerance says so.
	c = laplaceCase(0.7, two)
	if v := verdict(t, l, c); !strings.HasPrefix(v, "value: ") {
		t.Errorf("two outputs with kinks that nobody named: %q", v)
	}
	c.Tolerance = 1e-2
	Check(t, l, c)
}

func TestWrongLikelihoodFails(t *testing.T) {
	one := row([]float64{0.31}, []float64{0.5}, []float64{0.2})
	c := laplaceCase(0.7, one)
	for want, l := range map[string]laplace{
		"value: ":     {B: 0.7, ValueBug: 1e-8},
		"gradients: ": {B: 0.7, SlopeBug: 1e-4},
	} {
		if v := verdict(t, l, c); !strings.HasPrefix(v, want) || strings.Contains(v, "\n") {
			t.Errorf("want %s, found %q", want, v)
		}
	}
	c.Target = func(_ Row, i int, f []float64) (float64, float64) { return f[i], 2 * 0.7 * 0.7 }
	if v := verdict(t, laplace{B: 0.7}, c); !strings.Contains(v, "not Predictive") {
		t.Errorf("a target of a likelihood that predicts nothing: %q", v)
	}
	if v := verdict(t, predictiveLaplace{laplace{B: 0.7}}, c); !strings.HasPrefix(v, "predictive: ") || !strings.Contains(v, "score") {
		t.Errorf("a score without the outputs' spread: %q", v)
	}
	c.NLL = func(Row, []float64) float64 { return math.NaN() }
	if v := verdict(t, laplace{B: 0.7}, c); !strings.HasPrefix(v, "value: ") {
		t.Errorf("a definition that is NaN: %q", v)
	}
}
