package kernel

import (
	"unsafe"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// This file is the arithmetic of sensitivities; see nn/sense.go. Every family computes
// the same bits, but for the order of the sum in Dot3.

// Dot3 is Σ e∘a∘b.
func Dot3[T compute.Float](e, a, b []T) T {
	a, b = a[:len(e)], b[:len(e)]
	if cpu.Is32[T]() && cpu.Vector && len(e) > 0 {
		return T(dot3Vector(cpu.As32(e), cpu.As32(a), cpu.As32(b)))
	}
	var sum [4]T
	for i, e := range e {
		sum[i%4] += T(T(e*a[i]) * b[i])
	}
	return (sum[0] + sum[1]) + (sum[2] + sum[3])
}

// Rest computes e = max(0, total − g²v), what a nonlinearity of slope g adds to the
// variance beyond what it passes on.
func Rest[T compute.Float](e, total, g, v []T) {
	total = total[:len(e)]
	g = g[:len(e)]
	v = v[:len(e)]
	if cpu.Is32[T]() && cpu.Vector && len(e) > 0 {
		restVector(cpu.As32(e), cpu.As32(total), cpu.As32(g), cpu.As32(v))
		return
	}
	for i := range e {
		e[i] = max(0, total[i]-T(T(g[i]*g[i])*v[i]))
	}
}

// MulAdd computes dst += x∘y.
func MulAdd[T compute.Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	if cpu.Is32[T]() && cpu.Vector && len(dst) > 0 {
		mulAddVector(cpu.As32(dst), cpu.As32(x), cpu.As32(y))
		return
	}
	for i := range dst {
		dst[i] += T(x[i] * y[i])
	}
}

// InjectBack is the reverse of h·Σ e∘a∘c: de += h·c∘a and db += 2h·c∘e.
func InjectBack[T compute.Float](de, db, a, c, e []T, h T) {
	n := len(de)
	db = db[:n]
	a = a[:n]
	c = c[:n]
	e = e[:n]
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		injectBackVector(cpu.As32(de), cpu.As32(db), cpu.As32(a), cpu.As32(c), cpu.As32(e), float32(h))
		return
	}
	for i := range de {
		t := h * c[i]
		x := T(t * e[i])
		de[i] += T(t * a[i])
		db[i] += x + x
	}
}

// A Slope is the slope g of a nonlinearity with its derivatives by the input's mean and variance,
// and those of the output's variance V.
type Slope[T compute.Float] struct{ G, GM, GV, VM, VV []T }

// RestBack takes the gradients dg by the slope, in dm, and de by the rest of a
// nonlinearity to those by the mean and the variance of its input,
//
//	t = dg − 2gv·de      dm = t·∂g/∂m + de·∂V/∂m      dv = t·∂g/∂v + de·(∂V/∂v − g²)
func RestBack[T compute.Float](dm, dv, de, v []T, x *Slope[T]) {
	n := len(dm)
	for _, s := range [...][]T{dv, de, v, x.G, x.GM, x.GV, x.VM, x.VV} {
		_ = s[:n]
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		restBackVector(cpu.As32(dm), cpu.As32(dv), cpu.As32(de), cpu.As32(v), (*Slope[float32])(unsafe.Pointer(x)))
		return
	}
	for i := range dm {
		s, d := x.G[i], de[i]
		t := T(v[i] * s)
		t = dm[i] - T((t+t)*d)
		dm[i] = T(t*x.GM[i]) + T(d*x.VM[i])
		dv[i] = T(d*(x.VV[i]-T(s*s))) + T(x.GV[i]*t)
	}
}

// LeakySlopes computes the derivatives of the slope of a leaky ReLU by its closed form:
// by the mean, 2·mv, and by the variance, −mv·m/v or 0 where v is 0.
func LeakySlopes[T compute.Float](gm, gv, mv, m, v []T) {
	n := len(gm)
	gv = gv[:n]
	mv = mv[:n]
	m = m[:n]
	v = v[:n]
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		leakySlopesVector(cpu.As32(gm), cpu.As32(gv), cpu.As32(mv), cpu.As32(m), cpu.As32(v))
		return
	}
	for i, x := range mv {
		gm[i], gv[i] = x+x, 0
		if v[i] > 0 {
			gv[i] = 0 - T(x*m[i])/v[i]
		}
	}
}

// A Seen is what was seen of a function at the points of a rule: values F and slopes D at m + ξs, with
// weights W, and its slope MM at a point, where the points coincide.
type Seen[T compute.Float] struct{ S, V, M, MM, F, D, Xi, W []T }

// Slopes computes the slope g = Σ w ξ f/s of a function seen at points m + ξs, and its
// derivative by the variance v = s², (Σ w ξ² f' − g)/(2v); f and d are planes of values
// and slopes, as Combine takes them. Where s is less than small·(1+|m|) differences of
// values resolve nothing: there the slope is mm, and its derivative 0.
func Slopes[T compute.Float](g, gv []T, x *Seen[T], small T) {
	s, v := x.S, x.V
	m, mm := x.M, x.MM
	f, d := x.F, x.D
	n := len(s)
	if len(g) != n || len(gv) != n || len(v) != n || len(m) != n || len(mm) != n || len(f) != n*len(x.Xi) || len(d) != len(f) {
		panic("compute: Slopes lengths differ")
	}
	clear(g)
	clear(gv)
	ref := f[:n] // values are measured from the first point: nothing cancels, as Σ w ξ = 0
	for p, xi := range x.Xi {
		if a := x.W[p] * xi; a != 0 {
			slopeSums(g, gv, f[p*n:][:n], ref, d[p*n:][:n], a, a*xi)
		}
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		slopeEndsVector(cpu.As32(g), cpu.As32(gv), cpu.As32(s), cpu.As32(v), cpu.As32(m), cpu.As32(mm), float32(small))
		return
	}
	for i, s := range s {
		if s < small+T(small*max(m[i], -m[i])) {
			g[i], gv[i] = mm[i], 0
			continue
		}
		g[i] /= s
		gv[i] = (gv[i] - g[i]) / (v[i] + v[i])
	}
}

func slopeSums[T compute.Float](g, gv, f, ref, d []T, a, b T) {
	if cpu.Is32[T]() && cpu.Vector && len(g) > 0 {
		slopeSumsVector(cpu.As32(g), cpu.As32(gv), cpu.As32(f), cpu.As32(ref), cpu.As32(d), float32(a), float32(b))
		return
	}
	for i := range g {
		g[i] += T(a * (f[i] - ref[i]))
		gv[i] += T(b * d[i])
	}
}
