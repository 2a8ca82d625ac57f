package moment

import (
	"errors"
	"fmt"
	"math"

	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// nodes is a rule of fixed standardised points ξ with weights w: Σw = 1,
// Σwξ = 0, Σwξ² = 1. The first is the reference point of the combiner.
type nodes struct {
	name  string
	xi, w []float64
	err   error // of the parameters; Check returns it
}

func (r nodes) String() string      { return r.name }
func (r nodes) Nodes() Nodes        { return Nodes{Xi: r.xi, W: r.w} }
func (r nodes) Learns() bool        { return false }
func (r nodes) Vector(f *Func) bool { return vectorised(f) }
func (r nodes) Push32(t *Tile[float32]) {
	pushNodes(t, t.fixed, t.fixedW)
}
func (r nodes) Push64(t *Tile[float64]) {
	pushNodes(t, t.fixed, t.fixedW)
}

func (r nodes) Check(f *Func) error {
	if r.err != nil {
		return r.err
	}
	return checkFunc(f)
}

// checkPoints reports points and weights that do not make a rule.
func checkPoints(name string, xi, w []float64) error {
	if len(xi) == 0 || len(xi) != len(w) {
		return fmt.Errorf("%s: %d points and %d weights; their numbers must be equal, and at least 1", name, len(xi), len(w))
	}
	var sum [3]float64
	for i, x := range xi {
		for k, p := 0, w[i]; k < 3; k, p = k+1, p*x {
			sum[k] += p
		}
	}
	for k, want := range [3]float64{1, 0, 1} {
		if !(math.Abs(sum[k]-want) <= 1e-9) {
			return fmt.Errorf("%s: the points have Σw ξ^%d = %v; a standard Normal has %v", name, k, sum[k], want)
		}
	}
	return nil
}

var errNoFunc = errors.New("the nonlinearity has no function F; write &moment.Func{F: f}")

func checkFunc(f *Func) error {
	if f == nil || f.F == nil {
		return errNoFunc
	}
	return checkKernel(f)
}

// pushNodes looks at m + ξσ and combines.
func pushNodes[T gauss.Float](t *Tile[T], xi, w []T) {
	if o, ok := any(t.Out).(kernel.Moments[float32]); ok && t.fused(xi) {
		f32 := func(x []T) []float32 { return any(x).([]float32) }
		kernel.LeakyThree(o, float32(t.F.A), f32(t.Mean), f32(t.Var), f32(xi), f32(w))
		return
	}
	n, p := len(t.Mean), len(xi)
	s := t.s[:n]
	x := t.x[:n*p]
	f := t.f[:n*p]
	var d []T
	if t.jacobian() {
		d = t.d[:n*p]
	}
	kernel.Points(t.Mean, t.Var, s, x, xi)
	t.Eval(x, f, d)
	kernel.Combine(t.Out, s, f, d, xi, w, 0, 1)
	t.combineParams(xi, w)
	t.limit()
	t.slopes(xi, w)
}

// fused reports whether one kernel does points, function and sums. A learned κ
// needs the values in between.
func (t *Tile[T]) fused(xi []T) bool {
	return oneKernel(t.F, len(xi)) && xi[0] == 0 && t.MK == nil && t.Slope == nil
}

// InPlace reports whether a tile of T that pushes f by a rule may have its Mean and Var as
// Out.Mean and Out.Var: one kernel does it all, and reads an element before it writes it. It
// holds without Slope and MK.
func InPlace[T gauss.Float](f *Func, r Rule) bool {
	_, single := any(T(0)).(float32)
	n, fixed := r.(nodes)
	return single && fixed && oneKernel(f, len(n.xi)) && n.xi[0] == 0
}

func oneKernel(f *Func, points int) bool { return f.Op == kernel.OpLeakyReLU && points == 3 }

// smallSigma is the σ, relative to 1+|m|, below which divided differences resolve
// nothing.
func smallSigma[T gauss.Float]() float64 {
	if _, ok := any(T(0)).(float32); ok {
		return 1e-4
	}
	return 1e-5
}

// limit replaces, for smooth functions, what divided differences cannot resolve
// when σ is tiny beside m by its Taylor limit:
//
//	mean → f + ½f''v,  var → f'²v,  ∂mean/∂v → ½f'',  ∂var/∂m → 2f'f''v
//
// A function whose D2F is unknown keeps what the points gave, and ∂mean/∂v = 0.
// Where a kink lies within reach the differences are right as they are.
func (t *Tile[T]) limit() {
	small := smallSigma[T]()
	if !kernel.AnyBelow(t.s[:len(t.Mean)], t.Mean, T(small)) {
		return
	}
	for i, s := range t.s[:len(t.Mean)] {
		m := float64(t.Mean[i])
		s := float64(s)
		if s == 0 || s >= small*(1+math.Abs(m)) {
			continue
		}
		if t.F.D2F == nil {
			if t.jacobian() && t.F.smoothWithin(m, 8*s) {
				t.Out.MV[i] = 0
			}
			continue
		}
		if !t.smooth(i, m, 8*s) {
			continue
		}
		at := t.local(i, m, true)
		f := at.f
		d := at.d
		c := at.c
		v := float64(t.Var[i])
		t.limitParams(i, v)
		t.Out.Mean[i], t.Out.Var[i] = T(f+0.5*c*v), T(d*d*v)
		if t.jacobian() {
			t.Out.MM[i], t.Out.MV[i] = T(d), T(0.5*c)
			t.Out.VM[i], t.Out.VV[i] = T(2*d*c*v), T(d*d)
		}
	}
}
