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
	if err := (vi.EmpiricalBayes{}).Check(); err != nil {
		t.Error(err)
	}
}

func ExampleEmpiricalBayes() {
	var e vi.EmpiricalBayes
	fmt.Printf("one bias of size 0: %.2f, 10000 weights of size 0.01: %.4f\n", e.Variance(1, 0), e.Variance(10000, 10000*0.0001))
	// Output: one bias of size 0: 0.91, 10000 weights of size 0.01: 0.0011
}
