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
			break
		}
		channels *= 2
	}
	layers = append(layers, nn.Flatten{})
	if d.Known.Count() > 0 {
		layers = nn.Chain{d.meeting(layers, act)}
		in = nn.Vec(d.width())
	}
	if d.Classes > 0 {
		layers = append(layers, nn.Dense{Out: d.Classes}, nn.Joint{Map: fn.Softmax()})
	} else { // values, logarithms of their noise, and of the noise that all images have in common
		layers = append(layers, nn.Dense{Out: 2 * d.Targets}, nn.Append{Count: d.Targets, Start: -1})
	}
	return model.New(model.Config{Input: in, Layers: layers, Seed: seed, Init: vi.Std(0.02)})
}
