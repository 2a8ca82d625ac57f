package kernel

import (
	"math"

	"utvi/internal/compute/internal/cpu"
	"utvi/internal/special"
)

// LeakyMoments sets o to the exact moments of f(x) = x for x > 0, else a·x, of
// x ~ N(m[i], v[i]), with their derivatives if o.MM is not nil.
//
// With z = m/√v, t = |z|, c = f'(m), s the sign of z, φ = φ(t), M(t) the Mills
// ratio, K = 1 − tM and J = M − tK (all positive):
//
//	mean     = f(m) + (1−a)·σφK
//	variance = v·(c² − s(1−a)φ·[(1+a)J + 2c·tK + s(1−a)φK²])
//	mm = c − s(1−a)φM          mv = (1−a)φ/(2σ)
//	vm = 2σ(1−a)φ·[c(t+φK)M + (1+a−c)K(1−φM)]
//	vv = c² − s(1−a)φ·[(1+a)M + c·t + s(1−a)φK]
//
// so that nothing cancels for a = 0 however far the tail. v = 0 yields
// (f(m), 0) and (c, 0, 0, c²).
//
// All are within 2e-6 relative for |z| ≤ 12.5 (1.5e-6 measured, the variance for
// a < 0 near z = 0; 1e-6 for a ≥ 0), or of the sum of the magnitudes of their
// terms where these have opposite signs: the mean for 0 < a on the left, mm, vm
// and vv for a < 0. Beyond, φ leaves the normal float32 and the terms with it
// fade to zero by z = 14.5. Variances below 2⁻¹⁰⁰ lose digits in the tails.
//
// o.Mean may be m and o.Var v; no other slices may overlap.
func LeakyMoments(o Moments[float32], a float32, m, v []float32) {
	n := len(m)
	if len(v) != n || len(o.Mean) != n || len(o.Var) != n ||
		o.MM != nil && (len(o.MM) != n || len(o.MV) != n || len(o.VM) != n || len(o.VV) != n) {
		panic("compute: LeakyMoments lengths differ")
	}
	switch {
	case n == 0:
	case cpu.Vector:
		leakyMomentsVector(&o, a, m, v)
	default:
		leakyMomentsGo(&o, a, m, v)
	}
}

func leakyMomentsGo(o *Moments[float32], a float32, m, v []float32) {
	for i := range m {
		j := leakyJet(float64(a), float64(m[i]), float64(v[i]))
		o.Mean[i], o.Var[i] = float32(j.mean), float32(j.variance)
		if o.MM != nil {
			o.MM[i] = float32(j.mm)
			o.MV[i] = float32(j.mv)
			o.VM[i] = float32(j.vm)
			o.VV[i] = float32(j.vv)
		}
	}
}

type jet struct{ mean, variance, mm, mv, vm, vv float64 }

func leakyJet(a, m, v float64) jet {
	f, c := leakyReLU(a, m)
	if v == 0 {
		return jet{mean: f, mm: c, vv: c * c}
	}
	const huge = 40 // φ is far below any float32 from here on
	σ := math.Sqrt(v)
	t := min(math.Abs(m/σ), huge)
	s := -1.0 // also at the kink, where f' is that of the left side
	if m > 0 {
		s = 1
	}
	φ := special.PDF(t)
	i := special.Tail(t)
	M := i.I0
	K := i.I1
	J := 2 * i.I2
	b := 1 - a
	return jet{
		mean:     f + b*σ*φ*K,
		variance: v * (c*c - s*b*φ*((1+a)*J+2*c*t*K+s*b*φ*K*K)),
		mm:       c - s*b*φ*M,
		mv:       b * φ / (2 * σ),
		vm:       2 * σ * b * φ * (c*(t+φ*K)*M + (1+a-c)*K*(1-φ*M)),
		vv:       c*c - s*b*φ*((1+a)*M+c*t+s*b*φ*K),
	}
}
