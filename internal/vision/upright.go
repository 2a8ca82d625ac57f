package vision

import (
	"utvi/model"
	"utvi/nn"
)

// Upright returns a network of another program so that it takes images, height × width × channels. Graphs
// have their channels in front, and are read so; one that has them behind, as Keras writes it, gets its
// sides back in the right order.
func Upright(n *model.Model) (*model.Model, error) {
	in := n.Config.Input
	channels := func(n int) bool { return n == 1 || n == 3 }
	if in.H*in.W == 1 || channels(in.C) || !channels(in.W) {
		return n, nil
	}
	c := n.Config
	c.Input = nn.Shape{H: in.C, W: in.H, C: in.W}
	c.Layers = append(nn.Chain{nn.Transpose{Order: [3]nn.Axis{nn.Width, nn.Channels, nn.Height}}}, c.Layers...)
	out, err := model.New(c)
	if err != nil {
		return nil, err
	}
	for i, t := range n.Params.Tensors {
		copyTensor(out.Params.Tensors[i], t)
	}
	out.Facts = n.Facts
	out.Changed()
	return out, nil
}
