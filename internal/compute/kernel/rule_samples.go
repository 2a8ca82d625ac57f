package kernel

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// Samples gathers the moments of drawn values, any number of planes at a time,
// so that many samples need not lie in the cache together. With e = f − ref,
// where ref is the mean of the planes that came first, it keeps
//
//	Σe  Σe²    Σf'  Σξf'  Σef'  Σeξf'
//
// Subtracting the square of the mean of e afterwards costs few digits: the mean of
// k out of P numbers is never farther than √(P/k − 1) standard deviations from
// the mean of them all.
type Samples[T compute.Float] struct {
	n, planes      int
	ref, slope     []T // slope: f' of the first plane
	e, ee          []T
	g, xg, eg, exg []T
}

// NewSamples has room for n elements.
func NewSamples[T compute.Float](n int) *Samples[T] {
	p := make([]T, 8*n)
	cut := func(i int) []T { return p[i*n : (i+1)*n : (i+1)*n] }
	return &Samples[T]{ref: cut(0), slope: cut(1), e: cut(2), ee: cut(3), g: cut(4), xg: cut(5), eg: cut(6), exg: cut(7)}
}

// Begin forgets everything; what is added from now on has n elements.
func (a *Samples[T]) Begin(n int) {
	if uint(n) > uint(len(a.ref)) {
		panic("compute: Samples has no room for as many elements")
	}
	a.n, a.planes = n, 0
}

// Add takes planes of values f and, unless d is nil, of their slopes d and nodes
// xi: value of sample p, element i at f[p*n+i]. Either all calls bring slopes or
// none.
func (a *Samples[T]) Add(f, d, xi []T) {
	n := a.n
	if n == 0 || len(f) == 0 {
		return
	}
	if len(f)%n != 0 || d != nil && (len(d) != len(f) || len(xi) != len(f)) {
		panic("compute: Samples lengths differ")
	}
	first := a.planes == 0
	a.planes += len(f) / n
	if first && d != nil {
		copy(a.slope[:n], d)
	}
	if cpu.Is32[T]() && cpu.Vector {
		addSamplesVector(samples32(a), cpu.As32(f), cpu.As32(d), cpu.As32(xi), first)
		return
	}
	if first {
		a.start(f)
	}
	for i := range n {
		for p := i; p < len(f); p += n {
			e := f[p] - a.ref[i]
			a.e[i] += e
			a.ee[i] += T(e * e)
			if d != nil {
				t := T(e * d[p])
				a.g[i] += d[p]
				a.xg[i] += T(xi[p] * d[p])
				a.eg[i] += t
				a.exg[i] += T(xi[p] * t)
			}
		}
	}
}

// start puts ref at the mean of the first planes and empties the sums.
func (a *Samples[T]) start(f []T) {
	n := a.n
	for _, s := range [...][]T{a.e, a.ee, a.g, a.xg, a.eg, a.exg} {
		clear(s[:n])
	}
	w := 1 / T(len(f)/n)
	for i := range n {
		var sum T
		for p := i; p < len(f); p += n {
			sum += f[p] - f[i]
		}
		a.ref[i] = f[i] + T(w*sum)
	}
}

// Moments writes the sample mean, the P−1 variance and, unless o.MM is nil, their
// Jacobian, with s = √v as for Combine.
func (a *Samples[T]) Moments(o Moments[T], s []T) {
	n := a.n
	if a.planes < 2 {
		panic("compute: Samples of fewer than two planes")
	}
	check(&o, s, a.ref[:n], a.ref[:n], n)
	if n == 0 {
		return
	}
	w, c := 1/T(a.planes), 1/T(a.planes-1)
	if cpu.Is32[T]() && cpu.Vector {
		samplesMoments(samples32(a), moments32(&o), cpu.As32(s), float32(w), float32(c))
		return
	}
	for i := range n {
		m := T(w * a.e[i])
		o.Mean[i] = a.ref[i] + m
		o.Var[i] = c * max(0, a.ee[i]-T(m*a.e[i]))
		if o.MM == nil {
			continue
		}
		if s[i] == 0 {
			g := a.slope[i]
			o.MM[i] = g
			o.MV[i] = 0
			o.VM[i] = 0
			o.VV[i] = g * g
			continue
		}
		h := 0.5 / s[i]
		o.MM[i], o.MV[i] = w*a.g[i], w*a.xg[i]*h
		o.VM[i] = 2 * c * (a.eg[i] - T(m*a.g[i]))
		o.VV[i] = 2 * c * (a.exg[i] - T(m*a.xg[i])) * h
	}
}

// samples32 is a as what it is where is32 holds.
func samples32[T compute.Float](a *Samples[T]) *Samples[float32] { return any(a).(*Samples[float32]) }
