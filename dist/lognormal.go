package dist

import "math"

// AddLogNormal adds the prediction of a network that predicts its own noise: a value
// f ~ N(mean, variance) plus noise of variance e^ℓ with ℓ ~ N(logNoise, logNoiseVar),
//
//	p(y) = ∫ N(y; mean, variance + max(e^ℓ, floor)) · N(ℓ; logNoise, logNoiseVar) dℓ
//
// as Normals of one mean at nodes of ℓ. It is the density that
// likelihood.Heteroscedastic scores with. The nodes are the trapezoidal rule's over ±8.5
// standard deviations, which, unlike Gauss–Hermite's, still lie where the mass is when
// y is in the far tail. The density as a function of ℓ is analytic within ±iπ/2, so
// the rule's error falls like exp(−π²/(h·s)), s² = logNoiseVar: h = 0.9 is fine enough
// for small s (the logarithm of the density is right to 1e-7 while it is above −30); h
// falls in proportion beyond, and to 1/8 where the floor makes a kink.
func (m *Mixture) AddLogNormal(weight, mean, variance, logNoise, logNoiseVar, floor float64) {
	const (
		reach  = 8.5
		finest = 1.0 / 8
		most   = 690 // of ℓ: e^ℓ stays finite
	)
	s := math.Sqrt(logNoiseVar)
	if s == 0 {
		m.Add(weight, mean, math.Sqrt(variance+max(math.Exp(min(logNoise, most)), floor)))
		return
	}
	h := max(0.9/max(1, 3*s), finest)
	if low := math.Log(floor); logNoise-reach*s < low && logNoise+reach*s > low || logNoise+reach*s > most {
		h = finest
	}
	n := int(math.Ceil(reach / h))
	h = reach / float64(n) // the last node is what a hopeless y is scored with
	for i := -n; i <= n; i++ {
		xi := h * float64(i)
		w := weight * h * math.Exp(-xi*xi/2-halfLog2Pi)
		m.Add(w, mean, math.Sqrt(variance+max(math.Exp(min(logNoise+s*xi, most)), floor)))
	}
}
