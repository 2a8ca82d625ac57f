package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/internal/special"
)

// quadrature is a jet by Simpson's rule on both sides of the kink. Deviations
// from the mean are integrated, so that no digits cancel in the variance.
func quadrature(a, m, v float64) jet {
	σ := math.Sqrt(v)
	integrate := func(g func(f, df, u float64) float64) float64 {
		const n, wide = 4000, 9.0
		total := 0.0
		kink := -m / σ
		for _, side := range []float64{-1, 1} {
			// The half-line from the kink, as far as its part of the density reaches.
			from, to := kink, kink+side*wide
			if side*kink < 0 {
				to = side * wide
			}
			h := (to - from) / n
			for i := range n + 1 {
				u := from + float64(i)*h
				f, df := a*(m+σ*u), a
				if side > 0 {
					f, df = m+σ*u, 1
				}
				w := 2.0 + 2*float64(i%2)
				if i == 0 || i == n {
					w = 1
				}
				total += w * math.Abs(h) / 3 * special.PDF(u) * g(f, df, u)
			}
		}
		return total
	}
	mean := integrate(func(f, _, _ float64) float64 { return f })
	return jet{
		mean:     mean,
		variance: integrate(func(f, _, _ float64) float64 { return (f - mean) * (f - mean) }),
		mm:       integrate(func(_, df, _ float64) float64 { return df }),
		mv:       integrate(func(_, df, u float64) float64 { return df * u }) / (2 * σ),
		vm:       integrate(func(f, df, _ float64) float64 { return 2 * (f - mean) * df }),
		vv:       integrate(func(f, df, u float64) float64 { return (f - mean) * df * u }) / σ,
	}
}

func (j jet) planes() [6]float64 { return [6]float64{j.mean, j.variance, j.mm, j.mv, j.vm, j.vv} }

func TestLeakyJetAgainstQuadrature(t *testing.T) {
	for _, a := range []float64{0, 0.01, -1, 0.5, -0.3, 2} {
		for z := -6.0; z <= 6; z += 0.75 {
			const v = 2.25
			m := z * 1.5
			got, want := leakyJet(a, m, v).planes(), quadrature(a, m, v).planes()
			for k := range got {
				tol := 1e-9 * math.Abs(want[k])
				if a != 0 || k >= 2 {
					tol += 1e-12 // these pass through zero, or their quadrature cancels
				}
				if math.Abs(got[k]-want[k]) > tol {
					t.Errorf("a = %v, z = %v, plane %d: %v, want %v", a, z, k, got[k], want[k])
				}
			}
		}
	}
}

// scales are the sums of the magnitudes of the terms of each plane: a plane
// that passes through zero is measured against its scale.
func scales(a, m, v float64) [6]float64 {
	j := leakyJet(a, m, v)
	if v == 0 {
		return j.planes()
	}
	_, c := leakyReLU(a, m)
	f := c * m
	σ := math.Sqrt(v)
	b := math.Abs(1 - a)
	t := math.Abs(m) / math.Sqrt(v)
	φ, i := special.PDF(t), special.Tail(t)
	c = math.Abs(c)
	s := j.planes()
	s[0] = math.Abs(f) + b*σ*φ*i.I1
	if a < 0 {
		s[2] = c + b*φ*i.I0
		s[4] = 2 * σ * b * φ * (c*(t+φ*i.I1)*i.I0 + math.Abs(1+a-c)*i.I1)
		s[5] = c*c + b*φ*(t+i.I0)
	}
	return s
}

// The bound promised is 2e-6 for all planes to |z| = 12.5.
func TestLeakyMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 40_003
	for _, a := range []float32{0, 0.01, -1, 0.5, -0.3, 2} {
		var in [2][]float32
		var out [6][]float32
		for i := range n {
			v := float32(math.Exp(r.Float64()*138 - 69)) // from 2⁻¹⁰⁰ to 2¹⁰⁰
			z := r.Float64()*25 - 12.5
			if i%4 == 0 {
				z /= 100
			}
			in[0] = append(in[0], float32(z*math.Sqrt(float64(v))))
			in[1] = append(in[1], v)
		}
		for k := range out {
			out[k] = make([]float32, n)
		}
		computetest.EachFamily(t, func(t *testing.T) {
			LeakyMoments(Moments[float32]{Mean: out[0], Var: out[1], MM: out[2], MV: out[3], VM: out[4], VV: out[5]}, a, in[0], in[1])
			var worst [6]float64
			for i := range n {
				m, v := float64(in[0][i]), float64(in[1][i])
				want, scale := leakyJet(float64(a), m, v).planes(), scales(float64(a), m, v)
				for k := range out {
					e := math.Abs(float64(out[k][i])-want[k]) - 0x1p-148 // two subnormal places
					e = max(e, 0) / math.Abs(scale[k])
					worst[k] = max(worst[k], e)
					if !(e <= 2e-6) {
						t.Fatalf("a = %v, m = %v, v = %v, plane %d: %v, want %v", a, m, v, k, out[k][i], want[k])
					}
				}
			}
			t.Logf("a = %v: worst %.2g", a, worst)
		})
	}
}

