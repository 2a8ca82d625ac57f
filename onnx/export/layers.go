package export

import (
	"fmt"

	"utvi/nn"
)

// A writer writes layers into a graph.
type writer struct {
	ops
	prefix string // of the names of a member of an ensemble
	sense  bool   // within nn.Correlated: layers say how sensitivities go back
}

// A back takes the sensitivities a of K quantities to the outputs of a layer, rows × K ×
// units, to those to its inputs. It adds the variances that the layer adds. It returns ""
// where the input is fixed.
type back func(s *sensed, a value) value

// layer writes one layer with all layers inside. The back is nil if the layer is not
// within nn.Correlated, or if its output is fixed.
func (w *writer) layer(n *node, in signal) (signal, back, error) {
	if in.form == nn.Covariant && n.From == nn.Independent {
		in.form, in.cov = nn.Independent, nil
	}
	out := signal{shape: n.Out, form: n.To}
	w.Scope(w.prefix + n.Name)
	b, err := w.write(n, in, &out)
	if err != nil {
		return out, nil, fmt.Errorf("layer %s: %w", n.Name, err)
	}
	return out, b, nil
}

// write writes the layer itself. These are all layers that a graph can hold: a new one is a line
// here, and a method in a file of its own.
func (w *writer) write(n *node, in signal, out *signal) (back, error) {
	if !readsParts(n.Layer) {
		in = w.whole(in)
	}
	switch l := n.Layer.(type) {
	case nn.Chain:
		return w.chain(n, in, out)
	case nn.Correlated:
		return nil, w.correlated(n, in, out)
	case nn.Residual:
		return w.residual(n, l, in, out)
	case nn.Graph:
		return w.graph(n, l, in, out)
	case nn.MultiHeadAttention:
		return w.attention(n, l, in, out)
	case nn.Dense:
		return w.dense(n, in, out), nil
	case nn.Conv2D:
		return w.conv(n, l, in, out), nil
	case nn.Conv1D:
		return w.conv(n, l.Flat(), in, out), nil
	case nn.ConvTranspose2D:
		return w.convTranspose(n, l, in, out), nil
	case nn.ConvTranspose1D:
		return w.convTranspose(n, l.Flat(), in, out), nil
	case nn.Apply:
		return w.apply(n, l, in, out)
	case nn.Joint:
		return nil, w.joint(l, in, out)
	case nn.Conditional:
		return nil, w.conditional(l, in, out)
	case nn.LayerNorm:
		return w.layerNorm(n, l, in, out), nil
	case nn.MaxPool2D:
		return w.maxPool(n, l, in, out), nil
	case nn.AvgPool2D:
		return w.avgPool(l, in, out), nil
	case nn.GlobalMaxPool:
		return w.maxPool(n, l.Over(n.In), in, out), nil
	case nn.GlobalAvgPool:
		return w.avgPool(l.Over(n.In), in, out), nil
	case nn.Resize:
		return w.resize(l, in, out), nil
	case nn.Pad2D:
		rows, columns := l.Matrices(n.In)
		return w.separable(rows, columns, in, out), nil
	case nn.GroupNorm:
		return w.groupNorm(n, groupNorm{groups: l.Groups, eps: l.Eps, centred: true}, in, out), nil
	case nn.InstanceNorm:
		return w.groupNorm(n, groupNorm{groups: n.In.C, eps: l.Eps, centred: true}, in, out), nil
	case nn.RMSNorm:
		return w.groupNorm(n, groupNorm{groups: 1, eps: l.Eps}, in, out), nil
	case nn.Flatten:
		return w.flatten(in, out), nil
	case nn.Append:
		return w.appended(n, in, out), nil
	case nn.Periodic:
		return w.periodic(n, l, in, out), nil
	case nn.Piecewise:
		return w.piecewise(n, l, in, out), nil
	case nn.Embed:
		return w.embed(n, l, in, out), nil
	case nn.Dropout:
		return w.dropout(l, in, out), nil
	case nn.Noise:
		return w.noise(n, l, in, out), nil
	case nn.Scale:
		return w.learnedScale(n, in, out), nil
	case nn.Multiply:
		return w.scale(in, out, w.floats("by", l.By, sizes(in.shape)...), ""), nil
	case nn.BatchNorm:
		return w.batchNorm(n, l, in, out), nil
	case nn.Sum:
		return w.added(l, in, out), nil
	case nn.Product:
		return w.multiplied(in, out), nil
	case nn.MatMul:
		return w.products(l, in, out), nil
	case nn.Concat:
		return w.concatenated(l, in, out), nil
	case nn.Slice:
		return w.sliced(l, in, out), nil
	case nn.Transpose:
		return w.turned(l, in, out), nil
	case nn.Reshape:
		return w.reshaped(in, out), nil
	case nn.Softmax:
		return w.softmaxAlong(l, in, out), nil
	case nn.PerPlace:
		return w.perPlace(n, l, in, out)
	case nn.Positions:
		return w.placed(n, l, in, out), nil
	case nn.LSTM, nn.GRU, nn.RNN:
		return w.recurrent(n, in, out)
	case nn.Stochastic:
		return nil, fmt.Errorf("the function %s of x and θ is Go code, which a graph cannot hold; if θ may be a learned number, write it as a formula with a parameter (fn.Formula) in nn.Apply", title(l.Name))
	}
	return nil, fmt.Errorf("a %s layer is Go code, which a graph cannot hold; build it from the layers of package nn", n.Layer.Kind())
}

// chain writes layers one after the other.
func (w *writer) chain(n *node, in signal, out *signal) (back, error) {
	var backs []back
	s := in
	for _, c := range n.Children {
		next, b, err := w.layer(c, s)
		if err != nil {
			return nil, err
		}
		if b != nil {
			backs = append(backs, b)
		}
		s = next
	}
	*out = s
	if !w.sense {
		return nil, nil
	}
	return func(s *sensed, a value) value {
		for i := len(backs) - 1; i >= 0 && a != ""; i-- {
			a = backs[i](s, a)
		}
		return a
	}, nil
}
