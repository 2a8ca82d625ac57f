package vision

import (
	"fmt"

	"utvi/fn"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// pixelNet builds a network that gives every pixel its own outputs, a U-Net: convolutions of stride 2
// halve the image until its sides are 8 or less, and on the way back each size is joined with what was
// seen at it. Width is the number of channels of the whole image; each halving doubles it, up to four
// times. Depth is that of residual blocks at each size.
func (p *plan) pixelNet(d Data, seed uint64) (*model.Model, error) {
	in := d.Images.Shape()
	f, err := fn.Named(p.candidate.Activation)
	if err != nil {
		return nil, err
	}
	act := nn.Apply{F: f}
	conv := func(out, kernel, stride int) nn.Layer {
		return nn.Conv2D{Out: out, Kernel: [2]int{kernel, kernel}, Stride: stride, Padding: nn.Same}
	}
	var steps []nn.Step
	add := func(name string, l nn.Layer, from ...string) {
		steps = append(steps, nn.Step{Name: name, Layer: l, From: from})
	}
	seen := func(channels, stride int) nn.Chain {
		layers := nn.Chain{conv(channels, 3, stride), act}
		for range p.candidate.Depth {
			layers = append(layers, nn.Residual{Branch: nn.Chain{conv(channels, 3, 1), act}})
		}
		return layers
	}
	size := [2]int{in.H, in.W}
	var sizes [][2]int
	channels := []int{p.candidate.Width}
	add("down0", seen(channels[0], 1))
	for i := 1; max(size[0], size[1]) > smallest; i++ {
		sizes = append(sizes, size)
		size = [2]int{(size[0] + 1) / 2, (size[1] + 1) / 2}
		channels = append(channels, min(2*channels[i-1], 4*channels[0]))
		add(fmt.Sprintf("down%d", i), seen(channels[i], 2))
	}
	for i := len(sizes) - 1; i >= 0; i-- {
		up := fmt.Sprintf("up%d", i)
		add(up, nn.Chain{nn.Resize{Size: sizes[i]}, conv(channels[i], 3, 1), act})
		add(fmt.Sprintf("both%d", i), nn.Concat{}, fmt.Sprintf("down%d", i), up)
		add(fmt.Sprintf("joined%d", i), nn.Chain{conv(channels[i], 3, 1), act})
	}
	add("pixels", d.lastLayer(conv))
	return model.New(model.Config{Input: in, Layers: nn.Chain{nn.Graph{Steps: steps}}, Seed: seed, Init: vi.Std(0.02)})
}

// lastLayer gives each pixel the probabilities of its classes, or values and the logarithms of their
// noise.
func (d Data) lastLayer(conv func(out, kernel, stride int) nn.Layer) nn.Layer {
	if d.Classes > 0 {
		return nn.Chain{conv(d.Classes, 1, 1), nn.Softmax{}}
	}
	return conv(2*d.Maps.Shape().C, 1, 1)
}

// pixelLikelihood is what a network with outputs for every pixel is trained with.
func (j job) pixelLikelihood() likelihood.Likelihood {
	if j.data.Classes > 0 {
		return likelihood.PerPlace{Of: likelihood.Categorical{}, Channels: j.data.Classes}
	}
	return likelihood.PerPlace{Of: likelihood.Heteroscedastic{}, Channels: 2 * j.data.Maps.Shape().C}
}
