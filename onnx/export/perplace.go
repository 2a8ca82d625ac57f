package export

import (
	"math"

	"utvi/nn"
)

// perPlace applies a layer to each place: a dense layer is a product with the channels, and any
// other layer sees places as rows.
func (w *writer) perPlace(n *node, l nn.PerPlace, in signal, out *signal) (back, error) {
	switch of := l.Layer.(type) {
	case nn.Dense:
		if w.sense {
			return w.conv(n, nn.Conv2D{Out: of.Out, Kernel: [2]int{1, 1}}, in, out), nil
		}
		w.densePerPlace(n, in, out)
		return nil, nil
	case nn.PerPlace:
		return w.perPlace(n, of, in, out)
	case nn.Chain:
		end, b, err := w.layer(n.Children[0], in)
		out.mean = end.mean
		out.variance = end.variance
		return b, err
	}
	return w.eachPlace(n, in, out)
}

// densePerPlace writes a dense layer whose weights all places share, each as if drawn anew.
func (w *writer) densePerPlace(n *node, in signal, out *signal) {
	k := w.weights(n, func(x []float32) []float32 { return x }, in.shape.C, out.shape.C)
	product := func(x, by, plus value) value {
		y := w.matmul(x, by)
		if plus == "" {
			return y
		}
		return w.add(y, plus)
	}
	m, v := w.image(in.mean, in.shape), ""
	if in.form != nn.Fixed {
		v = w.image(in.variance, in.shape)
	}
	mean, variance, _ := w.product(k, m, v, false, product)
	w.finish(out, mean, variance)
}

// eachPlace shows a layer rows that are the places of all images.
func (w *writer) eachPlace(n *node, in signal, out *signal) (back, error) {
	s := in.shape
	one := signal{mean: w.reshape(in.mean, -1, s.C), shape: nn.Vec(s.C), form: in.form}
	if in.form != nn.Fixed {
		one.variance = w.reshape(in.variance, -1, s.C)
	}
	end, b, err := w.layer(n.Children[0], one)
	if err != nil {
		return nil, err
	}
	w.Scope(w.prefix + n.Name)
	image := func(v value) value { return w.reshape(v, -1, out.shape.H, out.shape.W, out.shape.C) }
	out.mean = w.done(image(end.mean), out.shape)
	if out.form != nn.Fixed {
		out.variance = w.done(image(end.variance), out.shape)
	}
	if b == nil {
		return nil, nil
	}
	places := s.H * s.W
	return func(q *sensed, a value) value {
		within := &sensed{o: q.o, k: q.k}
		apart := func(a value, c int) value {
			return w.reshape(w.transpose(w.reshape(a, -1, q.k, places, c), 0, 2, 1, 3), -1, q.k, c)
		}
		together := func(a value, c int) value {
			return w.reshape(w.transpose(w.reshape(a, -1, places, q.k, c), 0, 2, 1, 3), -1, q.k, places*c)
		}
		rows := w.concat(0, w.slice(w.unary("Shape", in.mean), 0, 0, 1, 1), w.Ints(1, 1))
		got := b(within, apart(w.Op("Expand", []value{a, rows}), out.shape.C)) // a may be the same for all rows
		for _, t := range within.terms {
			width := w.slice(w.unary("Shape", t[0]), 0, 2, 3, 1)
			e := w.Op("Expand", []value{t[1], w.unary("Shape", w.slice(t[0], 1, 0, 1, 1))})
			e = w.Op("Reshape", []value{e, w.concat(0, w.Ints(-1, places), width)})
			a := w.Op("Reshape", []value{t[0], w.concat(0, w.Ints(-1, places, q.k), width)})
			q.inject(w.reshape(w.transpose(a, 0, 2, 1, 3), 0, 0, -1), w.reshape(e, 0, 1, -1))
		}
		if got == "" {
			return ""
		}
		return together(got, s.C)
	}, nil
}

// positionsOf are the means that a Positions adds.
func positionsOf(n *node, l nn.Positions, s nn.Shape) []float32 {
	if !l.Sinusoidal {
		return n.Tensors[0].Mean
	}
	at := make([]float32, s.Size())
	for i := range at {
		place, c := i/s.C%s.W, i%s.C
		angle := float64(place) / math.Pow(10_000, float64(c-c%2)/float64(s.C))
		at[i] = float32(math.Sin(angle))
		if c%2 == 1 {
			at[i] = float32(math.Cos(angle))
		}
	}
	return at
}
