package nn

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/gauss"
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

// A larger is the maximum of two Normals and its derivatives.
type larger struct{ m, v, mm1, mm2, mv, vm, vv1, vv2 float64 }

// maxOf is the larger of two as the layer finds it; relu gives the moments of a ReLU.
func maxOf[T gauss.Float](m1, v1, m2, v2 T, relu func(mean, variance T) (m, v, chance, mv T)) larger {
	one := func(x T) []T { return []T{x} }
	c := kernel.Couples[T]{M1: one(m1), V1: one(v1), M2: one(m2), V2: one(v2)}
	mean, variance := one(0), one(0)
	kernel.Differences(mean, variance, &c)
	mu, u, chance, mv := relu(mean[0], variance[0])
	l := kernel.Larger[T]{MM1: one(0), MM2: one(chance), MV: one(mv), VM: one(0), VV1: one(0), VV2: one(0)}
	kernel.LargerSlopes(&l, &c, one(mu), one(u))
	kernel.LargerMoments(mean, variance, &c, one(mu), one(u))
	first := func(x []T) float64 { return float64(x[0]) }
	return larger{first(mean), first(variance), first(l.MM1), first(l.MM2), first(l.MV), first(l.VM), first(l.VV1), first(l.VV2)}
}

func maxOfTwo(m1, v1, m2, v2 float64) larger {
	return maxOf(m1, v1, m2, v2, func(mean, variance float64) (m, v, chance, mv float64) {
		relu := fn.ReLU().Exact(mean, variance)
		return relu.Mean, relu.Var, relu.MeanByMean, relu.MeanByVar
	})
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
	if got, want := maxOfTwo(2, 0, 2, 0), (larger{m: 2, mm1: 1, vv1: 1}); got != want {
		t.Errorf("two equal numbers: %+v, want %+v", got, want)
	}
	if got, want := maxOfTwo(1, 0, 2, 0), (larger{m: 2, mm2: 1, vv2: 1}); got != want {
		t.Errorf("two numbers: %+v, want %+v", got, want)
	}
	float32s := func(m1, v1, m2, v2 float64) larger {
		return maxOf(float32(m1), float32(v1), float32(m2), float32(v2), func(mean, variance float32) (m, v, chance, mv float32) {
			p := make([][]float32, 6)
			for i := range p {
				p[i] = make([]float32, 1)
			}
			kernel.LeakyMoments(kernel.Moments[float32]{Mean: p[0], Var: p[1], MM: p[2], MV: p[3], VM: p[4], VV: p[5]}, 0, []float32{mean}, []float32{variance})
			return p[0][0], p[1][0], p[2][0], p[3][0]
		})
	}
	means := []float64{-1e18, -1, -math.SmallestNonzeroFloat32, 0, 1e-20, 1, 1e18}
	variances := []float64{0, math.SmallestNonzeroFloat32, 1e-20, 1, 1e36}
	for _, max2 := range []func(m1, v1, m2, v2 float64) larger{maxOfTwo, float32s} {
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
