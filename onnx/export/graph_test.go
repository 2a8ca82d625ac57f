package export

import (
	"maps"
	"slices"

	"utvi/fn"
	"utvi/nn"
)

// everyGraph has each layer that joins signals or gives units other places, alone and within
// nn.Correlated, and graphs of them.
func everyGraph() (all []zoo) {
	image, tokens := nn.Shape{H: 2, W: 3, C: 4}, nn.Shape{H: 1, W: 4, C: 6}
	tanh := nn.Apply{F: fn.Tanh()}
	joined := func(join nn.Layer, a, b nn.Shape) nn.Graph {
		return nn.Graph{Inputs: []nn.Input{{Name: "a", Shape: a}, {Name: "b", Shape: b}}, Steps: []nn.Step{
			{Name: "x", Layer: nn.Chain{nn.PerPlace{Layer: nn.Dense{Out: a.C}}, tanh}, From: []string{"a"}},
			{Name: "y", Layer: join, From: []string{"x", "b"}},
			{Name: "z", Layer: nn.Chain{nn.Sum{By: []float64{1, -0.5}}, tanh}, From: []string{"y", "y"}},
		}}
	}
	add := func(name string, in nn.Shape, l nn.Layer) {
		for _, fixed := range []bool{true, false} {
			end := map[bool]string{true: "-number", false: ""}[fixed]
			alone := nn.Chain{l}
			deep := nn.Chain{nn.Correlated{Layers: nn.Chain{l, nn.Dense{Out: 3}}}}
			one := nn.Chain{nn.Correlated{Layers: nn.Chain{tanh, l, tanh, nn.Dense{Out: 1}}}}
			all = append(all, zoo{name: "graph-" + name + end, input: in, layers: alone, fixed: fixed},
				zoo{name: "correlated-graph-" + name + end, input: in, layers: deep, fixed: fixed},
				zoo{name: "correlated-graph-one-" + name + end, input: in, layers: one, fixed: fixed})
		}
	}
	vector, column := nn.Vec(4), nn.Shape{H: 1, W: 3, C: 1}
	joins := map[string]struct {
		join nn.Layer
		a, b nn.Shape
	}{
		"sum": {nn.Sum{}, image, image}, "difference": {nn.Sum{By: []float64{1, -2}}, image, vector}, "sum-spread": {nn.Sum{}, vector, column},
		"product": {nn.Product{}, image, image}, "squeeze": {nn.Product{}, image, vector}, "product-spread": {nn.Product{}, column, vector},
		"channels": {nn.Concat{}, image, nn.Shape{H: 2, W: 3, C: 2}}, "width": {nn.Concat{Axis: nn.Width}, image, nn.Shape{H: 2, W: 1, C: 4}},
		"height": {nn.Concat{Axis: nn.Height}, image, nn.Shape{H: 1, W: 3, C: 4}}, "beside": {nn.Dense{Out: 3}, image, vector},
		"matmul":      {nn.MatMul{}, image, nn.Shape{H: 2, W: 4, C: 2}},
		"scores":      {nn.MatMul{TransposeB: true, Scale: 0.5}, image, nn.Shape{H: 2, W: 5, C: 4}},
		"transposed":  {nn.MatMul{TransposeA: true}, image, nn.Shape{H: 2, W: 3, C: 2}},
		"transposed2": {nn.MatMul{TransposeA: true, TransposeB: true}, image, nn.Shape{H: 2, W: 2, C: 3}},
	}
	for _, name := range slices.Sorted(maps.Keys(joins)) {
		j := joins[name]
		add(name, nn.Vec(j.a.Size()+j.b.Size()), joined(j.join, j.a, j.b))
	}
	layers := map[string]nn.Layer{
		"slice": nn.Slice{From: 1, To: 3}, "rows": nn.Slice{Axis: nn.Height, From: 1, To: 2}, "columns": nn.Slice{Axis: nn.Width, To: 2},
		"transpose": nn.Transpose{}, "permute": nn.Transpose{Order: [3]nn.Axis{nn.Channels, nn.Height, nn.Width}}, "reshape": nn.Reshape{H: 3, C: 2},
		"softmax": nn.Softmax{}, "softmax-width": nn.Softmax{Axis: nn.Width}, "softmax-height": nn.Softmax{Axis: nn.Height}, "softmax-causal": nn.Softmax{Causal: true},
		"perplace": nn.PerPlace{Layer: nn.Dense{Out: 3}}, "perplace-fixed": nn.PerPlace{Layer: nn.Dense{Out: 3, Fixed: true, NoBias: true}},
		"perplace-norm":  nn.PerPlace{Layer: nn.LayerNorm{}},
		"perplace-chain": nn.PerPlace{Layer: nn.Chain{nn.Dense{Out: 5}, tanh, nn.Dense{Out: 4}, nn.Residual{Branch: nn.Chain{nn.Dense{Out: 6, Fixed: true}, tanh, nn.Dense{Out: 4, Fixed: true}}}}},
		"positions":      nn.Positions{}, "positions-fixed": nn.Positions{Fixed: true}, "sines": nn.Positions{Sinusoidal: true},
	}
	for _, name := range slices.Sorted(maps.Keys(layers)) {
		add(name, image, layers[name])
	}
	block := nn.Chain{nn.Residual{Branch: nn.Chain{nn.PerPlace{Layer: nn.LayerNorm{}}, nn.MultiHeadAttention{Heads: 2}}},
		nn.Residual{Branch: nn.PerPlace{Layer: nn.Chain{nn.LayerNorm{}, nn.Dense{Out: 8}, tanh, nn.Dense{Out: 6}}}}}
	add("transformer", tokens, append(nn.Chain{nn.Positions{}}, block...))
	add("causal", tokens, nn.MultiHeadAttention{Heads: 3, Causal: true})
	add("cross", nn.Vec(24+12), joined(nn.MultiHeadAttention{Heads: 2, NoBias: true}, tokens, nn.Shape{H: 1, W: 2, C: 6}))
	add("gated", nn.Vec(14), gated())
	cells := recurrents()
	for _, name := range slices.Sorted(maps.Keys(cells)) {
		l := cells[name]
		in := nn.Shape{H: 1, W: 3, C: 3}
		all = append(all, zoo{name: "number-" + name, input: in, layers: nn.Chain{l}, fixed: true})
		if name != "rnn-relu" { // whose variances can be so small that float32 has few digits for them
			add(name+"-fixed", in, l)
		}
		add(name, in, released(l))
	}
	return all
}

