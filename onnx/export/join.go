package export

import (
	"cmp"

	"utvi/nn"
)

// images are the moments of the parts of a signal, rows × height × width × channels; variances of
// numbers are "".
func (w *writer) images(in signal) (m, v []value) {
	for _, p := range in.parts {
		m = append(m, w.image(p.mean, p.shape))
		variance := ""
		if p.form != nn.Fixed {
			variance = w.image(p.variance, p.shape)
		}
		v = append(v, variance)
	}
	return m, v
}

// done turns images into what a signal of a shape is: a vector has one dimension.
func (w *writer) done(v value, s nn.Shape) value {
	if len(sizes(s)) == 1 {
		return w.reshape(v, -1, s.C)
	}
	return v
}

// finish writes the moments of an output that are images.
func (w *writer) finish(out *signal, mean, variance value) {
	out.mean = w.done(mean, out.shape)
	if out.form != nn.Fixed {
		out.variance = w.done(variance, out.shape)
	}
}

// sensedAs are sensitivities as rows × K × height × width × channels.
func (w *writer) sensedAs(a value, k int, s nn.Shape) value {
	return w.reshape(a, -1, k, s.H, s.W, s.C)
}

// unsensed is the reverse.
func (w *writer) unsensed(a value, k int, s nn.Shape) value { return w.reshape(a, -1, k, s.Size()) }

// gathered adds up what the places that a side of length 1 stands for have, of images of K
// quantities: the reverse of spreading a part.
func (w *writer) gathered(a value, k int, part, all nn.Shape) value {
	for i, one := range [3]bool{part.H < all.H, part.W < all.W, part.C < all.C} {
		if one {
			a = w.sum(a, 2+i, true)
		}
	}
	return w.unsensed(a, k, part)
}

// added writes a Sum: mean Σ b·m, variance Σ b²·v.
func (w *writer) added(l nn.Sum, in signal, out *signal) back {
	m, v := w.images(in)
	by := func(i int) float64 {
		if l.By == nil {
			return 1
		}
		return l.By[i]
	}
	var means, variances []value
	for i := range m {
		means = append(means, w.times(m[i], by(i)))
		if v[i] != "" {
			variances = append(variances, w.times(v[i], by(i)*by(i)))
		}
	}
	variance := value("")
	if out.form != nn.Fixed {
		variance = w.spreadTo(w.total(variances), in, out.shape)
	}
	w.finish(out, w.total(means), variance)
	return func(s *sensed, a value) value {
		image := w.sensedAs(a, s.k, out.shape)
		var all []value
		for i, p := range in.parts {
			all = append(all, w.gathered(w.times(image, by(i)), s.k, p.shape, out.shape))
		}
		return w.concat(2, all...)
	}
}

// spreadTo repeats the sum of the variances of some parts where parts without any are larger.
func (w *writer) spreadTo(v value, in signal, to nn.Shape) value {
	var s nn.Shape
	for _, p := range in.parts {
		if p.form != nn.Fixed {
			s = nn.Shape{H: max(s.H, p.shape.H), W: max(s.W, p.shape.W), C: max(s.C, p.shape.C)}
		}
	}
	if s == to {
		return v
	}
	return w.Op("Expand", []value{v, w.Ints(1, to.H, to.W, to.C)})
}

// multiplied writes a Product: mean m·n, variance (m²+v)·w + n²·v. Slopes are the other factor, and
// v·w is beyond them.
func (w *writer) multiplied(in signal, out *signal) back {
	m, v := w.images(in)
	w.finish(out, w.mul(m[0], m[1]), w.productVariance(m, v, w.mul))
	return func(s *sensed, a value) value {
		if v[0] != "" && v[1] != "" {
			s.inject(a, w.reshape(w.mul(v[0], v[1]), -1, 1, out.shape.Size()))
		}
		image := w.sensedAs(a, s.k, out.shape)
		var all []value
		for i, p := range in.parts {
			slope := w.unsqueeze(m[1-i], 1)
			all = append(all, w.gathered(w.mul(image, slope), s.k, p.shape, out.shape))
		}
		return w.concat(2, all...)
	}
}

// productVariance is (m²+v)·w + v·n² by any product; "" is a variance of 0.
func (w *writer) productVariance(m, v []value, mul func(a, b value) value) value {
	first := w.square(m[0])
	if v[0] != "" {
		first = w.add(first, v[0])
	}
	switch {
	case v[1] == "" && v[0] == "":
		return ""
	case v[1] == "":
		return mul(v[0], w.square(m[1]))
	case v[0] == "":
		return mul(first, v[1])
	}
	return w.add(mul(first, v[1]), mul(v[0], w.square(m[1])))
}

