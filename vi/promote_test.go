package vi_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/internal/special"
	"utvi/rng"
	"utvi/vi"
)

// A promoted posterior is its own prior; what is forgotten returns to the prior before.
func TestPromote(t *testing.T) {
	p, drawn, _, numbers, _ := declared()
	p.Start(rng.New(4), vi.Init{RhoMin: -3, RhoMax: 1})
	before := p.KL()
	p.Promote(1)
	if kl := p.KL(); math.Abs(kl/before-1) > 1e-12 {
		t.Errorf("with all forgotten, the KL is %v; it was %v", kl, before)
	}
	p.Promote(0)
	if kl := p.KL(); math.Abs(kl) > 1e-9 {
		t.Errorf("the KL of the posterior from itself is %v", kl)
	}
	if numbers.Center != nil || numbers.Spread != nil {
		t.Error("numbers have a prior")
	}
	s0 := special.Softplus(drawn.Rho[7])
	drawn.Mean[7] = 3
	drawn.Rho[7] = special.SoftplusInverse(2 * s0)
	want := -math.Log(2) + 2 - 0.5
	d := 3 - drawn.Prior.Mean - drawn.Center[7]
	want += d * d / (2 * s0 * s0)
	if kl := p.KL(); math.Abs(kl/want-1) > 1e-9 {
		t.Errorf("after one weight moved, the KL is %v, want %v", kl, want)
	}
}

// Half forgotten, precisions and means by precisions are the mean of both.
func ExampleParams_Promote() {
	p := &vi.Params[float64]{}
	w := p.Random("weight", 1, 1)
	p.Alloc()
	p.Start(rng.New(1), vi.Std(0.5))
	w.Mean[0] = 3
	p.Promote(0.5)
	fmt.Printf("N(%.2f, %.3f²)\n", w.Center[0], w.Spread[0])
	// Output: N(2.40, 0.632²)
}
