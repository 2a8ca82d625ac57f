package nn

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
)

// trueMax integrates the moments of the maximum of independent Normals over its
// density Σᵢ φᵢ Πⱼ Φⱼ. The trapezoidal rule is exact for such smooth bells.
func trueMax(m, v []float64) (mean, variance float64) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range m {
		s := math.Sqrt(v[i])
		lo, hi = min(lo, m[i]-12*s), max(hi, m[i]+12*s)
	}
	const n = 4000
	h := (hi - lo) / n
	var second float64
	for k := range n {
		x := lo + h*float64(k)
		var density float64
		for i := range m {
			s := math.Sqrt(v[i])
			term := h * special.PDF((x-m[i])/s) / s
			for j := range m {
				if j != i {
					term *= special.CDF((x - m[j]) / math.Sqrt(v[j]))
				}
			}
			density += term
		}
		mean += density * x
		second += density * x * x
	}
	return mean, second - mean*mean
}

// maxOfTwo is the larger of two as the layer finds it.
func maxOfTwo(m1, v1, m2, v2 float64) larger[float64] {
	relu := fn.ReLU().Exact(difference(m1, v1, m2, v2))
	var l larger[float64]
	l.set(m1, v1, m2, v2, relu.Mean, relu.Var, relu.MeanByMean, relu.MeanByVar)
	return l
}

func clarkMax(m, v []float64) (mean, variance float64) {
	mean, variance = m[0], v[0]
	for i := range m[1:] {
		l := maxOfTwo(mean, variance, m[i+1], v[i+1])
		mean, variance = l.m, l.v
	}
	return mean, variance
}

// Two are exact; the errors of more are as stated: of the mean in standard
// deviations of the true maximum, of the variance relative to it. They are
// smallest where the widest comes last.
func TestClark(t *testing.T) {
	one := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}
	for _, c := range []struct {
		name             string
		m, v             []float64
		errMean, errVari float64
	}{
		{"two", []float64{0.3, -0.4}, []float64{0.5, 2}, 1e-13, 1e-12},
		{"two, the smaller wide", []float64{2, -1}, []float64{0.01, 4}, 1e-13, 1e-12},
		{"two, the larger wide", []float64{2, -1}, []float64{4, 0.01}, 1e-13, 1e-12},
		{"four equal", make([]float64, 4), one[:4], 0.003, 0.045},
		{"nine equal", make([]float64, 9), one, 0.003, 0.12},
		{"four rising", []float64{-1, -0.5, 0.2, 1}, []float64{1, 0.5, 0.3, 1.5}, 0.003, 0.006},
		{"four falling", []float64{1, 0.2, -0.5, -1}, []float64{1.5, 0.3, 0.5, 1}, 0.03, 0.1},
		{"a wide one last", make([]float64, 4), []float64{0.01, 0.01, 0.01, 1}, 0.001, 0.001},
		{"a wide one first", make([]float64, 4), []float64{1, 0.01, 0.01, 0.01}, 0.16, 0.47},
		{"one ahead", []float64{3, 0, 0, 0}, one[:4], 0.002, 0.008},
	} {
		m, v := clarkMax(c.m, c.v)
		tm, tv := trueMax(c.m, c.v)
		em, ev := (m-tm)/math.Sqrt(tv), v/tv-1
		t.Logf("%s: %.6f, %.6f; mean off by %.1e σ, variance by %.1e", c.name, tm, tv, em, ev)
		if !(math.Abs(em) <= c.errMean) || !(math.Abs(ev) <= c.errVari) {
			t.Errorf("%s: mean %v, variance %v; the truth is %v, %v", c.name, m, v, tm, tv)
		}
	}
}

// The tail keeps its digits: the variance of a constant topped now and then by a
// Normal far below it, against the repeated integrals of the tail.
func TestClarkTail(t *testing.T) {
	for x := 0.0; x < 37; x += 0.37 {
		l := maxOfTwo(-x, 1, 0, 0)
		tail, pdf := special.Tail(x), special.PDF(x)
		want := pdf * (2*tail.I2 - pdf*tail.I1*tail.I1)
		if !(math.Abs(l.v/want-1) <= 1e-12) {
			t.Errorf("x = %v: variance %v, want %v", x, l.v, want)
		}
		if !(math.Abs(l.mm1/(pdf*tail.I0)-1) <= 1e-12) {
			t.Errorf("x = %v: ∂m/∂m₁ = %v, want %v", x, l.mm1, pdf*tail.I0)
		}
	}
}

// Nothing cancels far from zero, and nothing breaks at either end of float32.
func TestClarkExtremes(t *testing.T) {
	far, near := maxOfTwo(1<<30, 1e-3, 1<<30+1.0/64, 2e-3), maxOfTwo(0, 1e-3, 1.0/64, 2e-3)
	if far.v != near.v || far.vv1 != near.vv1 || far.mm2 != near.mm2 {
		t.Errorf("moments depend on where zero is: %+v, %+v", far, near)
	}
	if got, want := maxOfTwo(2, 0, 2, 0), (larger[float64]{m: 2, mm1: 1, vv1: 1}); got != want {
		t.Errorf("two equal numbers: %+v, want %+v", got, want)
	}
	if got, want := maxOfTwo(1, 0, 2, 0), (larger[float64]{m: 2, mm2: 1, vv2: 1}); got != want {
		t.Errorf("two numbers: %+v, want %+v", got, want)
	}
	float32s := func(m1, v1, m2, v2 float64) larger[float64] {
		p := make([][]float32, 8)
		for i := range p {
			p[i] = make([]float32, 1)
		}
		p[0][0], p[1][0] = difference(float32(m1), float32(v1), float32(m2), float32(v2))
		kernel.LeakyMoments(kernel.Moments[float32]{Mean: p[2], Var: p[3], MM: p[4], MV: p[5], VM: p[6], VV: p[7]}, 0, p[0], p[1])
		var l larger[float32]
		l.set(float32(m1), float32(v1), float32(m2), float32(v2), p[2][0], p[3][0], p[4][0], p[5][0])
		return larger[float64]{
			float64(l.m), float64(l.v), float64(l.mm1), float64(l.mm2), float64(l.mv), float64(l.vm), float64(l.vv1), float64(l.vv2),
		}
	}
	means := []float64{-1e18, -1, -math.SmallestNonzeroFloat32, 0, 1e-20, 1, 1e18}
	variances := []float64{0, math.SmallestNonzeroFloat32, 1e-20, 1, 1e36}
	for _, max2 := range []func(m1, v1, m2, v2 float64) larger[float64]{maxOfTwo, float32s} {
		for i := range len(means) * len(means) * len(variances) * len(variances) {
			m1, m2 := means[i%7], means[i/7%7]
			v1, v2 := variances[i/49%5], variances[i/245]
			l := max2(m1, v1, m2, v2)
			for _, x := range []float64{l.m, l.v, l.mm1, l.mm2, l.mv, l.vm, l.vv1, l.vv2} {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("max of N(%v, %v) and N(%v, %v): %+v", m1, v1, m2, v2, l)
				}
			}
			least := max(m1, m2)
			if l.m < least-1e-7*math.Abs(least) || l.v < 0 || l.v > (v1+v2)*(1+1e-6) {
				t.Errorf("max of N(%v, %v) and N(%v, %v): %+v", m1, v1, m2, v2, l)
			}
		}
	}
}
