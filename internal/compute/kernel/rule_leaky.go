package kernel

import (
	"math"

	"utvi/internal/compute/internal/cpu"
)

// LeakyThree pushes moments m, v through leaky-ReLU with slope a by a rule of
// three points, the first with ξ = 0: Points, Eval and Combine in one pass. It is
// the one pair of rule and function that has a kernel of its own. Leaky-ReLU costs
// so little that moving the points between three kernels took most of the time;
// and with g the slopes, the differences that the sums need are
//
//	e = f − f₀ = g·ξσ + (g − g₀)·m
//
// whose second term is exactly zero on one side of the kink: nothing cancels,
// however small σ is beside m.
func LeakyThree(o Moments[float32], a float32, m, v, xi, w []float32) {
	n := len(m)
	if len(xi) != 3 || len(w) != 3 || xi[0] != 0 {
		panic("compute: LeakyThree needs three nodes, the first 0")
	}
	if len(v) != n || len(o.Mean) != n || len(o.Var) != n ||
		o.MM != nil && (len(o.MM) != n || len(o.MV) != n || len(o.VM) != n || len(o.VV) != n) {
		panic("compute: LeakyThree lengths differ")
	}
	if n == 0 {
		return
	}
	if cpu.Vector && a <= 1 { // leaky-ReLU is the larger of its branches
		leakyThreeVector(&o, a, m, v, xi, w)
		return
	}
	for i := range m {
		leakyThreeOne(&o, i, a, m[i], v[i], xi, w)
	}
}

// leakyThreeOne pushes element i.
func leakyThreeOne(o *Moments[float32], i int, a, m, v float32, xi, w []float32) {
	slope := func(x float32) float32 {
		if x > 0 {
			return 1
		}
		return a
	}
	s := float32(math.Sqrt(float64(v)))
	d1, d2 := xi[1]*s, xi[2]*s
	g0 := slope(m)
	g1 := slope(m + d1)
	g2 := slope(m + d2)
	e1 := float32(d1*g1) + float32((g1-g0)*m)
	e2 := float32(d2*g2) + float32((g2-g0)*m)
	M := float32(w[1]*e1) + float32(w[2]*e2)
	r1, r2 := e1-M, e2-M
	q0 := w[0] * M
	q1 := w[1] * r1
	q2 := w[2] * r2
	o.Mean[i] = float32(m*g0) + M
	o.Var[i] = float32(q0*M) + float32(q1*r1) + float32(q2*r2)
	if o.MM == nil {
		return
	}
	if s == 0 {
		o.MM[i] = g0
		o.MV[i] = 0
		o.VM[i] = 0
		o.VV[i] = g0 * g0
		return
	}
	t1, t2 := q1*g1, q2*g2
	o.MM[i] = float32(w[0]*g0) + float32(w[1]*g1) + float32(w[2]*g2)
	o.MV[i] = (float32(w[1]*xi[1]*g1) + float32(w[2]*xi[2]*g2)) / (2 * s)
	o.VM[i] = 2 * (t1 + t2 - float32(q0*g0))
	o.VV[i] = (float32(t1*xi[1]) + float32(t2*xi[2])) / s
}
