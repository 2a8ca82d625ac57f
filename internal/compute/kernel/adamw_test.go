package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/computetest"
)

var adamCase = AdamW{LR: 3e-3, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, DecayMean: 0.02, DecayRho: 0.05,
	C1: 1 - 0.9*0.9*0.9, C2: 1 - 0.99*0.99*0.99, Clip: 0.7, KL: 0.3, PriorMean: 0.25, PriorVar: 1.7}

// tensor is a random tensor: μ, ρ, their gradients, Adam's moments.
type tensor[T compute.Float] struct{ mu, rho, gmu, gs, m1mu, m2mu, m1rho, m2rho []T }

func (x *tensor[T]) all() []*[]T {
	return []*[]T{&x.mu, &x.rho, &x.gmu, &x.gs, &x.m1mu, &x.m2mu, &x.m1rho, &x.m2rho}
}

var hardRho = []float64{-200, -88, -87, -40, -20, -9, -5, -1e-3, 0, 1e-3, 0.7, 3, 20, 90}

func newTensor[T compute.Float](n int) *tensor[T] {
	src := rand.New(rand.NewPCG(3, uint64(n)))
	x := new(tensor[T])
	for k, a := range x.all() {
		*a = make([]T, n)
		for i := range *a {
			v := src.NormFloat64()
			switch k {
			case 1:
				v = hardRho[i%len(hardRho)] + 0.01*v*float64(i/len(hardRho))
			case 4, 6:
				v *= 0.1
			case 5, 7:
				v *= v * 0.01
			}
			(*a)[i] = T(v)
		}
	}
	return x
}

// tensor is x as StepRandom takes it.
func (x *tensor[T]) tensor() *Tensor[T] {
	return &Tensor[T]{x.mu, x.rho, x.gmu, x.gs, x.m1mu, x.m2mu, x.m1rho, x.m2rho}
}

func (x *tensor[T]) step(a *AdamW) {
	StepRandom(a, x.tensor())
}

func (x *tensor[T]) clone() *tensor[T] {
	y := *x
	for _, a := range y.all() {
		*a = slices.Clone(*a)
	}
	return &y
}

// softplus64 is ln(1+eˣ), and lnSoftplus64 its logarithm, without a detour that
// the code under test takes.
func softplus64(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func lnSoftplus64(x float64) float64 {
	if x < -30 {
		return x - math.Exp(x)/2
	}
	return math.Log(softplus64(x))
}

// gradients64 differentiates loss + KL·kl by its definition.
func gradients64(a *AdamW, mu, rho, gmu, gs float64) (gm, gr float64) {
	s, sig := softplus64(rho), 1/(1+math.Exp(-rho))
	overSigma := sig / s
	if rho < -30 {
		overSigma = 1
	}
	return gmu + a.KL*(mu-a.PriorMean)/a.PriorVar, sig*2*s*gs + a.KL*(sig*s/a.PriorVar-overSigma)
}

// adam64 is AdamW as PyTorch writes it.
func adam64(a *AdamW, x, g, m1, m2, decay float64) (float64, float64, float64) {
	x -= a.LR * decay * x
	m1 = a.Beta1*m1 + (1-a.Beta1)*g
	m2 = a.Beta2*m2 + (1-a.Beta2)*g*g
	return x - a.LR/a.C1*m1/(math.Sqrt(m2)/math.Sqrt(a.C2)+a.Eps), m1, m2
}

func near(t *testing.T, what string, i int, got, want, tol, scale float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(math.Abs(want)+scale)) {
		t.Errorf("element %d: %s is %g, want %g", i, what, got, want)
	}
}

