package moment

import (
	"fmt"
	"math"
	"slices"

	"utvi/internal/compute/kernel"
)

// The slope of a function of x ~ N(m, v), as a rule sees it, is that of the straight
// line that fits best, g = Cov(f(x), x)/v. The variance of f(x) is the sum
// of the line's part g²v and a rest, which is independent of x to first order.
//
//	points:       g = Σ w ξ f / σ      ∂g/∂v = (Σ w ξ² f' − g)/(2v)
//	closed form:  g = E f' = ∂mean/∂m  (Stein)
//
// and ∂g/∂m = 2·∂mean/∂v for both. The linear rule has g = f'(m). Rules that
// draw have no slope.

// CheckSlope reports whether a rule can compute the slope of f.
func CheckSlope(r Rule, f *Func) error {
	if f != nil && f.Formula != nil && f.Formula.Learned > 0 { // the slope moves with the parameter: a gradient that is not computed
		return fmt.Errorf("the formula %s cannot carry correlations while its parameter %s is learned; make the parameter fixed", f.Formula.Text, f.Formula.Inputs[0].Name)
	}
	switch r.(type) {
	case nodes, exact, linear:
		return nil
	}
	return fmt.Errorf("the rule %v cannot carry correlations; use a rule with fixed points, exact or linear", r)
}

// slopes fills the slopes, where they are wanted, from points.
func (t *Tile[T]) slopes(xi, w []T) {
	if t.Slope == nil {
		return
	}
	n := len(t.Mean)
	size := n * len(xi)
	if !t.jacobian() {
		t.slopesAlone(xi, w)
		return
	}
	seen := kernel.Seen[T]{S: t.s[:n], V: t.Var, M: t.Mean, MM: t.Out.MM, F: t.f[:size], D: t.d[:size], Xi: xi, W: w}
	kernel.Slopes(t.Slope, t.SlopeV, &seen, T(smallSigma[T]()))
	t.twiceByVar()
}

// slopesAlone fills Slope where no derivatives are wanted: the planes of slopes are
// scratch.
func (t *Tile[T]) slopesAlone(xi, w []T) {
	n := len(t.Mean)
	f, small := t.f[:n*len(xi)], T(smallSigma[T]())
	seen := kernel.Seen[T]{S: t.s[:n], V: t.Var, M: t.Mean, MM: t.d[n : 2*n], F: f, D: f, Xi: xi, W: w}
	kernel.Slopes(t.Slope, t.d[:n], &seen, small)
	if !kernel.AnyBelow(t.s[:n], t.Mean, small) && !slices.Contains(t.s[:n], 0) {
		return
	}
	for i, s := range t.s[:n] {
		if m := t.Mean[i]; s < small+small*max(m, -m) {
			t.Slope[i] = T(t.local(i, float64(m), false).d)
		}
	}
}

// twiceByVar is ∂g/∂m of all rules but the linear one.
func (t *Tile[T]) twiceByVar() {
	for i, x := range t.Out.MV {
		t.SlopeM[i] = x + x
	}
}

// slopesExact fills the slopes from the Jacobian of a closed form.
func (t *Tile[T]) slopesExact() {
	if t.Slope == nil {
		return
	}
	copy(t.Slope, t.Out.MM)
	if t.F.Op == kernel.OpLeakyReLU {
		kernel.LeakySlopes(t.SlopeM, t.SlopeV, t.Out.MV, t.Mean, t.Var)
		return
	}
	t.twiceByVar()
	for i, v := range t.Var {
		t.SlopeV[i] = 0
		if v > 0 {
			t.SlopeV[i] = T(MixedByVar(t.F, float64(t.Mean[i]), float64(v)))
		}
	}
}

// MixedByVar is ∂²E f/∂m∂v of a function with a closed form, by differences of E_v over
// a hundredth of a standard deviation; they are good to 1e-8.
func MixedByVar(f *Func, m, v float64) float64 {
	h := 0.01 * math.Sqrt(v)
	if m+h == m {
		return 0
	}
	by := func(k float64) float64 { return f.Exact(m+k*h, v).MeanByVar }
	return (8*(by(1)-by(-1)) - (by(2) - by(-2))) / (12 * h)
}
