package export

import (
	"utvi/internal/onnx"
	"utvi/internal/special"
	"utvi/nn"
	"utvi/vi"
)

var toBool = onnx.Int("to", int(onnx.Bool))

// variances returns σ² of a tensor's weights.
func variances(t *vi.Tensor[float32]) []float32 {
	s := make([]float32, len(t.Rho))
	for i, rho := range t.Rho {
		sd := special.Softplus(float64(rho))
		s[i] = float32(sd * sd)
	}
	return s
}

// weights are the tensors of a layer in the graph. S is "" if they are fixed.
type weights struct {
	mean, s        value // of the weights
	bias, biasS    value // "" without a bias
	random, biased bool
}

// weights writes tensors; perm gives the weights the layout of the operator.
func (w *writer) weights(n *node, perm func(x []float32) []float32, dims ...int) weights {
	t := n.Tensors[0]
	k := weights{random: t.Random, biased: len(n.Tensors) > 1}
	k.mean = w.Floats("weight.mean", perm(t.Mean), dims...)
	if k.random {
		k.s = w.Floats("weight.variance", perm(variances(t)), dims...)
	}
	if k.biased {
		b := n.Tensors[1]
		k.bias = w.Floats("bias.mean", b.Mean, len(b.Mean))
		if b.Random {
			k.biasS = w.Floats("bias.variance", variances(b), len(b.Mean))
		}
	}
	return k
}

// product writes the moments of Σ w·x + b with a product that takes an input, weights and a
// bias or "":
//
//	m' = m·w̄ + b̄          v' = m²·s + v·(w̄² + s) + b_s
//
// and returns j = v·s, what the weights add to v, if apart is set and the input has a v.
func (w *writer) product(k weights, m, v value, apart bool, mul func(x, by, plus value) value) (mean, variance, j value) {
	mean = mul(m, k.mean, k.bias)
	if k.random {
		variance = mul(w.square(m), k.s, k.biasS)
	}
	if v == "" {
		return mean, variance, ""
	}
	second := w.square(k.mean)
	if k.random && !apart {
		second = w.add(second, k.s)
	}
	through := mul(v, second, "")
	if !k.random {
		return mean, through, ""
	}
	variance = w.add(variance, through)
	if apart {
		j = mul(v, k.s, "")
		variance = w.add(variance, j)
	}
	return mean, variance, j
}

func (w *writer) dense(n *node, in signal, out *signal) back {
	size, width := in.shape.Size(), out.shape.C
	k := w.weights(n, func(x []float32) []float32 { return x }, size, width)
	m, v := w.rows(in.mean, in.shape), ""
	if in.form != nn.Fixed {
		v = w.rows(in.variance, in.shape)
	}
	gemm := func(x, by, plus value) value {
		if plus == "" {
			return w.matmul(x, by)
		}
		return w.Op("Gemm", []value{x, by, plus})
	}
	var j value
	out.mean, out.variance, j = w.product(k, m, v, w.sense, gemm)
	if !w.sense || out.form == nn.Fixed {
		return nil
	}
	return func(s *sensed, a value) value {
		if k.random { // what the weights add: (m²+v)·S + s_b
			e := gemm(w.square(m), k.s, k.biasS)
			if j != "" {
				e = w.add(e, j)
			}
			s.inject(a, w.unsqueeze(e, 1))
		}
		if in.form == nn.Fixed {
			return ""
		}
		return w.matmul(a, w.transpose(k.mean, 1, 0))
	}
}

// frame is how a convolution or a pooling lies on an image.
type frame struct {
	in, out                  nn.Shape
	kernel, stride           [2]int
	dilation                 [2]int // zeros stand for 1
	groups                   int    // 0 stands for 1
	top, left, bottom, right int    // padding
}

// reach is how many cells of a side the window spans.
func (f frame) reach(i int) int { return (f.kernel[i]-1)*max(1, f.dilation[i]) + 1 }

// distances are the strides of a layer, down and across.
func distances(both int, each [2]int) [2]int {
	return [2]int{max(1, both, each[0]), max(1, both, each[1])}
}

