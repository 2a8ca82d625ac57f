package moment

import (
	"fmt"
	"math"

	"utvi/internal/compute/kernel"
)

// checkKernel refuses a function whose kernel computes another function, for example a
// named function whose F was replaced: float32 would ignore the new F.
func checkKernel(f *Func) error {
	if !vectorised(f) {
		return nil
	}
	x := []float32{-1.25, 0.75}
	y := make([]float32, len(x))
	what := "kernel Op"
	switch {
	case f.Op == kernel.OpUser:
		what = "Formula"
		Eval(f, x, y, nil)
	case f.Op < kernel.NumOps:
		kernel.Eval(f.Op, float32(f.A), x, y, nil)
	}
	for i, x := range x {
		want := f.F(float64(x))
		if float64(y[i]) == want || want != want && y[i] != y[i] { // a formula may be undefined there
			continue
		}
		if !(math.Abs(float64(y[i])-want) <= 1e-3*(1+math.Abs(want))) {
			return fmt.Errorf("the %s of %s does not match its F: at %v it returns %v, F returns %v; whoever changes F must set Op to 0 and Formula to nil", what, f.Name, x, y[i], want)
		}
	}
	return nil
}
