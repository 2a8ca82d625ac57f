package importer

import (
	"fmt"
	"math"
	"slices"

	"utvi/internal/special"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// assemble makes the network that ends with a value.
func assemble(out *value, o Options) (*model.Model, error) {
	var layers []*layer
	v := out
	for ; v.prev != nil; v = v.prev {
		if v.layer != nil {
			layers = append(layers, v.layer)
		}
	}
	slices.Reverse(layers)
	return build(v.shape, layers, o)
}

// build makes a network of layers with their trained numbers.
func build(input nn.Shape, layers []*layer, o Options) (*model.Model, error) {
	if len(layers) == 0 {
		return nil, fmt.Errorf("the graph has no layers")
	}
	var chain nn.Chain
	for _, l := range layers {
		chain = append(chain, l.as(o.Random))
	}
	if o.Finish != nil {
		chain = o.Finish(chain)
	}
	if o.Correlated {
		chain = nn.Correlate(chain)
	}
	n, err := model.New(model.Config{Input: input, Layers: chain})
	if err != nil {
		return nil, err
	}
	if err := fill(n, leaves(layers), o); err != nil {
		return nil, err
	}
	n.Changed()
	return n, nil
}

// as is the layer with fixed or random weights.
func (l *layer) as(random bool) nn.Layer {
	return nn.Rewrite(l.Layer, func(l nn.Layer) nn.Layer {
		switch l := l.(type) {
		case nn.Dense:
			l.Fixed = !random
			return l
		case nn.Conv2D:
			l.Fixed = !random
			return l
		case nn.ConvTranspose2D:
			l.Fixed = !random
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
func fill(n *model.Model, layers []*layer, o Options) error {
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
			if t.Random {
				randomise(t, numbers, o.Scale)
			}
		}
	}
	if at != len(n.Params.Tensors) && o.Finish == nil {
		return fmt.Errorf("the network has other tensors than the layers")
	}
	return nil
}

// randomise starts a tensor at a tenth of its prior's standard deviation, and centres the
// prior on the trained values.
func randomise(t *vi.Tensor[float32], trained []float64, scale float64) {
	if scale == 0 {
		scale = DefaultScale
	}
	var sum float64
	for _, x := range trained {
		sum += x * x
	}
	std := scale * math.Sqrt(sum/float64(max(1, len(trained))))
	if !(std > 0) {
		std = scale
	}
	t.Prior = vi.Prior{Std: std}
	t.Center = slices.Clone(t.Mean)
	rho := float32(special.SoftplusInverse(std / 10))
	for i := range t.Rho {
		t.Rho[i] = rho
	}
}

// DefaultScale is the standard deviation of priors beside the root mean square of the
// trained weights of a tensor.
const DefaultScale = 0.3
