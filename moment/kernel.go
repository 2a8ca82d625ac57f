package moment

import (
	"fmt"
	"math"

	"utvi/internal/compute"
)

// checkKernel refuses a function whose kernel is another's, as of a named one
// whose F was replaced: float32 would go on as before.
func checkKernel(f *Func) error {
	if f.Op == compute.OpUser {
		return nil
	}
	x := []float32{-1.25, 0.75}
	y := make([]float32, len(x))
	if f.Op < compute.NumOps {
		compute.Eval(f.Op, float32(f.A), x, y, nil)
	}
	for i, x := range x {
		want := f.F(float64(x))
		if !(math.Abs(float64(y[i])-want) <= 1e-3*(1+math.Abs(want))) {
			return fmt.Errorf("the kernel Op of %s does not compute its F: at %v it gives %v for %v; set Op to 0 in a function of your own", f.Name, x, y[i], want)
		}
	}
	return nil
}
