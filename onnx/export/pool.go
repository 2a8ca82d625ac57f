package export

import (
	"utvi/nn"
	"utvi/onnx"
)

func pooling(in, out nn.Shape, size [2]int, stride int) frame {
	f := frame{in: in, out: out, kernel: size, stride: size}
	if stride > 0 {
		f.stride = [2]int{stride, stride}
	}
	return f
}

// avgPool averages over windows: mean Σ m/n, variance Σ v/n².
func (w *writer) avgPool(l nn.AvgPool2D, in signal, out *signal) back {
	f := pooling(in.shape, out.shape, l.Size, l.Stride)
	pool := func(v value) value {
		y := w.Op("AveragePool", []value{w.planes(v, in.shape)}, onnx.IntList("kernel_shape", f.kernel[:]...), onnx.IntList("strides", f.stride[:]...))
		return w.unplanes(y, out.shape)
	}
	out.mean = pool(in.mean)
	if in.form == nn.Fixed {
		return nil
	}
	n := f.kernel[0] * f.kernel[1]
	out.variance = w.times(pool(in.variance), 1/float64(n))
	return func(_ *sensed, a value) value {
		share := make([]float32, in.shape.C*n)
		for i := range share {
			share[i] = 1 / float32(n)
		}
		return w.convBack(f, w.Floats("share", share, in.shape.C, 1, f.kernel[0], f.kernel[1]), a, in.shape.C)
	}
}

// maxPool takes the maximum cell by cell, each time by the moments of the larger of two
// Normals; see nn.MaxPool2D.
func (w *writer) maxPool(n *node, l nn.MaxPool2D, in signal, out *signal) back {
	f := pooling(in.shape, out.shape, l.Size, l.Stride)
	cells := f.kernel[0] * f.kernel[1]
	cell := func(v value, k int) value {
		y, x := k/f.kernel[1], k%f.kernel[1]
		v = w.slice(w.image(v, in.shape), 1, y, y+(f.out.H-1)*f.stride[0]+1, f.stride[0])
		return w.slice(v, 2, x, x+(f.out.W-1)*f.stride[1]+1, f.stride[1])
	}
	done := func(v value) value {
		if len(sizes(out.shape)) == 1 {
			return w.reshape(v, -1, out.shape.C)
		}
		return v
	}
	if in.form == nn.Fixed {
		out.mean = w.unplanes(w.Op("MaxPool", []value{w.planes(in.mean, in.shape)}, onnx.IntList("kernel_shape", f.kernel[:]...), onnx.IntList("strides", f.stride[:]...)), out.shape)
		return nil
	}
	folds := []larger{{m: cell(in.mean, 0), v: cell(in.variance, 0)}}
	for k := 1; k < cells; k++ {
		last := folds[k-1]
		folds = append(folds, w.larger(last.m, last.v, cell(in.mean, k), cell(in.variance, k)))
	}
	last := folds[cells-1]
	out.mean, out.variance = done(last.m), done(last.v)
	if !w.sense {
		return nil
	}
	scope := w.prefix + n.Name
	return func(s *sensed, a value) value {
		w.Scope(scope)
		size := out.shape.Size()
		flat := func(v value) value { return w.reshape(v, -1, 1, size) }
		seen := make([]value, cells)
		for k := cells - 1; k > 0; k-- {
			l := folds[k]
			p, q := w.from(1, l.second()), l.second()
			e := w.sub(l.v, w.add(w.mul(w.square(p), folds[k-1].v), w.mul(w.square(q), cell(in.variance, k))))
			s.inject(a, flat(w.max(e, w.Float(0)))) // below 0 by rounding alone
			seen[k] = w.mul(a, flat(q))
			a = w.mul(a, flat(p))
		}
		seen[0] = w.add(a, w.zeros(flat(last.m))) // rows, also where the sensitivities have none yet
		return w.maxPoolBack(f, seen)
	}
}

// maxPoolBack adds up the sensitivities to the cells of all windows, seen[k] those to cell
// k: one transposed convolution whose filters each have a single one.
func (w *writer) maxPoolBack(f frame, seen []value) value {
	cells, c, like := len(seen), f.out.C, seen[0]
	for k, a := range seen {
		seen[k] = w.transpose(w.reshape(a, -1, 1, f.out.H, f.out.W, c), 0, 4, 1, 2, 3)
	}
	all := w.reshape(w.concat(2, seen...), -1, c*cells, f.out.H, f.out.W)
	one := make([]float32, c*cells*cells)
	for i := range c * cells {
		one[i*cells+i%cells] = 1
	}
	y := w.Op("ConvTranspose", []value{all, w.Floats("one", one, c*cells, 1, f.kernel[0], f.kernel[1])},
		onnx.IntList("kernel_shape", f.kernel[:]...), onnx.IntList("strides", f.stride[:]...), onnx.Int("group", c))
	return w.unframe(f, y, like)
}

// A larger is the maximum of two Normals; second is the chance that the second one is it.
type larger struct {
	m, v   value
	second func() value
}

// larger: with D = −|m₁−m₂|, θ² = v₁+v₂ and μ, u the moments of the ReLU of N(D, θ²), the
// mean is that of the larger one plus μ, and its variances enter with the factors
// 1 − (u + 2μ(μ−D))/θ² (the larger) and u/θ².
func (w *writer) larger(m1, v1, m2, v2 value) larger {
	d := w.neg(w.abs(w.sub(m1, m2)))
	s := w.add(v1, v2)
	relu := w.leaky(0, d, s)
	safe := w.where(w.above(s, 0), s, w.Float(1))
	low := w.div(relu.variance, safe)
	high := w.from(1, w.div(w.add(relu.variance, w.times(w.mul(relu.mean, w.sub(relu.mean, d)), 2)), safe))
	first := w.Op("GreaterOrEqual", []value{m1, m2})
	v := w.add(w.mul(v1, w.where(first, high, low)), w.mul(v2, w.where(first, low, high)))
	return larger{w.add(w.max(m1, m2), relu.mean), v, func() value {
		chance := relu.slope()
		return w.where(first, chance, w.from(1, chance))
	}}
}
