package moment_test

import (
	"math"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// A named function with another F would be two functions, one in float32 and one
// in float64.
func TestRefusesForeignKernels(t *testing.T) {
	own := fn.Tanh()
	own.F = math.Sin
	for _, r := range []moment.Rule{moment.UT(2), moment.GaussHermite(5), moment.MonteCarlo(3), moment.Linear(), moment.LearnedUT(2)} {
		if err := r.Check(own); err == nil || !strings.Contains(err.Error(), "the kernel Op of tanh does not match its F") {
			t.Errorf("%v: %v", r, err)
		}
	}
	unknown := fn.Tanh()
	unknown.Op = kernel.NumOps
	if moment.UT(2).Check(unknown) == nil {
		t.Error("an unknown Op was taken")
	}
	steeper := fn.ReLU() // the same on one side
	steeper.F = func(x float64) float64 { return max(0, 2*x) }
	if moment.UT(2).Check(steeper) == nil {
		t.Error("the kernel of a ReLU was taken for one twice as steep")
	}
	own.Op = kernel.OpUser
	if err := moment.UT(2).Check(own); err != nil {
		t.Error(err)
	}
}
