package quad

import (
	"math"

	"utvi/internal/special"
	"utvi/moment"
)

// Hermite adds to c[k−1], for k = 1 … len(c), the coefficient E[f(m+σu)·h_k(u)] of a
// function over N(mean, variance), where h_k = He_k/√k! are the orthonormal Hermite
// polynomials: Var f = Σ c_k². It sums over fixed panels, split at kinks and at the
// places where functions change.
func Hermite(f *moment.Func, mean, variance float64, c []float64) {
	if variance == 0 {
		return
	}
	const far = 12 // |u| beyond which not even u⁶⁰φ counts
	r := &rise{f: f, mean: mean, sd: math.Sqrt(variance), f0: f.F(mean)}
	cuts := r.firstCuts()
	for i := range len(cuts) - 1 {
		lo, hi := max(cuts[i], -far), min(cuts[i+1], far)
		half, mid := (hi-lo)/2, (hi+lo)/2
		if half <= 0 {
			continue
		}
		add := func(u, w float64) {
			w *= half * special.PDF(u) * (f.F(r.mean+r.sd*u) - r.f0)
			prev, h := 0.0, 1.0
			for k := range c { // √(k+1)·h_{k+1} = u·h_k − √k·h_{k−1}
				prev, h = h, (u*h-math.Sqrt(float64(k))*prev)/math.Sqrt(float64(k+1))
				c[k] += w * h
			}
		}
		for i, x := range kronrodNodes {
			add(mid-half*x, kronrodWeights[i])
			if x != 0 {
				add(mid+half*x, kronrodWeights[i])
			}
		}
	}
}
