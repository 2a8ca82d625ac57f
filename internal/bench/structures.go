package bench

import (
	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
)

// A made network has layers that are not a stack of dense ones. It is measured by name.
type made struct {
	input   nn.Shape
	outputs int
	first   int // how often its first weights are used in a row, fed by numbers
	rest    int // and all other weights, and factors of products of signals
	curved  bool
	layers  func(rule moment.Rule, fixed bool) nn.Chain
}

// floors counts the multiply-adds that moments and their gradients take at least; the functions
// of gates and softmaxes are extra time.
func (m *made) floors(batch int, fixed bool) (forward, step float64) {
	forward, step = floorOf(batch, m.first, true, fixed)
	f, s := floorOf(batch, m.rest, false, fixed)
	return forward + f, step + s
}

// ruleOf is the rule of the network's functions; those of gates have no closed form.
func (m *made) ruleOf(rule moment.Rule) moment.Rule {
	if m.curved && rule == moment.Exact() {
		return moment.GaussHermite(9)
	}
	return rule
}

// lstm has 64 units and 50 times of 16 features.
var lstm = net{name: "lstm-64x50", made: &made{
	input: nn.Shape{H: 1, W: 50, C: 16}, outputs: 1, curved: true,
	first: 50 * 16 * 4 * 64, rest: 50*64*4*64 + 64,
	layers: func(rule moment.Rule, fixed bool) nn.Chain {
		return nn.Chain{nn.LSTM{Units: 64, Last: true, Rule: rule, Fixed: fixed}, nn.Dense{Out: 1, Fixed: fixed}}
	},
}}

// attention has 4 heads over 32 tokens of 64 features.
var attention = net{name: "attention-4x64x32", made: &made{
	input: nn.Shape{H: 1, W: 32, C: 64}, outputs: 1,
	first: 3 * 32 * 64 * 64, rest: 2*32*32*64 + 32*64*64 + 64,
	layers: func(_ moment.Rule, fixed bool) nn.Chain {
		return nn.Chain{nn.MultiHeadAttention{Heads: 4, Fixed: fixed}, nn.GlobalAvgPool{}, nn.Flatten{}, nn.Dense{Out: 1, Fixed: fixed}}
	},
}}

// Convolutions of 64 channels over 14×14 places, behind one of a single cell that gives them
// variances.
var (
	grouped    = images("groups-14x14x64", 14*14*9*16*64, nn.Conv2D{Out: 64, Kernel: [2]int{3, 3}, Padding: nn.Same, Groups: 4}, nn.Conv2D{Out: 64, Kernel: [2]int{3, 3}, Padding: nn.Same, Groups: 4, Fixed: true})
	depthwise  = images("depthwise-14x14x64", 14*14*9*64, nn.Conv2D{Out: 64, Kernel: [2]int{3, 3}, Padding: nn.Same, Groups: 64}, nn.Conv2D{Out: 64, Kernel: [2]int{3, 3}, Padding: nn.Same, Groups: 64, Fixed: true})
	transposed = images("transposed-14x14x64", 14*14*16*64*32, nn.ConvTranspose2D{Out: 32, Kernel: [2]int{4, 4}, Stride: 2, Pad: [4]int{1, 1, 1, 1}}, nn.ConvTranspose2D{Out: 32, Kernel: [2]int{4, 4}, Stride: 2, Pad: [4]int{1, 1, 1, 1}, Fixed: true})
)

func images(name string, uses int, layer, fixedLayer nn.Layer) net {
	return net{name: name, made: &made{
		input: nn.Shape{H: 14, W: 14, C: 16}, outputs: 1,
		first: 14 * 14 * 16 * 64, rest: uses + 64,
		layers: func(_ moment.Rule, fixed bool) nn.Chain {
			if fixed {
				layer = fixedLayer
			}
			return nn.Chain{nn.Conv2D{Out: 64, Kernel: [2]int{1, 1}, Fixed: fixed}, layer, nn.GlobalAvgPool{}, nn.Flatten{}, nn.Dense{Out: 1, Fixed: fixed}}
		},
	}}
}

// pooled is a small network for images with ten outputs, as a classifier has.
var pooled = net{name: "cnn-pooled-10", made: &made{
	input: nn.Shape{H: 14, W: 14, C: 1}, outputs: 10,
	first: 14 * 14 * 9 * 8, rest: 7*7*9*8*16 + 3*3*16*32 + 32*10,
	layers: func(rule moment.Rule, fixed bool) nn.Chain {
		act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: rule}
		conv := func(out int) nn.Layer {
			return nn.Conv2D{Out: out, Kernel: [2]int{3, 3}, Padding: nn.Same, Fixed: fixed}
		}
		pool := nn.MaxPool2D{Size: [2]int{2, 2}}
		return nn.Chain{conv(8), act, pool, conv(16), act, pool, nn.Flatten{}, nn.Dense{Out: 32, Fixed: fixed}, act, nn.Dense{Out: 10, Fixed: fixed}}
	},
}}
