package dist

import "math"

// Categorical holds the probabilities of the classes 0, 1, …
type Categorical []float64

// LogPMF returns the natural logarithm of a class's probability.
func (c Categorical) LogPMF(class int) float64 { return math.Log(c[class]) }

// Entropy returns −Σ p ln p in nats, between 0 and the logarithm of the number of
// classes; NaN if a probability is.
func (c Categorical) Entropy() (h float64) {
	for _, p := range c {
		if p != 0 {
			h -= p * math.Log(p)
		}
	}
	return h
}

// Argmax returns the most probable class, the first of equals.
func (c Categorical) Argmax() (class int) {
	for i, p := range c {
		if p > c[class] {
			class = i
		}
	}
	return class
}
