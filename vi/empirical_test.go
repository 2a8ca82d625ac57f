package vi_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/rng"
	"utvi/vi"
)

// The closed form is the smallest value of −ln p(s) + KL.
func TestEmpiricalBayesIsOptimal(t *testing.T) {
	var p vi.Params[float64]
	x := p.Random("w", 4, 7, 5)
	p.Alloc()
	p.Start(rng.New(3), vi.Init{RhoMin: -3, RhoMax: 0})
	x.Prior.Mean = 0.2
	e := vi.EmpiricalBayes{Alpha: 2.5, Beta: 0.7}
	var sum float64
	for i, m := range x.Mean {
		s := math.Log1p(math.Exp(x.Rho[i]))
		sum += s*s + (m-0.2)*(m-0.2)
	}
	loss := func(s float64) float64 {
		x.Prior.Std = math.Sqrt(s)
		return x.KL() + (e.Alpha+1)*math.Log(s) + e.Beta/s
	}
	best := e.Variance(x.Len(), sum)
	for _, f := range []float64{0.5, 0.99, 1.01, 2} {
		if loss(best) >= loss(f*best) {
			t.Errorf("the loss is %v at s = %v and %v at %v times that", loss(best), best, loss(f*best), f)
		}
	}
}

func TestEmpiricalBayesRefuses(t *testing.T) {
	for _, e := range []vi.EmpiricalBayes{{Alpha: -1, Beta: 1}, {Alpha: 1}, {Beta: math.NaN()}, {Every: -2}, {Beta: math.Inf(1)}} {
		if e.Check() == nil {
			t.Errorf("%+v was accepted", e)
		}
	}
	for _, e := range []vi.EmpiricalBayes{{}, {Beta: 1}, {Alpha: 0.5, Beta: 0.1, Every: 1}} {
		if err := e.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestEmpiricalBayesSettings(t *testing.T) {
	for want, e := range map[string]vi.EmpiricalBayes{
		"empirical-bayes(4,5)/1":    {},
		"empirical-bayes(4,5)/3":    {Every: 3},
		"empirical-bayes(0,2)/1":    {Beta: 2},
		"empirical-bayes(1.5,2)/10": {Alpha: 1.5, Beta: 2, Every: 10},
	} {
		if e.String() != want {
			t.Errorf("%v, want %s", e, want)
		}
	}
	for step := 1; step < 9; step++ {
		if !(vi.EmpiricalBayes{}).Due(step) || (vi.EmpiricalBayes{Every: 3}).Due(step) != (step == 1 || step == 4 || step == 7) {
			t.Errorf("step %d", step)
		}
	}
}

func ExampleEmpiricalBayes() {
	var e vi.EmpiricalBayes
	fmt.Printf("one bias of size 0: %.2f, 10000 weights of size 0.01: %.4f\n", e.Variance(1, 0), e.Variance(10000, 10000*0.0001))
	// Output: one bias of size 0: 0.91, 10000 weights of size 0.01: 0.0011
}
