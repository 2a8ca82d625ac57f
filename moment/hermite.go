package moment

import (
	"fmt"
	"math"
	"math/big"
)

// GaussHermite returns the quadrature of the given order, 2 to 32, exact for
// polynomials up to degree 2·order−1. Order 3 is UT(2).
func GaussHermite(order int) Rule {
	r := nodes{name: fmt.Sprintf("gh(%d)", order)}
	if order < 2 || order > 32 {
		r.err = fmt.Errorf("gh: the order is %d; it must be 2 to 32", order)
		order = 3
	}
	r.xi, r.w = hermite(order)
	return r
}

// hermite returns the nodes and weights of the probabilists' Hermite quadrature,
// nodes in the order 0, −x₁, x₁, −x₂, x₂ … (the innermost first, so that point 0
// is the combiner's reference). Newton's method in 160 bits makes every node and
// weight the nearest float64. With He_n orthonormalised, w = 1/(n·h_{n−1}(x)²).
func hermite(n int) (xi, w []float64) {
	const prec = 160
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	zero := func() *big.Float { return new(big.Float).SetPrec(prec) }
	sqrt := func(k int) *big.Float { return zero().Sqrt(num(float64(k))) }

	// eval returns h_n(x) and h_{n−1}(x): √k·h_k = x·h_{k−1} − √(k−1)·h_{k−2}.
	eval := func(x *big.Float) (h, prev *big.Float) {
		prev, h = zero(), num(1)
		for k := 1; k <= n; k++ {
			next := zero().Mul(x, h)
			next.Sub(next, zero().Mul(sqrt(k-1), prev))
			next.Quo(next, sqrt(k))
			prev, h = h, next
		}
		return h, prev
	}
	roots := hermiteGuesses(n)
	for _, g := range roots {
		x := num(g)
		if g != 0 {
			for range 8 { // quadratic: 1e-10 → 1e-40 in two, the rest is margin
				h, prev := eval(x)
				h.Quo(h, zero().Mul(prev, sqrt(n))) // h_n' = √n·h_{n−1}
				x.Sub(x, h)
			}
		}
		_, prev := eval(x)
		weight := zero().Quo(num(1), zero().Mul(num(float64(n)), zero().Mul(prev, prev)))
		xf, _ := x.Float64()
		wf, _ := weight.Float64()
		if g == 0 {
			xi, w = append(xi, 0), append(w, wf)
			continue
		}
		xi, w = append(xi, -xf, xf), append(w, wf, wf)
	}
	return xi, w
}

// hermiteGuesses returns the non-negative roots of He_n in ascending order by
// bisection between sign changes.
func hermiteGuesses(n int) []float64 {
	h := func(x float64) float64 {
		prev, h := 0.0, 1.0
		for k := 1; k <= n; k++ {
			prev, h = h, (x*h-math.Sqrt(float64(k-1))*prev)/math.Sqrt(float64(k))
		}
		return h
	}
	var roots []float64
	if n%2 == 1 {
		roots = append(roots, 0)
	}
	const step = 0.01
	for a := step / 2; len(roots) < (n+1)/2; a += step {
		lo, hi := a, a+step
		if math.Signbit(h(lo)) == math.Signbit(h(hi)) {
			continue
		}
		for range 60 {
			if mid := (lo + hi) / 2; math.Signbit(h(mid)) == math.Signbit(h(lo)) {
				lo = mid
			} else {
				hi = mid
			}
		}
		roots = append(roots, (lo+hi)/2)
	}
	return roots
}