func testStep[T compute.Float](t *testing.T, n int, tol float64) {
	a := adamCase
	x := newTensor[T](n)
	old := x.clone()
	x.step(&a)
	for i := range n {
		gm, gr := gradients64(&a, float64(old.mu[i]), float64(old.rho[i]), float64(old.gmu[i]), float64(old.gs[i]))
		mu, m1, m2 := adam64(&a, float64(old.mu[i]), a.Clip*gm, float64(old.m1mu[i]), float64(old.m2mu[i]), a.DecayMean)
		near(t, "μ", i, float64(x.mu[i]), mu, tol, 0.1)
		near(t, "m₁ of μ", i, float64(x.m1mu[i]), m1, tol, 0.1)
		near(t, "m₂ of μ", i, float64(x.m2mu[i]), m2, tol, 0.1)
		scale := 0.1 + math.Abs(gr)
		rho, m1, m2 := adam64(&a, float64(old.rho[i]), a.Clip*gr, float64(old.m1rho[i]), float64(old.m2rho[i]), a.DecayRho)
		near(t, "ρ", i, float64(x.rho[i]), rho, tol, 0.1)
		near(t, "m₁ of ρ", i, float64(x.m1rho[i]), m1, tol, scale)
		near(t, "m₂ of ρ", i, float64(x.m2rho[i]), m2, tol, scale)
	}
	if !slices.Equal(x.gmu, old.gmu) || !slices.Equal(x.gs, old.gs) {
		t.Error("the gradients changed")
	}
	// A number without a distribution.
	y := old.clone()
	StepPoint(&a, y.mu, y.gmu, y.m1mu, y.m2mu)
	for i := range n {
		mu, m1, m2 := adam64(&a, float64(old.mu[i]), a.Clip*float64(old.gmu[i]), float64(old.m1mu[i]), float64(old.m2mu[i]), a.DecayMean)
		near(t, "x", i, float64(y.mu[i]), mu, tol, 0.1)
		near(t, "m₁ of x", i, float64(y.m1mu[i]), m1, tol, 0.1)
		near(t, "m₂ of x", i, float64(y.m2mu[i]), m2, tol, 0.1)
	}
}

func TestStep(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 5, 8, 17, 59} {
			testStep[float32](t, n, 1e-6)
			testStep[float64](t, n, 1e-13)
		}
	})
}

// TestFirstStep begins from nothing: Adam's first step has the length LR.
func TestFirstStep(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		a := AdamW{LR: 0.1, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, C1: 0.1, C2: 0.001, Clip: 1, PriorVar: 1}
		x, g := []float32{1, -2, 3}, []float32{4, -1e-3, 0}
		StepPoint(&a, x, g, make([]float32, 3), make([]float32, 3))
		for i, want := range []float64{0.9, -1.9, 3} {
			near(t, "x", i, float64(x[i]), want, 1e-5, 0)
		}
	})
}

func testKLNorm[T compute.Float](t *testing.T, n int, tol float64) {
	a := adamCase
	x := newTensor[T](n)
	var kl, norm, plain, scale float64
	for i := range n {
		mu, rho := float64(x.mu[i]), float64(x.rho[i])
		gm, gr := gradients64(&a, mu, rho, float64(x.gmu[i]), float64(x.gs[i]))
		norm += gm*gm + gr*gr
		plain += float64(x.gmu[i]) * float64(x.gmu[i])
		s, d := softplus64(rho), mu-a.PriorMean
		kl += math.Log(a.PriorVar)/2 - lnSoftplus64(rho) + (s*s+d*d)/(2*a.PriorVar) - 0.5
		scale += 1 + math.Abs(lnSoftplus64(rho)) + s*s
	}
	gotKL, gotNorm := KLNorm(&a, x.mu, x.rho, x.gmu, x.gs)
	near(t, "KL", n, gotKL, kl, tol, scale)
	near(t, "norm", n, gotNorm, norm, 3*tol, 0)
	gotKL, gotNorm = StepRandom(&a, x.tensor())
	near(t, "KL of a step", n, gotKL, kl, tol, scale)
	near(t, "norm of a step", n, gotNorm, a.Clip*a.Clip*norm, 3*tol, 0)
	near(t, "plain norm", n, Norm2(x.gmu), plain, 1e-14, 0)
}

func TestKLNorm(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 7, 8, 27, 1001} {
			testKLNorm[float32](t, n, 3e-7)
			testKLNorm[float64](t, n, 1e-13)
		}
		// At the prior there is nothing to pay and nothing to change.
		a := AdamW{KL: 1, PriorMean: 0.5, PriorVar: 0.04}
		mu := make([]float32, 9)
		rho := make([]float32, 9)
		zero := make([]float32, 9)
		for i := range mu {
			mu[i], rho[i] = 0.5, float32(math.Log(math.Expm1(0.2)))
		}
		kl, norm := KLNorm(&a, mu, rho, zero, zero)
		if math.Abs(kl) > 1e-5 || norm > 1e-9 {
			t.Errorf("KL %g and norm² %g at the prior", kl, norm)
		}
	})
}

func TestVariance(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		var rho []float32
		for r := -43.5; r < 100; r += 0.0937 {
			rho = append(rho, float32(r))
		}
		rho = append(rho, 0, float32(math.Copysign(0, -1)), -20)
		dst := make([]float32, len(rho))
		Variance(dst, rho)
		for i, r := range rho {
			s := softplus64(float64(r))
			near(t, "variance", i, float64(dst[i]), s*s, 1e-6, 0)
		}
		if want := math.Exp(-40); math.Abs(float64(dst[len(dst)-1])/want-1) > 1e-6 {
			t.Errorf("variance %g at −20, want %g", dst[len(dst)-1], want)
		}
		far := []float32{-60, -300, float32(math.Inf(-1))}
		Variance(far, far)
		for _, v := range far {
			if !(v >= 0 && v < 1e-38) {
				t.Errorf("variance %g far below", v)
			}
		}
	})
}

