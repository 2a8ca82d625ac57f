package bayes

import (
	"math"

	"utvi/dist"
	"utvi/metric"
)

// leastProbability keeps the logarithm of a probability finite.
const leastProbability = 1e-12

// logits are numbers whose softmax are the network's probabilities.
func (k task) logits(out []float32) []float64 {
	z := make([]float64, len(out))
	for i, x := range out {
		z[i] = float64(x)
		if !k.softmax && !k.log { // they are probabilities
			z[i] = math.Log(max(z[i], leastProbability))
		}
	}
	return z
}

// probabilities writes the softmax of z/temperature to p.
func probabilities(p dist.Categorical, z []float64, temperature float64) {
	most := math.Inf(-1)
	for _, x := range z {
		most = max(most, x)
	}
	var sum float64
	for j, x := range z {
		p[j] = math.Exp((x - most) / temperature)
		sum += p[j]
	}
	for j := range p {
		p[j] /= sum
	}
}

func classes(z []float64, width int, y []float32, temperature float64) *metric.ClassificationScores {
	var all metric.Classification
	for i, class := range y {
		p := make(dist.Categorical, width)
		probabilities(p, z[i*width:][:width], temperature)
		all.Add(int(class), p, 1)
	}
	s := all.Scores()
	return &s
}

// classRows is the log-likelihood of each row.
func classRows(z []float64, width int, y []float32, temperature float64) []float64 {
	p := make(dist.Categorical, width)
	rows := make([]float64, len(y))
	for i, class := range y {
		probabilities(p, z[i*width:][:width], temperature)
		rows[i] = math.Log(max(p[int(class)], leastProbability))
	}
	return rows
}

// bestTemperature is the temperature with the largest log-likelihood, between 1/100 and 100.
// The log-likelihood is concave in 1/temperature.
func bestTemperature(z []float64, width int, y []float32) float64 {
	score := func(logT float64) (sum float64) {
		for _, x := range classRows(z, width, y, math.Exp(logT)) {
			sum += x
		}
		return sum
	}
	const golden = 0.6180339887498949
	lo, hi := -math.Log(100), math.Log(100)
	for hi-lo > 1e-3 {
		a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
		if score(a) < score(b) {
			lo = a
		} else {
			hi = b
		}
	}
	return math.Exp((lo + hi) / 2)
}
