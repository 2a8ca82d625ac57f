package special

import "math"

// NormalInverse returns g(t) = Φ⁻¹(sigmoid(t)), which turns a real number into
// a standard Normal quantile. g is odd, ≈ 0.627 t near 0 and grows like √(2t):
// finite for every finite t, since the tail is taken from
// −ln(1−sigmoid(t)) = softplus(t) and never from the probability itself.
func NormalInverse(t float64) float64 {
	a := math.Abs(t)
	if a < 2.5 {
		return centralQuantile(math.Tanh(t/2) / 2)
	}
	return math.Copysign(tailQuantile(Softplus(a)), t)
}

// NormalInverseJet returns g, g′ and g″ of NormalInverse at t. With a = |t|,
// x = |g| and M the Mills ratio,
//
//	g′ = sigmoid(a)·M(x)
//	g″ = sign(t)·g′·sigmoid(a)·(e⁻ᵃ − (1 − x·M(x)))
//
// where the textbook forms, s(1−s)/φ(g) and g′·(g·g′ + 1 − 2s), are 0/0 in the
// tails.
func NormalInverseJet(t float64) (g, d1, d2 float64) {
	g = NormalInverse(t)
	a, x := math.Abs(t), math.Abs(g)
	if math.IsInf(x, 1) {
		return g, 0, 0
	}
	i := Tail(x)
	s := Sigmoid(a)
	d1 = s * i.I0
	d2 = d1 * s * (math.Exp(-a) - i.I1)
	return g, d1, math.Copysign(1, t) * d2
}
