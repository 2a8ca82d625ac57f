package moment

import (
	"fmt"

	"utvi/internal/compute/kernel"
)

// Exact returns the closed-form rule ("SMP" in the paper), for functions with
// Func.Exact.
func Exact() Rule { return exact{} }

type exact struct{}

func (exact) String() string      { return "exact" }
func (exact) Nodes() Nodes        { return Nodes{Method: InClosedForm} }
func (exact) Learns() bool        { return false }
func (exact) Vector(f *Func) bool { return f.Op == kernel.OpLeakyReLU }

func (exact) Check(f *Func) error {
	if err := checkFunc(f); err != nil {
		return err
	}
	if f.Exact == nil {
		name := f.Name
		if name == "" {
			name = "this function"
		}
		return fmt.Errorf("exact: no closed form is known for %s; use ut or gh", name)
	}
	return nil
}

func (exact) Push32(t *Tile[float32]) {
	kernel.LeakyMoments(t.Out, float32(t.F.A), t.Mean, t.Var)
	t.slopesExact()
}

func (exact) Push64(t *Tile[float64]) {
	for i, m := range t.Mean {
		j := t.F.Exact(m, t.Var[i])
		t.Out.Mean[i], t.Out.Var[i] = j.Mean, j.Var
		if t.jacobian() {
			t.Out.MM[i], t.Out.MV[i] = j.MeanByMean, j.MeanByVar
			t.Out.VM[i], t.Out.VV[i] = j.VarByMean, j.VarByVar
		}
	}
	t.slopesExact()
}
