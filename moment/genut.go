package moment

import (
	"fmt"
	"math"
)

// GenUT returns the generalized unscented transform (Ebeigbe et al. 2021) for an
// input of the given standardised skewness S and kurtosis K ≥ S²+1. S = 0 and
// K = 3, those of the Normal, give UT(2).
//
//	u = ½(−S + √(4K−3S²)), u' = u + S; points m, m − uσ, m + u'σ
//	w₁ = 1/(u(u+u')), w₂ = 1/(u'(u+u')), w₀ = 1 − 1/(K−S²)
func GenUT(skewness, kurtosis float64) Rule {
	r := nodes{name: fmt.Sprintf("genut(%v,%v)", skewness, kurtosis)}
	s, k := skewness, kurtosis
	if !(k >= s*s+1) || math.IsInf(k, 0) {
		r.err = fmt.Errorf("genut: skewness %v and kurtosis %v are impossible; the kurtosis must be at least skewness² + 1", s, k)
		s, k = 0, 3
	}
	u := 0.5 * (-s + math.Sqrt(4*k-3*s*s))
	up := u + s
	r.xi = []float64{0, -u, up}
	r.w = []float64{1 - 1/(k-s*s), 1 / (u * (u + up)), 1 / (up * (u + up))}
	return r
}
