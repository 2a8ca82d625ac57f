package export

import (
	"fmt"

	"utvi/internal/special"
	"utvi/nn"
	"utvi/vi"
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

func (w *writer) write(n *node, in signal, out *signal) (back, error) {
	switch l := n.Layer.(type) {
	case nn.Chain:
		return w.chain(n, in, out)
	case nn.Correlated:
		return nil, w.correlated(n, in, out)
	case nn.Residual:
		return w.residual(n, l, in, out)
	case nn.Dense:
		return w.dense(n, in, out), nil
	case nn.Conv2D:
		return w.conv(n, l, in, out), nil
	case nn.Conv1D:
		return w.conv(n, nn.Conv2D{Out: l.Out, Kernel: [2]int{1, l.Kernel}, Stride: l.Stride, Padding: l.Padding}, in, out), nil
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
		return w.scale(in, out, w.perUnit("scale", n.Tensors[0], in.shape, func(x float64) float64 { return 1 / special.Softplus(x) }), ""), nil
	case nn.Multiply:
		return w.scale(in, out, w.floats("by", l.By, sizes(in.shape)...), ""), nil
	case nn.BatchNorm:
		slope, constant := l.Affine()
		return w.scale(in, out, w.floats("slope", slope, len(slope)), w.floats("constant", constant, len(constant))), nil
	case nn.Stochastic:
		return nil, fmt.Errorf("the function %s of x and θ is Go code, which a graph cannot hold; if θ may be a learned number, write it as a formula with a parameter (fn.Formula) in nn.Apply", title(l.Name))
	}
	return nil, fmt.Errorf("a %s layer is Go code, which a graph cannot hold; build it from the layers of package nn", n.Layer.Kind())
}

// perUnit is a constant made from a tensor of numbers, one a unit.
func (w *writer) perUnit(name string, t *vi.Tensor[float32], s nn.Shape, f func(float64) float64) value {
	v := make([]float64, len(t.Mean))
	for i, x := range t.Mean {
		v[i] = f(float64(x))
	}
	return w.floats(name, v, sizes(s)...)
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

// residual adds a branch to its input, or to what a skip makes of it.
func (w *writer) residual(n *node, l nn.Residual, in signal, out *signal) (back, error) {
	if a, ok := l.Elementwise(); ok {
		return w.apply(n, a, in, out)
	}
	branch, b, err := w.layer(n.Children[0], in)
	if err != nil {
		return nil, err
	}
	skip, through := in, w.pass(in)
	if len(n.Children) > 1 {
		if skip, through, err = w.layer(n.Children[1], in); err != nil {
			return nil, err
		}
	}
	w.Scope(w.prefix + n.Name)
	out.mean = w.add(branch.mean, skip.mean)
	switch {
	case skip.form == nn.Fixed:
		out.variance = branch.variance
	case branch.form == nn.Fixed:
		out.variance = skip.variance
	default:
		out.variance = w.add(skip.variance, branch.variance)
	}
	if b == nil && through == nil {
		return nil, nil
	}
	return func(s *sensed, a value) value {
		var roads []value
		for _, road := range []back{through, b} {
			if road != nil {
				roads = append(roads, road(s, a))
			}
		}
		if in.form == nn.Fixed {
			return ""
		}
		return w.total(roads)
	}, nil
}

func (w *writer) flatten(in signal, out *signal) back {
	n := in.shape.Size()
	*out = in
	out.shape = nn.Vec(n)
	out.mean = w.rows(in.mean, in.shape)
	if in.form != nn.Fixed {
		out.variance = w.rows(in.variance, in.shape)
	}
	return w.pass(in)
}

// rows makes a vector of every row.
func (w *writer) rows(v value, s nn.Shape) value {
	if len(sizes(s)) == 1 {
		return v
	}
	return w.reshape(v, -1, s.Size())
}

// natural gives vectors the dimensions of their shape.
func (w *writer) natural(v value, s nn.Shape) value {
	if d := sizes(s); len(d) > 1 {
		return w.reshape(v, append([]int{-1}, d...)...)
	}
	return v
}

// pass is the back of a layer that adds nothing and leaves units as they are.
func (w *writer) pass(in signal) back {
	if !w.sense || in.form == nn.Fixed {
		return nil
	}
	return func(_ *sensed, a value) value { return a }
}

// scale multiplies units by factors and adds a constant, unless that is "".
func (w *writer) scale(in signal, out *signal, by, constant value) back {
	out.mean = w.mul(in.mean, by)
	if constant != "" {
		out.mean = w.add(out.mean, constant)
	}
	if in.form == nn.Fixed {
		return nil
	}
	out.variance = w.mul(in.variance, w.square(by))
	w.scaleCov(in, out, func() value { return w.wide(by, in.shape) })
	return func(_ *sensed, a value) value { return w.mul(a, w.wide(by, in.shape)) }
}

// wide makes a row of factors, of units or of channels, to multiply sensitivities by.
func (w *writer) wide(by value, s nn.Shape) value {
	if len(sizes(s)) == 1 {
		return by
	}
	return w.reshape(w.add(by, w.Floats("zero", make([]float32, s.Size()), s.H, s.W, s.C)), s.Size())
}

// scaleCov carries covariances through slopes g, rows × units or units: the variances
// of the output take the diagonal.
func (w *writer) scaleCov(in signal, out *signal, g func() value) {
	if in.form != nn.Covariant {
		return
	}
	out.cov = func() value {
		n := in.shape.Size()
		g := g()
		c := w.mul(in.cov(), w.mul(w.unsqueeze(g, -1), w.unsqueeze(g, -2)))
		eye := make([]float32, n*n)
		for i := range n {
			eye[i*n+i] = 1
		}
		diagonal := w.Op("Cast", []value{w.Floats("eye", eye, n, n)}, toBool)
		return w.where(diagonal, w.unsqueeze(w.rows(out.variance, in.shape), -1), c)
	}
}

// dropout: mean m, variance (v + P·m²)/(1−P).
func (w *writer) dropout(l nn.Dropout, in signal, out *signal) back {
	out.mean = in.mean
	if out.form == nn.Fixed {
		return nil
	}
	v := w.times(w.square(in.mean), l.P)
	if in.form != nn.Fixed {
		v = w.add(v, in.variance)
	}
	out.variance = w.div(v, w.Float(1-l.P))
	w.scaleCov(in, out, func() value { return w.ones(in.shape) })
	return w.adds(in, out, func() value {
		if in.form == nn.Fixed {
			return out.variance
		}
		return w.sub(out.variance, in.variance)
	})
}

// noise adds a learned variance.
func (w *writer) noise(n *node, l nn.Noise, in signal, out *signal) back {
	out.mean, out.variance = in.mean, in.variance
	if l.Off {
		out.cov = in.cov
		return w.pass(in)
	}
	s := w.perUnit("noise", n.Tensors[0], in.shape, func(x float64) float64 {
		sd := special.Softplus(x)
		return sd * sd
	})
	out.variance = w.add(w.varianceOf(in), s)
	w.scaleCov(in, out, func() value { return w.ones(in.shape) })
	return w.adds(in, out, func() value { return w.add(w.zeros(in.mean), s) })
}

// adds is the back of a layer that adds the independent variances e and leaves units as
// they are.
func (w *writer) adds(in signal, out *signal, e func() value) back {
	if !w.sense {
		return nil
	}
	return func(s *sensed, a value) value {
		s.inject(a, w.unsqueeze(w.rows(e(), out.shape), 1))
		if in.form == nn.Fixed {
			return ""
		}
		return a
	}
}

func (w *writer) ones(s nn.Shape) value {
	one := make([]float32, s.Size())
	for i := range one {
		one[i] = 1
	}
	return w.Floats("one", one, len(one))
}
