package special

import "math"

// A TailIntegrals holds the first repeated integrals of the Normal tail over
// the density,
//
//	Iₙ(x) = (1/n!) ∫₀^∞ sⁿ exp(−x·s − s²/2) ds ,   I₋₁ = 1
//
// I₀ is the Mills ratio M, I₁ = 1 − x·M, 2·I₂ = (1+x²)·M − x. They carry the
// truncated moments E[(u−x)ⁿ; u > x] = n!·φ(x)·Iₙ(x) of a standard Normal u
// (Abramowitz & Stegun 7.2).
type TailIntegrals struct{ I0, I1, I2 float64 }

// Tail returns I₀, I₁ and I₂ at x ≥ 0 without the cancellation of their closed
// forms, which lose all digits like x⁴·ε.
func Tail(x float64) TailIntegrals {
	if x < 1.5 {
		m := Mills(x)
		i1 := 1 - x*m
		return TailIntegrals{m, i1, (m - x*i1) / 2}
	}
	var i [3]float64
	TailSeries(x, i[:])
	return TailIntegrals{i[0], i[1], i[2]}
}

// TailSeries fills dst with I₀(x) … Iₙ₋₁(x) for x ≥ 0: by the recurrence
// n·Iₙ = Iₙ₋₂ − x·Iₙ₋₁ upwards below x = 1, where it is stable for the first few
// dozen, and by Miller's backward form of it above, where every term is
// positive.
func TailSeries(x float64, dst []float64) {
	switch {
	case x < 1:
		before, last := 1.0, Mills(x)
		for n := range dst {
			dst[n] = last
			before, last = last, (before-x*last)/float64(n+1)
		}
		return
	case x > 1e8: // Iₙ = x⁻ⁿ⁻¹ to the last bit
		p := 1 / x
		for n := range dst {
			dst[n] = p
			p /= x
		}
		return
	}
	// Ratios rₙ = Iₙ/Iₙ₋₁ = 1/(x + (n+1)·rₙ₊₁), from far enough out that the
	// start is forgotten; the start is the ratio's own large-n form.
	n := len(dst)
	top := n + 8 + int(160/(x*x)) + int(60/x)
	r := 2 / (x + math.Sqrt(x*x+4*float64(top+1)))
	for k := top - 1; k >= n; k-- {
		r = 1 / (x + float64(k+1)*r)
	}
	for k := n - 1; k >= 0; k-- {
		r = 1 / (x + float64(k+1)*r)
		dst[k] = r
	}
	for k := 1; k < n; k++ {
		dst[k] *= dst[k-1]
	}
}
