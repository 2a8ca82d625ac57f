package nn_test

import (
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

func edges() nn.Piecewise {
	return nn.Piecewise{Edges: [][]float64{{-1.3, -0.2, 0.1, 0.9}, nil, {-2, 2.5}}}
}

func TestPiecewise(t *testing.T) {
	nntest.Layer(t, edges(), nn.Vec(3), nntest.Options{Draws: 20000})
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	t.Run("correlated", func(t *testing.T) {
		nntest.Layer(t, correlated(edges(), nn.Dense{Out: 3}), nn.Vec(3), nntest.Options{})
		nntest.Layer(t, correlated(edges(), nn.Dense{Out: 4}, act, nn.Dense{Out: 1}), nn.Vec(3), nntest.Options{})
	})
}

// The features of a unit are functions of one number: taken as independent they lose
// most of what they share.
func TestPiecewiseAgainstDrawn(t *testing.T) {
	mean, variance := waves(3, 0.2)
	beatsIndependence(t, nn.Chain{edges(), nn.Dense{Out: 3}}, nn.Vec(3), 0.05, 0.05, mean, variance)
}

func TestPiecewiseRefuses(t *testing.T) {
	nntest.Refuses(t, nn.Piecewise{Edges: [][]float64{nil}}, nn.Vec(2), "edges for 1 units; the input has 2")
	nntest.Refuses(t, nn.Piecewise{Edges: [][]float64{{1}}}, nn.Vec(1), "unit 0 has 1 edge")
	nntest.Refuses(t, nn.Piecewise{Edges: [][]float64{{1, 1}}}, nn.Vec(1), "edges must be finite and rise")
}
