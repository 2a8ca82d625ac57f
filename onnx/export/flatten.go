package export

import "utvi/nn"

// flatten makes images vectors.
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
