package importer

import (
	"fmt"
	"math"

	"utvi/model"
	"utvi/nn"
)

// assemble makes the network that gives some values, one behind the other, of some inputs.
func assemble(outs, inputs []*value, o Options) (*model.Model, error) {
	w := newWiring(outs)
	w.residuals()
	layers := w.chain(inputs, outs)
	input := inputs[0].layer.shape
	if len(inputs) > 1 {
		n := 0
		for _, in := range inputs {
			n += in.layer.shape.Size()
		}
		input = nn.Vec(n)
	}
	return build(input, layers, o)
}

// build makes a network of layers with their trained numbers.
func build(input nn.Shape, layers []*layer, o Options) (*model.Model, error) {
	if len(layers) == 0 {
		return nil, fmt.Errorf("the graph has no layers")
	}
	var chain nn.Chain
	for _, l := range layers {
		chain = append(chain, l.as())
	}
	n, err := model.New(model.Config{Input: input, Layers: chain})
	if err != nil {
		return nil, err
	}
	if err := fill(n, leaves(layers)); err != nil {
		return nil, err
	}
	n.Changed()
	switch {
	case o.Random:
		return n.Around(model.Around{Scale: o.Scale, Correlated: o.Correlated})
	case o.Correlated:
		return correlated(n)
	}
	return n, nil
}

// correlated is the network with correlations between its units, for uncertain inputs.
func correlated(n *model.Model) (*model.Model, error) {
	c := n.Config
	c.Layers = nn.Correlate(c.Layers)
	m, err := model.New(c)
	if err != nil {
		return nil, err
	}
	copy(m.Params.Theta, n.Params.Theta)
	m.Changed()
	return m, nil
}

// as is the layer with fixed weights.
func (l *layer) as() nn.Layer {
	return nn.Rewrite(l.Layer, func(l nn.Layer) nn.Layer {
		switch l := l.(type) {
		case nn.Dense:
			l.Fixed = true
			return l
		case nn.Conv2D:
			l.Fixed = true
			return l
		case nn.ConvTranspose2D:
			l.Fixed = true
			return l
		case nn.LSTM:
			l.Fixed = true
			return l
		case nn.GRU:
			l.Fixed = true
			return l
		case nn.RNN:
			l.Fixed = true
			return l
		}
		return l
	})
}

// leaves are the layers with numbers, those inside branches in their place.
func leaves(layers []*layer) (all []*layer) {
	for _, l := range layers {
		if l.inside != nil {
			all = append(all, leaves(l.inside)...)
		} else if len(l.tensors) > 0 {
			all = append(all, l)
		}
	}
	return all
}

// fill sets the tensors of the network, which come in the order of its layers.
func fill(n *model.Model, layers []*layer) error {
	at := 0
	for _, l := range layers {
		for _, numbers := range l.tensors {
			if at >= len(n.Params.Tensors) {
				return fmt.Errorf("the layers have other tensors than the network")
			}
			t := n.Params.Tensors[at]
			at++
			if len(t.Mean) != len(numbers) {
				return fmt.Errorf("%s has %d numbers; %d were read", t.Name, len(t.Mean), len(numbers))
			}
			for i, x := range numbers {
				t.Mean[i] = float32(x)
				if math.IsNaN(x) || math.IsInf(float64(t.Mean[i]), 0) {
					return fmt.Errorf("%s holds %v; weights must be finite", t.Name, x)
				}
			}
		}
	}
	if at != len(n.Params.Tensors) {
		return fmt.Errorf("the network has other tensors than the layers")
	}
	return nil
}