func (f *frame) pad(p [4]int) {
	f.top = p[0]
	f.left = p[1]
	f.bottom = p[2]
	f.right = p[3]
}

// window is how an operator of ONNX says where its window lies.
func (f frame) window() []onnx.Attribute {
	return append(f.sides(), onnx.IntList("pads", f.top, f.left, f.bottom, f.right))
}

// sides is window without the padding.
func (f frame) sides() []onnx.Attribute {
	all := []onnx.Attribute{onnx.IntList("kernel_shape", f.kernel[:]...), onnx.IntList("strides", f.stride[:]...)}
	if max(f.dilation[0], f.dilation[1]) > 1 {
		all = append(all, onnx.IntList("dilations", f.dilation[:]...))
	}
	if f.groups > 1 {
		all = append(all, onnx.Int("group", f.groups))
	}
	return all
}

func (w *writer) conv(n *node, l nn.Conv2D, in signal, out *signal) back {
	f := frame{in: in.shape, out: out.shape, kernel: l.Kernel, stride: distances(l.Stride, l.Strides), dilation: l.Dilation, groups: max(1, l.Groups)}
	f.pad(l.Pad)
	if l.Padding == nn.Same {
		down, across := max(0, (f.out.H-1)*f.stride[0]+f.reach(0)-f.in.H), max(0, (f.out.W-1)*f.stride[1]+f.reach(1)-f.in.W)
		f.top, f.left = down/2, across/2
		f.bottom, f.right = down-f.top, across-f.left
	}
	c := in.shape.C / f.groups
	// From kernel height, width, channels, filters to filters, channels, height, width.
	perm := func(x []float32) []float32 {
		y := make([]float32, len(x))
		places := l.Kernel[0] * l.Kernel[1]
		for i, x := range x {
			o := i % l.Out
			ch := i / l.Out % c
			at := i / l.Out / c
			y[(o*c+ch)*places+at] = x
		}
		return y
	}
	k := w.weights(n, perm, l.Out, c, l.Kernel[0], l.Kernel[1])
	slide := func(x, by, plus value) value {
		inputs := []value{x, by}
		if plus != "" {
			inputs = append(inputs, plus)
		}
		return w.Op("Conv", inputs, f.window()...)
	}
	m, v := w.planes(in.mean, in.shape), ""
	if in.form != nn.Fixed {
		v = w.planes(in.variance, in.shape)
	}
	mean, variance, j := w.product(k, m, v, w.sense, slide)
	out.mean = w.unplanes(mean, out.shape)
	if out.form == nn.Fixed {
		return nil
	}
	out.variance = w.unplanes(variance, out.shape)
	if !w.sense {
		return nil
	}
	return func(s *sensed, a value) value {
		if k.random {
			w.shared(s, f, k, in.mean, a)
		}
		if in.form == nn.Fixed {
			return ""
		}
		if j != "" {
			s.inject(a, w.reshape(w.unplanes(j, out.shape), -1, 1, out.shape.Size()))
		}
		return w.convBack(f, k.mean, a)
	}
}

// shared adds what the weights of a convolution add, which all places of an image share:
// q = Σ a·m over the places, for each weight, and Σ a for each bias.
func (w *writer) shared(s *sensed, f frame, k weights, m, a value) {
	groups := max(1, f.groups)
	places, patch := f.out.H*f.out.W, f.kernel[0]*f.kernel[1]*f.in.C/groups
	patches := w.patches(f, w.image(m, f.in))
	kOut := w.reshape(a, -1, s.k, places, f.out.C)
	var q value // rows × K × filters × patch
	if groups == 1 {
		q = w.matmul(w.transpose(kOut, 0, 1, 3, 2), w.reshape(patches, -1, 1, places, patch))
	} else {
		own := w.transpose(w.reshape(kOut, -1, s.k, places, groups, f.out.C/groups), 0, 1, 3, 4, 2)
		q = w.matmul(own, w.ofGroups(f, patches, 1))
	}
	// The weights' variances are filters × channels × height × width.
	sv := w.reshape(w.transpose(k.s, 0, 2, 3, 1), 1, 1, f.out.C*patch)
	s.inject(w.reshape(q, -1, s.k, f.out.C*patch), sv)
	if k.biased && k.biasS != "" {
		s.inject(w.sum(kOut, 2, false), w.reshape(k.biasS, 1, 1, f.out.C))
	}
}

