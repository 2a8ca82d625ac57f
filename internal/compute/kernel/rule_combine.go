package kernel

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// Combine sums what was seen at the fixed nodes xi with weights w (Σ w = 1):
// values f and, for the Jacobian, slopes d (both P planes). With e = f − f_ref
// and M = Σ w e,
//
//	mean = f_ref + M             MM = Σ w f'            MV = Σ w ξ f' / 2s
//	var  = c·Σ w (e−M)²          VM = 2c Σ w (e−M) f'   VV = 2c Σ w (e−M) ξ f' / 2s
//
// where s = √v as Points left it. At s = 0 the points coincide and the Jacobian
// takes its limits: MM = f'_ref, MV = 0, VM = 0, VV = f'_ref².
func Combine[T compute.Float](o Moments[T], s, f, d, xi, w []T, ref int, c T) {
	n, points := len(o.Mean), len(xi)
	if len(w) != points || uint(ref) >= uint(points) {
		panic("compute: Combine needs a weight for each node, and a reference among them")
	}
	check(&o, s, f, d, n*points)
	if n == 0 {
		return
	}
	if cpu.Is32[T]() && cpu.Vector {
		combineVector(moments32(&o), cpu.As32(s), cpu.As32(f), cpu.As32(d), cpu.As32(xi), cpu.As32(w), ref, float32(c))
		return
	}
	for i := range n {
		combineOne(&o, i, s, f, d, &nodes[T]{xi, w, ref, c})
	}
}

// check panics unless o, s, f and d hold what Combine needs; size is that of a
// plane stack.
func check[T compute.Float](o *Moments[T], s, f, d []T, size int) {
	n := len(o.Mean)
	if len(o.Var) != n || len(f) != size {
		panic("compute: Combine lengths differ")
	}
	if o.MM != nil && (len(o.MM) != n || len(o.MV) != n || len(o.VM) != n || len(o.VV) != n ||
		len(s) != n || len(d) != size) {
		panic("compute: Combine lengths differ in the Jacobian")
	}
}

// nodes are a rule's, with their weights, the reference and the factor of the variance.
type nodes[T compute.Float] struct {
	xi, w []T
	ref   int
	c     T
}

// combineOne combines element i.
func combineOne[T compute.Float](o *Moments[T], i int, s, f, d []T, q *nodes[T]) {
	xi, w := q.xi, q.w
	ref, c := q.ref, q.c
	n := len(o.Mean)
	points := len(f) / n
	f0 := f[ref*n+i]
	var m T
	for p := range points {
		m += T(w[p] * (f[p*n+i] - f0))
	}
	var v, mm, ms, vm, vs T
	for p := range points {
		r := (f[p*n+i] - f0) - m
		wr := T(w[p] * r)
		v += T(wr * r)
		if o.MM != nil {
			t, g := xi[p], d[p*n+i]
			wg, wrg := T(w[p]*g), T(wr*g)
			mm += wg
			ms += T(t * wg)
			vm += wrg
			vs += T(t * wrg)
		}
	}
	o.Mean[i] = f0 + m
	o.Var[i] = c * v
	if o.MM == nil {
		return
	}
	if s[i] == 0 {
		g := d[ref*n+i]
		o.MM[i] = g
		o.MV[i] = 0
		o.VM[i] = 0
		o.VV[i] = g * g
		return
	}
	h := 0.5 / s[i]
	o.MM[i] = mm
	o.MV[i] = ms * h
	o.VM[i] = 2 * c * vm
	o.VV[i] = 2 * c * vs * h
}
