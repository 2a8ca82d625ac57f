package train_test

import (
	"math"
	"testing"

	"utvi/internal/special"
	"utvi/moment"
	"utvi/train"
	"utvi/vi"
)

// The prior that a step is taken with is the optimum for the parameters before
// it; tensors of numbers have none.
func TestPriorIsTheOptimum(t *testing.T) {
	m := network(moment.UT(2))
	e := vi.EmpiricalBayes{Alpha: 2, Beta: 0.3}
	var want []float64
	for _, x := range m.Params.Tensors {
		sum := 0.0
		for i, rho := range x.Rho {
			s, d := special.Softplus(float64(rho)), float64(x.Mean[i])
			sum += s*s + d*d
		}
		want = append(want, math.Sqrt(e.Variance(x.Len(), sum)))
	}
	c := config()
	c.Prior, c.Steps = &e, 1
	step := run(t, m, c)[0]
	kl := 0.0
	before := network(moment.UT(2))
	for i, x := range m.Params.Tensors {
		if !x.Random {
			continue
		}
		if got := x.Prior.Std; math.Abs(got-want[i]) > 1e-6*want[i] {
			t.Errorf("%s: prior σ %v, want %v", x.Name, got, want[i])
		}
		b := before.Params.Tensors[i]
		b.Prior.Std = want[i]
		kl += b.KL()
	}
	if math.Abs(step.KL-kl) > 1e-5*math.Abs(kl) {
		t.Errorf("the step's KL is %v, towards the fitted prior it is %v", step.KL, kl)
	}
}

// A fitted prior pays less for the same fit.
func TestFittedPriorCostsLess(t *testing.T) {
	last := func(p *vi.EmpiricalBayes) train.Step {
		c := config()
		c.KL = nil
		c.Steps = 400
		c.Prior = p
		steps := run(t, network(moment.UT(2)), c)
		return steps[len(steps)-1]
	}
	fixed, fitted := last(nil), last(&vi.EmpiricalBayes{})
	t.Logf("KL %.1f towards N(0, 1), %.1f towards fitted priors; loss %.3f and %.3f", fixed.KL, fitted.KL, fixed.Loss, fitted.Loss)
	if !(fitted.KL < fixed.KL && fitted.Loss < fixed.Loss) {
		t.Error("the fitted prior costs more")
	}
}