func testVarianceSecond[T compute.Float](t *testing.T) {
	for _, n := range lengths {
		x := newTensor[T](n)
		s, checkS := guarded[T](n)
		second, checkSecond := guarded[T](n)
		VarianceSecond(s, second, x.mu, x.rho)
		checkS(t)
		checkSecond(t)
		wantS, want := make([]T, n), make([]T, n)
		Variance(wantS, x.rho)
		Square(want, x.mu)
		Add(want, wantS)
		if !slices.Equal(s, wantS) || !slices.Equal(second, want) {
			t.Errorf("%d weights differ from Variance, Square and Add", n)
		}
	}
}

func TestVarianceSecond(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		testVarianceSecond[float32](t)
		testVarianceSecond[float64](t)
	})
}

// TestStepAlone: the bits of an element do not depend on the others.
func TestStepAlone(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		const n = 29
		x := newTensor[float32](n)
		ones := x.clone()
		x.step(&adamCase)
		variance := make([]float32, n)
		Variance(variance, x.rho)
		for i := range n {
			one := ones.clone()
			for _, a := range one.all() {
				*a = (*a)[i : i+1]
			}
			one.step(&adamCase)
			v := []float32{0}
			Variance(v, one.rho)
			if one.mu[0] != x.mu[i] || one.rho[0] != x.rho[i] || one.m1rho[0] != x.m1rho[i] ||
				one.m2rho[0] != x.m2rho[i] || v[0] != variance[i] {
				t.Errorf("element %d differs alone", i)
			}
		}
	})
}

func TestStepAllocates(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		a := adamCase
		x := newTensor[float32](33)
		y := newTensor[float64](33)
		if n := testing.AllocsPerRun(10, func() {
			x.step(&a)
			y.step(&a)
			StepPoint(&a, x.mu, x.gmu, x.m1mu, x.m2mu)
			KLNorm(&a, x.mu, x.rho, x.gmu, x.gs)
			Norm2(x.gmu)
			Variance(x.gs, x.rho)
		}); n != 0 {
			t.Errorf("%g allocations", n)
		}
	})
}

func BenchmarkAdamW(b *testing.B) {
	const n = 512
	a, x := adamCase, newTensor[float32](n)
	a.LR = 1e-12 // stay: a ρ far from here is not what training sees
	for i := range x.rho {
		x.rho[i] = -3 - float32(i%7)
	}
	dst := make([]float32, n)
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"StepRandom", func() { x.step(&a) }},
		{"StepPoint", func() { StepPoint(&a, x.mu, x.gmu, x.m1mu, x.m2mu) }},
		{"KLNorm", func() { KLNorm(&a, x.mu, x.rho, x.gmu, x.gs) }},
		{"Norm2", func() { Norm2(x.gmu) }},
		{"Variance", func() { Variance(dst, x.rho) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.f()
			}
			computetest.PerElement(b, n)
		})
	}
}

// The root of a step holds for second moments of all sizes.
func TestStepRoots(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		const n = 1 << 14
		src := rand.New(rand.NewPCG(1, 2))
		x := make([]float32, n)
		g := make([]float32, n)
		m1 := make([]float32, n)
		m2 := make([]float32, n)
		for i := range n {
			m1[i], m2[i] = 1, math.Float32frombits(1+src.Uint32N(0x7f7fffff)) // any number that is positive and finite
		}
		m2[0] = 0x1p-149
		m2[1] = 0x1p-126
		m2[2] = math.MaxFloat32
		StepPoint(&AdamW{LR: 1, Beta1: 1, Beta2: 1, C1: 1, C2: 1, Clip: 1, PriorVar: 1}, x, g, m1, m2)
		for i, x := range x {
			near(t, "x", i, float64(x), -1/math.Sqrt(float64(m2[i])), 2e-7, 0)
		}
		x = make([]float32, 2)
		g = make([]float32, 2)
		m1 = []float32{1, 1}
		m2 = []float32{0, float32(math.Inf(1))}
		StepPoint(&AdamW{LR: 1, Beta1: 1, Beta2: 1, Eps: 1e-8, C1: 1, C2: 1, Clip: 1, PriorVar: 1}, x, g, m1, m2)
		near(t, "x without a second moment", 0, float64(x[0]), -1e8, 2e-7, 0)
		near(t, "x with an infinite one", 1, float64(x[1]), 0, 1, 1e-18)
	})
}
