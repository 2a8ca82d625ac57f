package nn_test

import (
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

func frequencies() nn.Periodic {
	return nn.Periodic{Frequencies: [][]float64{{0.1, -0.3, 0.02}, nil, {0.2}}}
}

func TestPeriodic(t *testing.T) {
	nntest.Layer(t, frequencies(), nn.Vec(3), nntest.Options{Draws: 20000})
	nntest.Layer(t, nn.Periodic{Frequencies: [][]float64{nil, nil}}, nn.Vec(2), nntest.Options{})
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	t.Run("correlated", func(t *testing.T) {
		nntest.Layer(t, correlated(frequencies(), nn.Dense{Out: 3}), nn.Vec(3), nntest.Options{})
		nntest.Layer(t, correlated(frequencies(), nn.Dense{Out: 4}, act, nn.Dense{Out: 1}), nn.Vec(3), nntest.Options{})
		nntest.Layer(t, correlated(nn.Dense{Out: 3}, frequencies(), nn.Dense{Out: 2}), nn.Vec(2), nntest.Options{})
	})
}

// The waves of a unit are functions of one number: taken as independent they lose most of
// what they share.
func TestPeriodicAgainstDrawn(t *testing.T) {
	mean, variance := waves(3, 0.2)
	beatsIndependence(t, nn.Chain{frequencies(), nn.Dense{Out: 3}}, nn.Vec(3), 0.05, 0.05, mean, variance)
}

func TestPeriodicRefuses(t *testing.T) {
	nntest.Refuses(t, nn.Periodic{Frequencies: [][]float64{nil}}, nn.Vec(2), "frequencies for 1 units; the input has 2")
	nntest.Refuses(t, nn.Periodic{Frequencies: [][]float64{{1e300}}}, nn.Vec(1), "frequencies must be finite")
}
