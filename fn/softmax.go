package fn

import (
	"fmt"
	"math"

	"utvi/moment"
)

// Softmax returns the map y_k = exp(x_k) / Σ exp(x_j), for any number of inputs.
// It couples them: it belongs into nn.Joint, not into nn.Apply.
func Softmax() *moment.Map {
	return &moment.Map{Name: "softmax", F: softmax, VJP: softmaxVJP, Own: newSoftmaxMoments}
}

// softmax counts from the largest input, so that nothing overflows.
func softmax(x, y []float64) {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	var sum float64
	for i, v := range x {
		y[i] = math.Exp(v - top)
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
}

// softmaxVJP is dx = y∘(dy − ⟨dy, y⟩).
func softmaxVJP(x, dy, dx []float64) {
	softmax(x, dx)
	var mean float64
	for i, y := range dx {
		mean += y * dy[i]
	}
	for i, y := range dx {
		dx[i] = y * (dy[i] - mean)
	}
}

// NamedMap returns the coupled map of that name, so that a saved model finds its
// maps again.
func NamedMap(name string) (*moment.Map, error) {
	if name == "softmax" {
		return Softmax(), nil
	}
	return nil, fmt.Errorf("fn: no map %q; there is softmax", name)
}

// coupled is what Named answers for the name of a map.
func coupled(name string) error {
	if _, err := NamedMap(name); err != nil {
		return nil
	}
	return fmt.Errorf("fn: %s couples its inputs and cannot be applied to each alone; it belongs into nn.Joint", name)
}