// The outputs may take the place of the inputs, at any length.
func TestLeakyMomentsShapes(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for n := range 300 {
			var p [8][]float32
			for k := range p {
				p[k] = make([]float32, n)
			}
			for i := range n {
				p[0][i], p[1][i] = float32(i%13)-6, float32(i%5)/2
			}
			m, v := append([]float32(nil), p[0]...), append([]float32(nil), p[1]...)
			LeakyMoments(Moments[float32]{Mean: p[2], Var: p[3], MM: p[4], MV: p[5], VM: p[6], VV: p[7]}, 0.1, m, v)
			LeakyMoments(Moments[float32]{Mean: m, Var: v}, 0.1, m, v)
			for i := range n {
				j := leakyJet(float64(float32(0.1)), float64(p[0][i]), float64(p[1][i])).planes()
				for k, want := range j {
					if got := p[2+k][i]; math.Abs(float64(got)-want) > 1e-5 {
						t.Fatalf("length %d, element %d, plane %d: %v, want %v", n, i, k, got, want)
					}
				}
				if !computetest.Same32(m[i], p[2][i]) || !computetest.Same32(v[i], p[3][i]) {
					t.Fatalf("length %d, element %d: %v %v in place, %v %v with the Jacobian", n, i, m[i], v[i], p[2][i], p[3][i])
				}
			}
		}
	})
}

func TestLeakyMomentsEdges(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		a, m, v float32
		want    [6]float32
	}{
		{0.25, -2, 0, [6]float32{-0.5, 0, 0.25, 0, 0, 0.0625}},
		{0.25, 2, 0, [6]float32{2, 0, 1, 0, 0, 1}},
		{0.25, 0, 0, [6]float32{0, 0, 0.25, 0, 0, 0.0625}},
		{0, -2, 0, [6]float32{0, 0, 0, 0, 0, 0}},
		{-1, -2, 0, [6]float32{2, 0, -1, 0, 0, 1}},
		{0.25, 3e30, 4, [6]float32{3e30, 4, 1, 0, 0, 1}},
		{0.25, -3e30, 4, [6]float32{-3e30 / 4, 0.25, 0.25, 0, 0, 0.0625}},
		{0.25, inf, 4, [6]float32{inf, 4, 1, 0, 0, 1}},
		{0, -inf, 4, [6]float32{0, 0, 0, 0, 0, 0}},
		{0.25, nan, 4, [6]float32{nan, nan, nan, nan, nan, nan}},
		{0.25, 1, nan, [6]float32{nan, nan, nan, nan, nan, nan}},
		{0.25, 1, -1, [6]float32{nan, nan, nan, nan, nan, nan}},
	} {
		computetest.EachFamily(t, func(t *testing.T) {
			var p [6][1]float32
			LeakyMoments(Moments[float32]{Mean: p[0][:], Var: p[1][:], MM: p[2][:], MV: p[3][:], VM: p[4][:], VV: p[5][:]}, c.a, []float32{c.m}, []float32{c.v})
			for k := range p {
				if g, w := p[k][0], c.want[k]; g != w && !(g != g && w != w) {
					t.Errorf("%v, plane %d: %v", c, k, g)
				}
			}
			var mean, variance [1]float32
			LeakyMoments(Moments[float32]{Mean: mean[:], Var: variance[:]}, c.a, []float32{c.m}, []float32{c.v})
			if !computetest.Same32(mean[0], p[0][0]) || !computetest.Same32(variance[0], p[1][0]) {
				t.Errorf("%v: %v %v without the Jacobian", c, mean, variance)
			}
		})
	}
}
