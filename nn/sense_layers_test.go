package nn_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

func correlated(layers ...nn.Layer) nn.Correlated { return nn.Correlated{Layers: layers} }

func TestMaxPoolCorrelated(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	in := nn.Shape{H: 4, W: 3, C: 2}
	for name, l := range map[string]nn.MaxPool2D{
		"apart":       {Size: [2]int{2, 1}},
		"overlapping": {Size: [2]int{2, 2}, Stride: 1},
		"one cell":    {Size: [2]int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			nntest.Layer(t, correlated(act, l, nn.Dense{Out: 3}), in, nntest.Options{})
			nntest.Layer(t, correlated(l), in, nntest.Options{Entries: 10})
		})
	}
	t.Run("one output", func(t *testing.T) {
		nntest.Layer(t, correlated(nn.MaxPool2D{Size: [2]int{2, 2}, Stride: 1}, nn.Dense{Out: 1}), in, nntest.Options{})
	})
}

// Windows that overlap share cells. Cells that are themselves correlated are taken as
// independent in the maximum: behind a dense layer its mean and slopes are off.
func TestMaxPoolAgainstDrawn(t *testing.T) {
	in := nn.Shape{H: 4, W: 4, C: 1}
	mean, variance := waves(16, 0.3)
	beatsIndependence(t, nn.Chain{nn.MaxPool2D{Size: [2]int{2, 2}, Stride: 1}, nn.Dense{Out: 3}}, in, 0.05, 0.05, mean, variance)
	beatsIndependence(t, nn.Chain{nn.MaxPool2D{Size: [2]int{1, 2}, Stride: 1}, nn.Dense{Out: 3}}, in, 0.05, 0.05, mean, variance)
}

func TestLayerNormCorrelated(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	nntest.Layer(t, correlated(nn.Dense{Out: 5}, nn.LayerNorm{Eps: 0.01}, act, nn.LayerNorm{}, nn.Dense{Out: 3}), nn.Vec(3), nntest.Options{})
	nntest.Layer(t, correlated(nn.LayerNorm{}), nn.Vec(4), nntest.Options{Mean: 0.5})
}

// With little variance first order is exact; τ as a constant would be off by 2 %.
func TestLayerNormAgainstDrawn(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	for _, c := range []struct {
		units    int
		std, tol float64
	}{{4, 0.01, 0.015}, {12, 0.05, 0.02}} {
		mean, variance := waves(5, c.std*c.std)
		beatsIndependence(t, nn.Chain{nn.Dense{Out: c.units}, nn.LayerNorm{}, act, nn.Dense{Out: 3}}, nn.Vec(5), c.std, c.tol, mean, variance)
	}
}

func TestStochasticCorrelated(t *testing.T) {
	for name, l := range map[string]nn.Stochastic{
		"shared":   slope(nn.Stochastic{Mean: 0.3, Std: 0.4}),
		"per unit": slope(nn.Stochastic{Mean: 0.3, Std: 0.4, PerUnit: true}),
		"ut":       curve(nn.Stochastic{Mean: 0.8, Std: 0.3, Rule: moment.JointUT(1)}),
		"axes":     curve(nn.Stochastic{Mean: 0.8, Std: 0.3, PerUnit: true, Rule: moment.JointAxes(5)}),
		"gh":       curve(nn.Stochastic{Mean: 0.8, Std: 0.3, Rule: moment.JointGH(5)}),
	} {
		t.Run(name, func(t *testing.T) {
			nntest.Layer(t, correlated(nn.Dense{Out: 4}, l, nn.Dense{Out: 3}), nn.Vec(3), nntest.Options{})
			nntest.Layer(t, correlated(l, nn.Dense{Out: 1}), nn.Vec(3), nntest.Options{})
		})
	}
	nntest.Refuses(t, correlated(curve(nn.Stochastic{Rule: moment.JointMC(5)})), nn.Vec(2),
		"layer layer.0.stochastic (input 2): the rule joint-mc(5) cannot carry correlations: take a joint rule of fixed points, such as joint-gh(3)")
}

func TestStochasticAgainstDrawn(t *testing.T) {
	mean, variance := waves(4, 0.02)
	shared := curve(nn.Stochastic{Mean: 1, Std: 0.3, Rule: moment.JointGH(5)})
	beatsIndependence(t, nn.Chain{nn.Dense{Out: 12}, shared, nn.Dense{Out: 3}}, nn.Vec(4), 0.03, 0.03, mean, variance)
	own := shared
	own.PerUnit = true
	beatsIndependence(t, nn.Chain{nn.Dense{Out: 6}, own, nn.Dense{Out: 6}, own, nn.Dense{Out: 3}}, nn.Vec(4), 0.03, 0.03, mean, variance)
}

func TestJointBehindCorrelated(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	blind := &moment.Map{Name: "blind", In: 4, Out: 2, F: func(x, y []float64) {
		y[0], y[1] = math.Sin(x[0]*x[1]), x[2]*x[2]-x[3]*x[0]
	}}
	for name, l := range map[string]nn.Joint{
		"own":    {Map: fn.Softmax()},
		"ut":     {Map: fn.Softmax(), Rule: moment.JointUT(2)},
		"axes":   {Map: fn.Softmax(), Rule: moment.JointAxes(5)},
		"fifth":  {Map: fn.Softmax(), Rule: moment.JointFifth()},
		"mc":     {Map: fn.Softmax(), Rule: moment.JointMC(9)},
		"no VJP": {Map: blind},
	} {
		t.Run(name, func(t *testing.T) {
			nntest.Layer(t, nn.Chain{correlated(nn.Dense{Out: 3}, act, nn.Dense{Out: 4}), l}, nn.Vec(3), nntest.Options{})
		})
	}
	for _, classes := range []int{1, 2, 3} {
		nntest.Layer(t, nn.Chain{correlated(nn.Dense{Out: 3}, act, nn.Dense{Out: classes}), nn.Joint{Map: fn.Softmax()}}, nn.Vec(2), nntest.Options{})
	}
}
