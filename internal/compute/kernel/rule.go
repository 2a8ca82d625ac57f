package kernel

import (
	"math"
	"unsafe"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// This file is the arithmetic of a point rule (see ARCHITECTURE.md) over planes of
// P·n values, point-major: value of point p, element i at [p*n+i]. Sums run over
// p in ascending order. The bits of an element depend on nothing but its own
// inputs: not on n, its position or its neighbours. The families differ by
// rounding only: by a few units in the last place of the largest term of a sum.

// Moments holds, per element, the mean and variance of a function of a Gaussian
// and, unless MM is nil, their derivatives by the Gaussian's mean and variance.
type Moments[T compute.Float] struct {
	Mean, Var []T
	MM, MV    []T // ∂mean/∂m, ∂mean/∂v
	VM, VV    []T // ∂var/∂m, ∂var/∂v
}

// moments32 is o as what it is where is32 holds. Moments go by pointer within
// the package: copying six slices costs as much as combining a hundred elements.
func moments32[T compute.Float](o *Moments[T]) *Moments[float32] {
	return (*Moments[float32])(unsafe.Pointer(o))
}

// Points writes s = √v and the points x[p*n+i] = m[i] + xi[p]·s[i] of fixed
// nodes xi.
func Points[T compute.Float](m, v, s, x, xi []T) {
	n := len(m)
	if len(v) != n || len(s) != n || len(x) != n*len(xi) {
		panic("compute: Points lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 && len(xi) > 0 {
		pointsVector(cpu.As32(m), cpu.As32(v), cpu.As32(s), cpu.As32(x), cpu.As32(xi))
		return
	}
	roots(v, s)
	for p, t := range xi {
		x := x[p*n:][:n]
		for i, m := range m {
			x[i] = m + T(t*s[i])
		}
	}
}

// PointsEach is Points with drawn nodes, xi[p*n+i] for each element its own. x may
// be xi.
func PointsEach[T compute.Float](m, v, s, x, xi []T) {
	n := len(m)
	if len(v) != n || len(s) != n || len(x) != len(xi) || n > 0 && len(x)%n != 0 {
		panic("compute: PointsEach lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 && len(xi) > 0 {
		pointsEachVector(cpu.As32(m), cpu.As32(v), cpu.As32(s), cpu.As32(x), cpu.As32(xi))
		return
	}
	roots(v, s)
	for p := 0; p < len(x); p += n {
		x, xi := x[p:][:n], xi[p:][:n]
		for i, m := range m {
			x[i] = m + T(xi[i]*s[i])
		}
	}
}

func roots[T compute.Float](v, s []T) {
	for i, v := range v {
		s[i] = T(math.Sqrt(float64(v)))
	}
}

// VJP pulls gradients gm, gv with respect to the moments o back to the mean and
// variance they came from. dm and dv may be gm and gv.
func VJP[T compute.Float](gm, gv []T, o Moments[T], dm, dv []T) {
	n := len(gm)
	if len(gv) != n || len(dm) != n || len(dv) != n || len(o.MM) != n || len(o.MV) != n || len(o.VM) != n || len(o.VV) != n {
		panic("compute: VJP lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		vjpVector(cpu.As32(gm), cpu.As32(gv), moments32(&o), cpu.As32(dm), cpu.As32(dv))
		return
	}
	for i := range gm {
		a, b := gm[i], gv[i]
		dm[i] = T(a*o.MM[i]) + T(b*o.VM[i])
		dv[i] = T(a*o.MV[i]) + T(b*o.VV[i])
	}
}

// Square writes dst = x².
func Square[T compute.Float](dst, x []T) {
	if len(dst) != len(x) {
		panic("compute: Square lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && len(x) > 0 {
		squareVector(cpu.As32(dst), cpu.As32(x))
		return
	}
	for i, x := range x {
		dst[i] = x * x
	}
}
