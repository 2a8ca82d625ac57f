package export

import (
	"utvi/internal/onnx"
	"utvi/nn"
)

// convTranspose writes a transposed convolution. Its frame is that of the convolution that
// goes back: from the image that it makes to the places of its input.
func (w *writer) convTranspose(n *node, l nn.ConvTranspose2D, in signal, out *signal) back {
	f := frame{in: out.shape, out: in.shape, kernel: l.Kernel, stride: distances(l.Stride, l.Strides), dilation: l.Dilation, groups: max(1, l.Groups)}
	f.pad(l.Pad)
	own := l.Out / f.groups
	// From kernel height, width, output channels, input channels to input channels, output
	// channels, height, width.
	perm := func(x []float32) []float32 {
		y := make([]float32, len(x))
		places := l.Kernel[0] * l.Kernel[1]
		for i, x := range x {
			ch := i % in.shape.C
			o := i / in.shape.C % own
			at := i / in.shape.C / own
			y[(ch*own+o)*places+at] = x
		}
		return y
	}
	k := w.weights(n, perm, in.shape.C, own, l.Kernel[0], l.Kernel[1])
	window := f.window()
	if l.OutputPad != [2]int{} {
		window = append(window, onnx.IntList("output_padding", l.OutputPad[:]...))
	}
	addUp := func(x, by, plus value) value {
		inputs := []value{x, by}
		if plus != "" {
			inputs = append(inputs, plus)
		}
		return w.Op("ConvTranspose", inputs, window...)
	}
	m, v := w.planes(in.mean, in.shape), ""
	if in.form != nn.Fixed {
		v = w.planes(in.variance, in.shape)
	}
	mean, variance, j := w.product(k, m, v, w.sense, addUp)
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
			w.sharedTransposed(s, f, k, in.mean, a)
		}
		if in.form == nn.Fixed {
			return ""
		}
		if j != "" {
			s.inject(a, w.reshape(w.unplanes(j, out.shape), -1, 1, out.shape.Size()))
		}
		return w.transposedBack(f, k.mean, a)
	}
}

// sharedTransposed adds what the weights of a transposed convolution add, which all places
// share: q = Σ a·m over the places, for each weight, and Σ a for each bias.
func (w *writer) sharedTransposed(s *sensed, f frame, k weights, m, a value) {
	places, patch := f.out.H*f.out.W, f.kernel[0]*f.kernel[1]*f.in.C/f.groups
	patches := w.ofGroups(f, w.patches(f, w.reshape(a, -1, f.in.H, f.in.W, f.in.C)), s.k)
	own := f.out.C / f.groups
	inputs := w.transpose(w.reshape(m, -1, 1, places, f.groups, own), 0, 1, 3, 4, 2)
	q := w.matmul(inputs, patches) // rows × K × groups × input channels × cells
	// The weights' variances are input channels × output channels × height × width.
	sv := w.reshape(w.transpose(k.s, 0, 2, 3, 1), 1, 1, f.out.C*patch)
	s.inject(w.reshape(q, -1, s.k, f.out.C*patch), sv)
	if k.biased && k.biasS != "" {
		sums := w.sum(w.reshape(a, -1, s.k, f.in.H*f.in.W, f.in.C), 2, false)
		s.inject(sums, w.reshape(k.biasS, 1, 1, f.in.C))
	}
}

// transposedBack takes sensitivities from an image to the places of the input.
func (w *writer) transposedBack(f frame, weight, a value) value {
	x := w.transpose(w.reshape(a, -1, f.in.H, f.in.W, f.in.C), 0, 3, 1, 2)
	y := w.Op("Conv", []value{x, weight}, f.window()...)
	return w.Op("Reshape", []value{w.transpose(y, 0, 2, 3, 1), w.likeRows(a, f.out.Size())})
}
