package fit

import (
	"math"

	"utvi/dist"
)

// A gainTally sums differences of log-likelihoods.
type gainTally struct{ rows, weights, sum, squares float64 }

func (g *gainTally) add(d, weight float64) {
	if weight == 0 {
		return
	}
	g.rows++
	g.weights += weight
	g.sum += weight * d
	g.squares += weight * d * d
}

func (g *gainTally) merge(o gainTally) {
	g.rows += o.rows
	g.weights += o.weights
	g.sum += o.sum
	g.squares += o.squares
}

func (g *gainTally) gain() Gain {
	if g.rows == 0 {
		return Gain{}
	}
	mean := g.sum / g.weights
	return Gain{mean, math.Sqrt(max(0, g.squares/g.weights-mean*mean) / g.rows)}
}

// logClass is ln of the probability of a class, bounded as the score is.
func logClass(p dist.Categorical, class int) float64 {
	const least = 1e-30
	return math.Log(max(p[class], least))
}
