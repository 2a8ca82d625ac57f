package optim_test

import (
	"math"
	"testing"

	"utvi/optim"
)

func TestCheck(t *testing.T) {
	if err := optim.Paper().Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(a *optim.AdamW){
		"no rate":       func(a *optim.AdamW) { a.Rate = nil },
		"rate NaN":      func(a *optim.AdamW) { a.Rate = optim.Constant(math.NaN()) },
		"rate -1":       func(a *optim.AdamW) { a.Rate = optim.Constant(-1) },
		"rate infinite": func(a *optim.AdamW) { a.Rate = optim.Constant(math.Inf(1)) },
		"β1 is 1":       func(a *optim.AdamW) { a.Beta1 = 1 },
		"β2 NaN":        func(a *optim.AdamW) { a.Beta2 = math.NaN() },
		"ε is 0":        func(a *optim.AdamW) { a.Epsilon = 0 },
		"decay -1":      func(a *optim.AdamW) { a.Decay = -1 },
		"clip -1":       func(a *optim.AdamW) { a.Clip = -1 },
		"decay on 9":    func(a *optim.AdamW) { a.DecayOn = 9 },
	} {
		a := optim.Paper()
		change(&a)
		if a.Check() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestSchedules(t *testing.T) {
	cosine, warm := optim.Cosine(2, 100), optim.WarmUp(10, optim.Constant(3))
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"cosine's middle", cosine(51), 1},
		{"cosine's start", cosine(1), 2},
		{"warm-up's end", warm(10), 3},
		{"after the warm-up", warm(99), 3},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	var sum float64
	for l := 1; l <= 7; l++ {
		sum += optim.PaperKL(7)(l, 0)
	}
	if math.Abs(sum-1) > 1e-15 || optim.PaperKL(2000)(1, 0) != 0.5 || optim.PaperKL(0)(1, 0) != 1 {
		t.Errorf("φ sums to %v", sum)
	}
}
