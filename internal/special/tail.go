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
// forms, which lose all digits like x⁴·ε: by the backward recurrence
// Iₙ₋₂ = x·Iₙ₋₁ + n·Iₙ (Miller), all terms positive, normalised by I₋₁ = 1.
func Tail(x float64) TailIntegrals {
	switch {
	case x < 1.5:
		m := Mills(x)
		i1 := 1 - x*m
		return TailIntegrals{m, i1, (m - x*i1) / 2}
	case x > 1e8: // the next term is below ε
		r := 1 / x
		return TailIntegrals{r, r * r, r * r * r}
	}
	// From here on the start is forgotten to the last bit.
	n := 6 + 60/x + 160/(x*x)
	last, next := 1.0, 2/(x+math.Sqrt(x*x+4*n))
	for n = math.Floor(n); n > 2; n-- {
		last, next = x*last+n*next, last
	}
	i2, i1 := next, last
	i0 := x*i1 + 2*i2
	scale := 1 / (x*i0 + i1)
	return TailIntegrals{i0 * scale, i1 * scale, i2 * scale}
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
