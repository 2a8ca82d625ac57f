package nntest

import (
	"math"
	"slices"
	"testing"

	"utvi/gauss"
	"utvi/internal/compute"
)

func gradients(t testing.TB, s subject) {
	b := newBench[float64](t, s)
	b.run(4, backward)
	if kl := b.params.KL(); !compute.Finite(kl) {
		t.Errorf("the KL divergence of the weights from their priors is %v; it must be a finite number", kl)
	}
	if !b.written(t) {
		return
	}
	b.compare(t, "input mean", b.x.Mean, b.dx.Mean, nil, s.Options)
	b.compare(t, "input variance", b.x.Var, b.dx.Var, nil, s.Options)
	b.compareCov(t, s.Options)
	for _, p := range b.params.Tensors {
		if p.Running {
			continue // GMean is a distance, not a derivative
		}
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
			t.Errorf("%s[%d] is NaN: all buffers hold NaN before a run, so it was not written (=), or it was added to (+=), or it was computed from a part of the tape that was not written", what, i)
			ok = false
		}
	}
	whole("output mean", b.out.Mean)
	whole("output variance", b.out.Var)
	whole("DIn.Mean", b.dx.Mean)
	whole("DIn.Var", b.dx.Var)
	whole("output covariance", b.out.Cov)
	whole("DIn.Cov, the diagonal left out,", apart(b.dx))
	for i, v := range b.out.Var {
		if w := b.out.Width; b.out.Cov != nil && b.out.Cov[i*w+i%w] != v {
			t.Errorf("the covariance of output %d with itself is %v, its variance %v", i, b.out.Cov[i*w+i%w], v)
		}
	}
	for _, p := range b.params.Tensors {
		whole("the gradient of "+p.Name+".mean", p.GMean)
		whole("the gradient of "+p.Name+".variance", p.GVar)
	}
	return ok
}

// apart are the covariances of two different units, the diagonal 0.
func apart[T gauss.Float](b gauss.Batch[T]) []T {
	c := slices.Clone(b.Cov)
	for at := range c {
		if at/b.Width%b.Width == at%b.Width {
			c[at] = 0
		}
	}
	return c
}

func (b *bench[T]) loss() float64 {
	if w := b.x.Width; b.x.Cov != nil {
		for i, v := range b.x.Var {
			b.x.Cov[i*w+i%w] = v
		}
	}
	b.run(rows, forward)
	var sum float64
	for i, g := range b.gm {
		sum += float64(g) * float64(b.out.Mean[i])
		if b.out.Var != nil {
			sum += float64(b.gv[i]) * float64(b.out.Var[i])
		}
	}
	for at, c := range apart(b.out) {
		sum += float64(b.gc[at]) * float64(c)
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
		b.differ(t, what, i, float64(grad[i]), scale, o, &x[i])
	}
}

// compareCov compares the gradients by input covariances: a covariance stands in two
// places, which change together.
func (b *bench[T]) compareCov(t testing.TB, o Options) {
	t.Helper()
	var scale float64
	grad := apart(b.dx)
	for _, g := range grad {
		scale = max(scale, 2*math.Abs(float64(g)))
	}
	w := b.x.Width
	stride := max(1, len(grad)/o.Entries) | 1
	for at := 0; at < len(grad); at += stride {
		row := at / (w * w)
		i := at / w % w
		j := at % w
		mirror := (row*w+j)*w + i
		if i == j {
			continue
		}
		if grad[at] != grad[mirror] {
			t.Errorf("DIn.Cov of units %d and %d of row %d is %v and %v; it must be symmetric", i, j, row, grad[at], grad[mirror])
		}
		b.differ(t, "input covariance", at, 2*float64(grad[at]), scale, o, &b.x.Cov[at], &b.x.Cov[mirror])
	}
}

// differ compares a gradient with differences of the loss over x, numbers that are one.
func (b *bench[T]) differ(t testing.TB, what string, i int, got, scale float64, o Options, x ...*T) {
	t.Helper()
	x0 := *x[0]
	h := 1e-3 * (0.01 + math.Abs(float64(x0)))
	set := func(v T) {
		for _, x := range x {
			*x = v
		}
	}
	at := func(k float64) float64 { set(x0 + T(k*h)); return b.loss() }
	want := (8*(at(1)-at(-1)) - (at(2) - at(-2))) / (12 * h)
	set(x0)
	if !(math.Abs(got-want) <= o.Tolerance*(math.Abs(want)+0.01*scale)) {
		t.Errorf("∂/∂%s[%d]: %v, finite differences give %v", what, i, got, want)
	}
}

// precision: float32 follows float64.
func precision(t testing.TB, s subject) {
	a, b := newBench[float32](t, s), newBench[float64](t, s)
	widen(b.x.Mean, a.x.Mean) // the same inputs, to the bit
	widen(b.x.Var, a.x.Var)
	widen(b.x.Cov, a.x.Cov)
	widen(b.params.Theta, a.params.Theta)
	a.run(rows, backward)
	b.run(rows, backward)
	if !a.written(t) || !b.written(t) {
		return
	}
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
	near("covariance", a.out.Cov, b.out.Cov)
	near("input covariance gradient", apart(a.dx), apart(b.dx))
	near("input gradient", a.dx.Mean, b.dx.Mean)
	near("input variance gradient", a.dx.Var, b.dx.Var)
	near("parameter gradient", a.params.Grad, b.params.Grad)
}

func widen[T gauss.Float](dst []float64, src []T) {
	for i, x := range src {
		dst[i] = float64(x)
	}
}
