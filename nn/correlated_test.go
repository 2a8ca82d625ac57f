package nn_test

import (
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

// Every layer that carries correlations passes the suite of layers, with one output
// and with several, whose covariances a layer behind takes.
func TestCorrelated(t *testing.T) {
	exact := nn.Apply{F: fn.LeakyReLU(0.1), Rule: moment.Exact()}
	gh := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	three := nn.Dense{Out: 3}
	image := nn.Shape{H: 5, W: 6, C: 2}
	conv := nn.Conv2D{Out: 3, Kernel: [2]int{3, 2}}
	one := [3]float64{2, -0.5, 1.5}
	for name, c := range map[string]struct {
		in   nn.Shape
		body nn.Chain
		head nn.Chain
	}{
		"exact":        {nn.Vec(3), nn.Chain{nn.Dense{Out: 5}, exact, nn.Dense{Out: 4}, exact, nn.Dense{Out: 1}}, nil},
		"points":       {nn.Vec(3), nn.Chain{nn.Dense{Out: 5}, gh, nn.Dense{Out: 4}, gh, three}, nil},
		"closed form":  {nn.Vec(3), nn.Chain{nn.Dense{Out: 5}, nn.Apply{F: fn.GELU(), Rule: moment.Exact()}, three}, nil},
		"linear":       {nn.Vec(3), nn.Chain{nn.Dense{Out: 5}, nn.Apply{F: fn.Sin(), Rule: moment.Linear()}, three}, nil},
		"fixed first":  {nn.Vec(3), nn.Chain{nn.Dense{Out: 5, Fixed: true}, gh, nn.Dense{Out: 4, NoBias: true}, gh, three}, nil},
		"wide":         {nn.Vec(20), nn.Chain{nn.Dense{Out: 40}, exact, nn.Dense{Out: 33}, exact, nn.Dense{Out: 2}}, nil},
		"residual":     {nn.Vec(4), nn.Chain{nn.Dense{Out: 4}, nn.Residual{Branch: nn.Chain{gh, nn.Dense{Out: 4}, exact}}, gh, three}, nil},
		"fused":        {nn.Vec(4), nn.Chain{nn.Dense{Out: 4}, nn.Residual{Branch: gh}, three}, nil},
		"scale":        {nn.Vec(3), nn.Chain{nn.Dense{Out: 3}, nn.Scale{Start: 1.3}, nn.Multiply{By: one[:]}, gh, three}, nil},
		"noise":        {nn.Vec(3), nn.Chain{nn.Dense{Out: 3}, nn.Noise{Start: 0.4}, gh, nn.Dropout{P: 0.2}, three}, nil},
		"noise first":  {nn.Vec(3), nn.Chain{nn.Dropout{P: 0.3}, nn.Noise{}, gh, three}, nil},
		"batchnorm":    {nn.Vec(2), nn.Chain{nn.Dense{Out: 2}, nn.BatchNorm{Mean: []float64{0.1, 0}, Var: []float64{2, 0.5}}, gh, three}, nil},
		"batchnorms":   {nn.Vec(2), nn.Chain{nn.Dense{Out: 4}, nn.BatchNorm{}, gh, nn.Dense{Out: 3}, nn.BatchNorm{}, gh, three}, nn.Chain{nn.BatchNorm{}}},
		"batchnorm 1":  {nn.Vec(2), nn.Chain{nn.BatchNorm{}, nn.Dense{Out: 4}, gh, nn.Dense{Out: 1}}, nil},
		"norm images":  {image, nn.Chain{conv, nn.BatchNorm{}, exact, nn.Flatten{}, three}, nil},
		"conv":         {image, nn.Chain{conv, exact, nn.Flatten{}, three}, nil},
		"conv same":    {image, nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}, Padding: nn.Same}, gh, conv, gh, nn.Dense{Out: 1}}, nil},
		"conv stride":  {image, nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{2, 3}, Stride: 2}, gh, three}, nil},
		"conv large":   {nn.Shape{H: 8, W: 8, C: 5}, nn.Chain{nn.Conv2D{Out: 17, Kernel: [2]int{3, 3}, Stride: 2}, gh, nn.Conv2D{Out: 6, Kernel: [2]int{3, 3}, NoBias: true}, exact, nn.Dense{Out: 2}}, nil},
		"conv fixed":   {image, nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}, Fixed: true}, gh, nn.Conv2D{Out: 3, Kernel: [2]int{2, 2}}, gh, three}, nil},
		"avgpool":      {image, nn.Chain{conv, gh, nn.AvgPool2D{Size: [2]int{2, 2}}, three}, nil},
		"behind":       {nn.Vec(3), nn.Chain{nn.Dense{Out: 4}, gh, three}, nn.Chain{nn.Scale{Start: 0.8}, gh, nn.Multiply{By: one[:]}, gh}},
		"behind, more": {nn.Vec(3), nn.Chain{nn.Dense{Out: 4}, gh, three}, nn.Chain{nn.Noise{}, nn.Flatten{}, gh, nn.Dropout{P: 0.1}, exact}},
	} {
		t.Run(name, func(t *testing.T) {
			layer := nn.Layer(nn.Correlated{Layers: c.body})
			if c.head != nil {
				layer = append(nn.Chain{layer}, c.head...)
			}
			nntest.Layer(t, layer, c.in, nntest.Options{})
		})
	}
}

func TestCorrelate(t *testing.T) {
	act := nn.Apply{F: fn.Tanh()}
	got := nn.Correlate(nn.Chain{nn.Dense{Out: 3}, act, nn.Residual{Branch: nn.Dense{Out: 3}}, nn.Scale{}, act})
	if len(got) != 3 || len(got[0].(nn.Correlated).Layers) != 3 {
		t.Errorf("%v", got)
	}
	if got := nn.Correlate(nn.Chain{act}); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestCorrelatedRefuses(t *testing.T) {
	nntest.Refuses(t, nn.Correlated{}, nn.Vec(1), "no layers; a chain needs at least 1")
	nntest.Refuses(t, nn.Correlated{Layers: nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 1}}}}}, nn.Vec(1),
		"layer layer.0.correlated (input 1): nn.Correlated inside nn.Correlated; use only the outer one")
	nntest.Refuses(t, nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 2}, nn.Apply{F: fn.Tanh(), Rule: moment.MonteCarlo(10)}}}, nn.Vec(1),
		"layer layer.1.apply (input 2): the rule mc(10) cannot carry correlations; use a rule with fixed points, exact or linear")
	nntest.Refuses(t, nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 2}, nn.Joint{Map: fn.Softmax()}}}, nn.Vec(1),
		"layer 1 (joint) cannot carry correlations: move the layer behind nn.Correlated, or do not use nn.Correlated")
}
