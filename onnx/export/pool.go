package export

import (
	"utvi/internal/onnx"
	"utvi/nn"
)

func pooling(in, out nn.Shape, size [2]int, stride int, pad [4]int) frame {
	f := frame{in: in, out: out, kernel: size, stride: size}
	if stride > 0 {
		f.stride = [2]int{stride, stride}
	}
	f.pad(pad)
	return f
}

// inside reports which places have cell k of their window inside the image.
func (f frame) inside(k int) []bool {
	var all []bool
	for y := range f.out.H {
		for x := range f.out.W {
			i, j := y*f.stride[0]-f.top+k/f.kernel[1], x*f.stride[1]-f.left+k%f.kernel[1]
			all = append(all, i >= 0 && i < f.in.H && j >= 0 && j < f.in.W)
		}
	}
	return all
}

// depthwise is the frame with a group for each channel.
func (f frame) depthwise() frame {
	f.groups = f.in.C
	return f
}

func (f frame) padded() bool { return f.top+f.left+f.bottom+f.right > 0 }

// avgPool averages over windows: mean Σ m/n, variance Σ v/n².
func (w *writer) avgPool(l nn.AvgPool2D, in signal, out *signal) back {
	f := pooling(in.shape, out.shape, l.Size, l.Stride, l.Pad)
	window := f.window()
	uneven := f.padded() && !l.CountPad
	if f.padded() && l.CountPad {
		window = append(window, onnx.Int("count_include_pad", 1))
	}
	pool := func(v value) value {
		return w.unplanes(w.Op("AveragePool", []value{w.planes(v, in.shape)}, window...), out.shape)
	}
	out.mean = pool(in.mean)
	if in.form == nn.Fixed {
		return nil
	}
	n := f.kernel[0] * f.kernel[1]
	shares := make([]float32, out.shape.Size()) // of a cell in its average
	for i := range shares {
		shares[i] = 1 / float32(n)
	}
	if uneven {
		counts := make([]int, f.out.H*f.out.W)
		for k := range n {
			for i, is := range f.inside(k) {
				if is {
					counts[i]++
				}
			}
		}
		for i := range shares {
			shares[i] = 1 / float32(counts[i/f.out.C])
		}
		out.variance = w.mul(pool(in.variance), w.Floats("share", shares, sizes(out.shape)...))
	} else {
		out.variance = w.times(pool(in.variance), 1/float64(n))
	}
	return func(_ *sensed, a value) value {
		one := make([]float32, in.shape.C*n)
		for i := range one {
			one[i] = 1 / float32(n)
			if uneven {
				one[i] = 1
			}
		}
		if uneven {
			a = w.mul(a, w.Floats("share", shares, out.shape.Size()))
		}
		return w.convBack(f.depthwise(), w.Floats("share", one, in.shape.C, 1, f.kernel[0], f.kernel[1]), a)
	}
}

// maxPool takes the maximum cell by cell, each time by the moments of the larger of two
// Normals; see nn.MaxPool2D.
func (w *writer) maxPool(n *node, l nn.MaxPool2D, in signal, out *signal) back {
	f := pooling(in.shape, out.shape, l.Size, l.Stride, l.Pad)
	cells := f.kernel[0] * f.kernel[1]
	cell := func(v value, k int) value {
		y, x := k/f.kernel[1], k%f.kernel[1]
		v = w.image(v, in.shape)
		if f.padded() {
			v = w.Op("Pad", []value{v, w.Ints(0, f.top, f.left, 0, 0, f.bottom, f.right, 0)})
		}
		v = w.slice(v, 1, y, y+(f.out.H-1)*f.stride[0]+1, f.stride[0])
		return w.slice(v, 2, x, x+(f.out.W-1)*f.stride[1]+1, f.stride[1])
	}
	done := func(v value) value {
		if len(sizes(out.shape)) == 1 {
			return w.reshape(v, -1, out.shape.C)
		}
		return v
	}
	if in.form == nn.Fixed {
		out.mean = w.unplanes(w.Op("MaxPool", []value{w.planes(in.mean, in.shape)}, f.window()...), out.shape)
		return nil
	}
	folds := []larger{{m: cell(in.mean, 0), v: cell(in.variance, 0)}}
	seen := f.inside(0)
	for k := 1; k < cells; k++ {
		last := folds[k-1]
		m := cell(in.mean, k)
		v := cell(in.variance, k)
		fold := w.larger(last.m, last.v, m, v)
		if f.padded() {
			fold = w.partly(f, fold, last, larger{m: m, v: v}, seen, f.inside(k))
		}
		folds = append(folds, fold)
		for i, is := range f.inside(k) {
			seen[i] = seen[i] || is
		}
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

// partly is the fold of a cell that lies inside the image at some places only: where it
// does not, the maximum so far stays, and where nothing was seen before, the cell is it.
func (w *writer) partly(f frame, fold, last, next larger, seen, inside []bool) larger {
	mask := func(name string, is []bool) value {
		v := make([]float32, len(is))
		for i, is := range is {
			if is {
				v[i] = 1
			}
		}
		return w.Op("Cast", []value{w.Floats(name, v, 1, f.out.H, f.out.W, 1)}, toBool)
	}
	now, before := mask("inside", inside), mask("seen", seen)
	choose := func(both, old, new value) value { return w.where(now, w.where(before, both, new), old) }
	return larger{choose(fold.m, last.m, next.m), choose(fold.v, last.v, next.v), func() value {
		return choose(fold.second(), w.Float(0), w.Float(1))
	}}
}

// maxPoolBack adds up the sensitivities to the cells of all windows, seen[k] those to cell
// k: one transposed convolution whose filters each have a single one.
func (w *writer) maxPoolBack(f frame, seen []value) value {
	cells := len(seen)
	c := f.out.C
	like := seen[0]
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