// gated is a graph of two inputs and three outputs, one of them an input, whose signals part, meet
// and are read again and again.
func gated() nn.Graph {
	tanh := nn.Apply{F: fn.Tanh()}
	return nn.Graph{
		Inputs: []nn.Input{{Name: "image", Shape: nn.Shape{H: 3, W: 2, C: 2}}, {Name: "numbers", Shape: nn.Vec(2)}},
		Steps: []nn.Step{
			{Name: "seen", Layer: nn.Chain{nn.Conv2D{Out: 3, Kernel: [2]int{2, 2}, Padding: nn.Same}, tanh}, From: []string{"image"}},
			{Name: "gate", Layer: nn.Chain{nn.Dense{Out: 3}, tanh}, From: []string{"numbers"}},
			{Name: "gated", Layer: nn.Product{}, From: []string{"seen", "gate"}},
			{Name: "both", Layer: nn.Chain{nn.Concat{}, nn.Conv2D{Out: 2, Kernel: [2]int{1, 1}}}, From: []string{"gated", "image", "seen"}},
			{Name: "twice", Layer: nn.Sum{}, From: []string{"both", "both", "image"}},
			{Name: "end", Layer: nn.Dense{Out: 2}, From: []string{"twice", "gate"}},
		},
		Outputs: []string{"end", "gate", "numbers"},
	}
}

// released is a recurrent layer with Normal weights.
func released(l nn.Layer) nn.Layer {
	switch l := l.(type) {
	case nn.LSTM:
		l.Fixed = false
		return l
	case nn.GRU:
		l.Fixed = false
		return l
	case nn.RNN:
		l.Fixed = false
		return l
	}
	return l
}

// recurrents are recurrent layers of numbers.
func recurrents() map[string]nn.Layer {
	start := []float64{0.5, -1, 0.25, 2}
	return map[string]nn.Layer{
		"lstm": nn.LSTM{Units: 4, Fixed: true}, "lstm-both": nn.LSTM{Units: 2, Fixed: true, Direction: nn.Bidirectional, NoBias: true}, "lstm-last": nn.LSTM{Units: 2, Fixed: true, Last: true, Start: start},
		"gru": nn.GRU{Units: 4, Fixed: true, Start: start}, "gru-both": nn.GRU{Units: 2, Fixed: true, Direction: nn.Bidirectional, Last: true, Start: start},
		"gru-before": nn.GRU{Units: 4, Fixed: true, ResetBefore: true, Direction: nn.Reverse}, "gru-before-both": nn.GRU{Units: 3, Fixed: true, ResetBefore: true, Direction: nn.Bidirectional, NoBias: true},
		"rnn": nn.RNN{Units: 4, Fixed: true, Direction: nn.Reverse, Last: true}, "rnn-sine": nn.RNN{Units: 2, Fixed: true, F: fn.Sin()}, "rnn-relu": nn.RNN{Units: 2, Fixed: true, F: fn.ReLU(), Direction: nn.Bidirectional, Start: start},
	}
}
