package vision

import (
	"utvi/fn"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// smallest is the side of an image at which a network stops halving it.
const smallest = 8

// net builds a network for images of a shape: Width is the number of channels behind the first
// convolution, and Depth that of residual blocks behind each halving.
func (p *plan) net(d Data, seed uint64) (*model.Model, error) {
	if d.Maps != nil {
		return p.pixelNet(d, seed)
	}
	in := d.Images.Shape()
	f, err := fn.Named(p.candidate.Activation)
	if err != nil {
		return nil, err
	}
	act := nn.Apply{F: f}
	layers := p.trunk(in, act)
	if p.start != nil {
		layers = p.start.trunk()
		in = p.start.in
	}
	if d.Known.Count() > 0 {
		layers = nn.Chain{d.meeting(in, layers, act)}
		in = nn.Vec(d.width())
	}
	switch {
	case p.start != nil && p.start.whole && p.start.sure:
	case p.start != nil && p.start.whole:
		layers = append(layers, nn.Joint{Map: fn.Softmax()})
	case d.Classes > 0:
		layers = append(layers, nn.Dense{Out: d.Classes}, nn.Joint{Map: fn.Softmax()})
	default: // values, logarithms of their noise, and of the noise that all images have in common
		layers = append(layers, nn.Dense{Out: 2 * d.Targets}, nn.Append{Count: d.Targets, Start: -1})
	}
	n, err := model.New(model.Config{Input: in, Layers: layers, Seed: seed, Init: vi.Std(0.02)})
	if err == nil && p.start != nil {
		p.start.fill(n)
	}
	return n, err
}

// trunk are the layers that an image goes through first: convolutions of stride 2, each with its residual
// blocks, until the sides are small.
func (p *plan) trunk(in nn.Shape, act nn.Layer) nn.Chain {
	conv := func(out, kernel, stride int) nn.Layer {
		return nn.Conv2D{Out: out, Kernel: [2]int{kernel, kernel}, Stride: stride, Padding: nn.Same}
	}
	channels := p.candidate.Width
	side := max(in.H, in.W)
	var layers nn.Chain
	for kernel := 5; ; kernel = 3 {
		layers = append(layers, conv(channels, kernel, 2), act)
		for range p.candidate.Depth {
			layers = append(layers, nn.Residual{Branch: nn.Chain{conv(channels, 3, 1), act}})
		}
		side = (side + 1) / 2
		if side <= smallest {
			return append(layers, nn.Flatten{})
		}
		channels *= 2
	}
}