// patches are the cells under the kernel at every place of images, batch × places × patch;
// channels change fastest.
func (w *writer) patches(f frame, images value) value {
	padded := w.Op("Pad", []value{images, w.Ints(0, f.top, f.left, 0, 0, f.bottom, f.right, 0)})
	h, wide := f.in.H+f.top+f.bottom, f.in.W+f.left+f.right
	cells := w.reshape(padded, -1, h*wide, f.in.C)
	var index []int
	for y := range f.out.H {
		for x := range f.out.W {
			for ky := range f.kernel[0] {
				for kx := range f.kernel[1] {
					index = append(index, (y*f.stride[0]+ky*max(1, f.dilation[0]))*wide+x*f.stride[1]+kx*max(1, f.dilation[1]))
				}
			}
		}
	}
	return w.gather(cells, 1, index...)
}

// ofGroups are patches as batch × K × groups × places × the cells of a group.
func (w *writer) ofGroups(f frame, patches value, k int) value {
	places, own := f.out.H*f.out.W, f.in.C/f.groups
	kernel := f.kernel[0] * f.kernel[1]
	cells := w.transpose(w.reshape(patches, -1, places, kernel, f.groups, own), 0, 3, 1, 2, 4)
	return w.reshape(cells, -1, k, f.groups, places, kernel*own)
}

// convBack takes sensitivities from the places of an image to its cells.
func (w *writer) convBack(f frame, weight, a value) value {
	x := w.transpose(w.reshape(a, -1, f.out.H, f.out.W, f.out.C), 0, 3, 1, 2)
	y := w.Op("ConvTranspose", []value{x, weight}, f.sides()...)
	return w.unframe(f, y, a)
}

// unframe takes what a transposed convolution gives back to sensitivities: cuts off the
// padding, and adds the cells that no place covers.
func (w *writer) unframe(f frame, y, a value) value {
	var rest [2]int
	for i, side := range []struct{ before, size int }{{f.top, f.in.H}, {f.left, f.in.W}} {
		got := ([2]int{f.out.H, f.out.W}[i]-1)*f.stride[i] + f.reach(i)
		end := min(got, side.before+side.size)
		if side.before > 0 || end < got {
			y = w.slice(y, 2+i, side.before, end, 1)
		}
		rest[i] = side.size - (end - side.before)
	}
	if rest != [2]int{} {
		y = w.Op("Pad", []value{y, w.Ints(0, 0, 0, 0, 0, 0, rest[0], rest[1])})
	}
	y = w.transpose(y, 0, 2, 3, 1)
	return w.Op("Reshape", []value{y, w.likeRows(a, f.in.Size())})
}

// likeRows is the shape rows × K × n of sensitivities that have the rows and K of a.
func (w *writer) likeRows(a value, n int) value {
	return w.concat(0, w.slice(w.unary("Shape", a), 0, 0, 2, 1), w.Ints(n))
}

// planes turns rows of height × width × channels into channels × height × width.
func (w *writer) planes(v value, s nn.Shape) value { return w.transpose(w.image(v, s), 0, 3, 1, 2) }

// unplanes is the reverse; a single place becomes a vector.
func (w *writer) unplanes(v value, s nn.Shape) value {
	v = w.transpose(v, 0, 2, 3, 1)
	if len(sizes(s)) == 1 {
		return w.reshape(v, -1, s.C)
	}
	return v
}

// image gives rows three dimensions, also if they are vectors.
func (w *writer) image(v value, s nn.Shape) value {
	if len(sizes(s)) == 1 {
		return w.reshape(v, -1, s.H, s.W, s.C)
	}
	return v
}
