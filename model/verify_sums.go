package model

import (
	"math"

	"utvi/gauss"
)

// sums are over drawn networks, of each element: of the powers 1 to 4 of its distance
// to the propagated mean, so that little cancels, and of the variance that the drawn
// networks carry themselves.
type sums struct {
	d [4][]float64
	v []float64
}

func newSums(size int) (s sums) {
	for k := range s.d {
		s.d[k] = make([]float64, size)
	}
	s.v = make([]float64, size)
	return s
}

// addTo takes in what a drawn network gave.
func addTo[T gauss.Float](s sums, out gauss.Batch[T], want []T) {
	for i, y := range out.Mean {
		d := float64(y) - float64(want[i])
		d2 := d * d
		s.d[0][i] += d
		s.d[1][i] += d2
		s.d[2][i] += d2 * d
		s.d[3][i] += d2 * d2
	}
	for i, v := range out.Var {
		s.v[i] += float64(v)
	}
}

func (s sums) merge(o sums) {
	add := func(a, b []float64) {
		for i, x := range b {
			a[i] += x
		}
	}
	for k := range s.d {
		add(s.d[k], o.d[k])
	}
	add(s.v, o.v)
}

// An estimate is what drawn networks say of an element.
type estimate struct {
	bias   float64 // of the mean, from the propagated one
	sigma  float64
	chance float64 // the standard error of sigma, relative
}

// estimate returns that of element i. The variance s² of n draws has the standard error
// √((μ₄ − s⁴)/n), and σ half of that, relative: √((κ+2)/4n) with κ the excess kurtosis,
// which is 1/√2n for Normal draws alone.
func (s sums) estimate(i, networks int) estimate {
	n := float64(networks)
	b := s.d[0][i] / n
	m2 := s.d[1][i] / n
	m3 := s.d[2][i] / n
	m4 := s.d[3][i] / n
	central := math.Max(0, m2-b*b)
	fourth := m4 - 4*b*m3 + 6*b*b*m2 - 3*b*b*b*b
	variance := central*n/(n-1) + s.v[i]/n
	e := estimate{bias: b, sigma: math.Sqrt(variance)}
	if variance > 0 {
		e.chance = math.Sqrt(math.Max(0, fourth-central*central)/n) / (2 * variance)
	}
	return e
}

// constant reports whether an element of the given propagated mean varies by nothing
// but rounding: that of what was drawn, or that of its difference from the propagated mean,
// where all draws are 0.
func (e estimate) constant(mean float64) bool {
	return e.sigma <= 1e-6*max(math.Abs(mean), math.Abs(mean+e.bias))
}
