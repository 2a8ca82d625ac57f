package fn

import (
	"math"

	"utvi/moment"
)

// LogSoftmax returns the map y_k = x_k − ln Σ exp(x_j), the logarithm of [Softmax], for
// any number of inputs. The logarithm of the moments of a softmax would not do: a Normal
// around a small probability reaches below zero, and probabilities below 1e-38 are 0 in
// float32.
func LogSoftmax() *moment.Map {
	return &moment.Map{Name: "log_softmax", F: logSoftmax, VJP: logSoftmaxVJP, ShiftInvariant: true}
}

func logSoftmax(x, y []float64) {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	var sum float64
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	for i, v := range x {
		y[i] = v - top - math.Log(sum)
	}
}

// logSoftmaxVJP is dx = dy − softmax(x)·Σ dy.
func logSoftmaxVJP(x, dy, dx []float64) {
	softmax(x, dx)
	var sum float64
	for _, d := range dy {
		sum += d
	}
	for i, p := range dx {
		dx[i] = dy[i] - p*sum
	}
}
