package nntest

import (
	"math"
	"slices"
	"testing"

	"utvi/gauss"
)

func gradients(t testing.TB, s subject) {
	b := newBench[float64](t, s)
	b.run(4, backward)
	if !b.written(t) {
		return
	}
	b.compare(t, "input mean", b.x.Mean, b.dx.Mean, nil, s.Options)
	b.compare(t, "input variance", b.x.Var, b.dx.Var, nil, s.Options)
	for _, p := range b.params.Tensors {
		b.compare(t, p.Name+".mean", p.Mean, p.GMean, nil, s.Options)
		// GVar is ∂/∂σ²; σ = softplus(ρ).
		b.compare(t, p.Name+".rho", p.Rho, p.GVar, func(rho float64) float64 {
			return 2 * math.Log1p(math.Exp(rho)) / (1 + math.Exp(-rho))
		}, s.Options)
	}
}

// written reports whether no result is the NaN it was filled with.
func (b *bench[T]) written(t testing.TB) bool {
	t.Helper()
	ok := true
	whole := func(what string, x []T) {
		t.Helper()
		if i := slices.IndexFunc(x, func(v T) bool { return v != v }); i >= 0 {
			t.Errorf("%s[%d] is NaN: all buffers hold NaN before a run, so the layer did not write it (=), or added to it (+=)", what, i)
			ok = false
		}
	}
	whole("output mean", b.out.Mean)
	whole("output variance", b.out.Var)
	whole("DIn.Mean", b.dx.Mean)
	whole("DIn.Var", b.dx.Var)
	for _, p := range b.params.Tensors {
		whole("the gradient of "+p.Name+".mean", p.GMean)
		whole("the gradient of "+p.Name+".variance", p.GVar)
	}
	return ok
}

func (b *bench[T]) loss() float64 {
	b.run(rows, forward)
	var sum float64
	for i, g := range b.gm {
		sum += float64(g) * float64(b.out.Mean[i])
		if b.out.Var != nil {
			sum += float64(b.gv[i]) * float64(b.out.Var[i])
		}
	}
	return sum
}

// compare compares the gradient of x, times chain(x), with fourth-order differences
// of the loss, at entries spread over it.
func (b *bench[T]) compare(t testing.TB, what string, x, grad []T, chain func(float64) float64, o Options) {
	t.Helper()
	grad = slices.Clone(grad)
	var scale float64
	for i := range grad {
		if chain != nil {
			grad[i] *= T(chain(float64(x[i])))
		}
		scale = max(scale, math.Abs(float64(grad[i])))
	}
	stride := max(1, len(x)/o.Entries) | 1
	for i := 0; i < len(x); i += stride {
		x0 := x[i]
		h := 1e-3 * (0.01 + math.Abs(float64(x0)))
		at := func(k float64) float64 { x[i] = x0 + T(k*h); return b.loss() }
		want := (8*(at(1)-at(-1)) - (at(2) - at(-2))) / (12 * h)
		x[i] = x0
		if got := float64(grad[i]); !(math.Abs(got-want) <= o.Tolerance*(math.Abs(want)+0.01*scale)) {
			t.Errorf("∂/∂%s[%d]: %v, finite differences give %v", what, i, got, want)
		}
	}
}

// precision: float32 follows float64.
func precision(t testing.TB, s subject) {
	a, b := newBench[float32](t, s), newBench[float64](t, s)
	widen(b.x.Mean, a.x.Mean) // the same inputs, to the bit
	widen(b.x.Var, a.x.Var)
	widen(b.params.Theta, a.params.Theta)
	a.run(rows, backward)
	b.run(rows, backward)
	near := func(what string, x []float32, y []float64) {
		var scale float64
		for _, v := range y {
			scale = max(scale, math.Abs(v))
		}
		for i := range x {
			if !(math.Abs(float64(x[i])-y[i]) <= 2e-4*(math.Abs(y[i])+0.01*scale)) {
				t.Errorf("%s[%d]: float32 gives %v, float64 %v", what, i, x[i], y[i])
				return
			}
		}
	}
	near("mean", a.out.Mean, b.out.Mean)
	near("variance", a.out.Var, b.out.Var)
	near("input gradient", a.dx.Mean, b.dx.Mean)
	near("input variance gradient", a.dx.Var, b.dx.Var)
	near("parameter gradient", a.params.Grad, b.params.Grad)
}

func widen[T gauss.Float](dst []float64, src []T) {
	for i, x := range src {
		dst[i] = float64(x)
	}
}