// products writes a MatMul of two signals.
func (w *writer) products(l nn.MatMul, in signal, out *signal) back {
	m, v := w.images(in)
	for i, turn := range []bool{l.TransposeA, l.TransposeB} {
		if turn {
			m[i] = w.transpose(m[i], 0, 1, 3, 2)
			if v[i] != "" {
				v[i] = w.transpose(v[i], 0, 1, 3, 2)
			}
		}
	}
	scale := cmp.Or(l.Scale, 1)
	variance := w.productVariance(m, v, w.matmul)
	if variance != "" {
		variance = w.times(variance, scale*scale)
	}
	w.finish(out, w.times(w.matmul(m[0], m[1]), scale), variance)
	return func(s *sensed, a value) value {
		if v[0] != "" && v[1] != "" {
			e := w.times(w.matmul(v[0], v[1]), scale*scale)
			s.inject(a, w.reshape(e, -1, 1, out.shape.Size()))
		}
		a = w.times(w.sensedAs(a, s.k, out.shape), scale)
		turned := func(i int) value { return w.unsqueeze(w.transpose(m[i], 0, 1, 3, 2), 1) }
		by := []value{w.matmul(a, turned(1)), w.matmul(turned(0), a)}
		for i, turn := range []bool{l.TransposeA, l.TransposeB} {
			if turn {
				by[i] = w.transpose(by[i], 0, 1, 2, 4, 3)
			}
			by[i] = w.unsensed(by[i], s.k, in.parts[i].shape)
		}
		return w.concat(2, by...)
	}
}

// axes are the sides of a shape in the order in which units are stored.
func axisOf(a nn.Axis) int {
	switch a {
	case nn.Height:
		return 0
	case nn.Width:
		return 1
	}
	return 2
}

func sidesOf(s nn.Shape) [3]int { return [3]int{s.H, s.W, s.C} }

// concatenated lays signals one behind the other along an axis.
func (w *writer) concatenated(l nn.Concat, in signal, out *signal) back {
	axis := axisOf(l.Axis)
	m, v := w.images(in)
	variance := value("")
	if out.form != nn.Fixed {
		for i := range v {
			if v[i] == "" {
				v[i] = w.zeros(m[i])
			}
		}
		variance = w.concat(1+axis, v...)
	}
	w.finish(out, w.concat(1+axis, m...), variance)
	return func(s *sensed, a value) value {
		a = w.sensedAs(a, s.k, out.shape)
		var all []value
		at := 0
		for _, p := range in.parts {
			to := at + sidesOf(p.shape)[axis]
			all = append(all, w.unsensed(w.slice(a, 2+axis, at, to, 1), s.k, p.shape))
			at = to
		}
		return w.concat(2, all...)
	}
}

// moved writes a layer that gives units other places: there for images, rows first, back for those
// of K quantities, with K behind the rows.
func (w *writer) moved(in signal, out *signal, there func(v value) value, back func(a value) value) back {
	variance := value("")
	if in.form != nn.Fixed {
		variance = there(w.image(in.variance, in.shape))
	}
	w.finish(out, there(w.image(in.mean, in.shape)), variance)
	return func(s *sensed, a value) value {
		return w.unsensed(back(w.sensedAs(a, s.k, out.shape)), s.k, in.shape)
	}
}

// sliced keeps a stretch of an axis.
func (w *writer) sliced(l nn.Slice, in signal, out *signal) back {
	axis := axisOf(l.Axis)
	pads := make([]int, 10)
	pads[2+axis] = l.From
	pads[7+axis] = sidesOf(in.shape)[axis] - l.To
	return w.moved(in, out, func(v value) value { return w.slice(v, 1+axis, l.From, l.To, 1) },
		func(a value) value { return w.Op("Pad", []value{a, w.Ints(pads...)}) })
}

// turned changes the order of the sides.
func (w *writer) turned(l nn.Transpose, in signal, out *signal) back {
	order := l.Order
	if order == ([3]nn.Axis{}) {
		order = [3]nn.Axis{nn.Height, nn.Channels, nn.Width}
	}
	there, back := []int{0, 0, 0, 0}, []int{0, 1, 0, 0, 0}
	for i, a := range order {
		there[1+i] = 1 + axisOf(a)
		back[2+axisOf(a)] = 2 + i
	}
	return w.moved(in, out, func(v value) value { return w.transpose(v, there...) },
		func(a value) value { return w.transpose(a, back...) })
}

// reshaped gives units another shape.
func (w *writer) reshaped(in signal, out *signal) back {
	to := out.shape
	return w.moved(in, out, func(v value) value { return w.reshape(v, -1, to.H, to.W, to.C) },
		func(a value) value { return a })
}

// placed adds a number or a Normal of its own to each unit.
func (w *writer) placed(n *node, l nn.Positions, in signal, out *signal) back {
	size := in.shape.Size()
	at := w.Floats("at", positionsOf(n, l, in.shape), sizes(in.shape)...)
	out.mean = w.add(in.mean, at)
	own := value("")
	if len(n.Tensors) > 0 && n.Tensors[0].Random {
		own = w.Floats("at.variance", variances(n.Tensors[0]), sizes(in.shape)...)
	}
	switch {
	case own == "":
		out.variance = in.variance
	case in.form == nn.Fixed:
		out.variance = w.add(w.zeros(in.mean), own)
	default:
		out.variance = w.add(in.variance, own)
	}
	return func(s *sensed, a value) value {
		if own != "" {
			s.inject(a, w.reshape(own, 1, 1, size))
		}
		if in.form == nn.Fixed {
			return ""
		}
		return a
	}
}
