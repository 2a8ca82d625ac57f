package covariance

import (
	"fmt"
	"slices"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/nn"
	"utvi/vi"
)

// linearStep is the step of a layer that is linear in its inputs.
func linearStep[T gauss.Float](s *state, n *nn.Node[T]) (step, error) {
	switch l := n.Layer.(type) {
	case nn.Dense: // a window as large as the image
		return window(s, n, geometry{kh: 1, kw: 1, c: n.In.Size(), oh: 1, ow: 1, h: 1, w: 1, down: 1, across: 1}), nil
	case nn.Conv2D:
		return convolution(s, n, l)
	case nn.Conv1D:
		return convolution(s, n, l.Flat())
	case nn.AvgPool2D:
		return average(s, n, l), nil
	case nn.GlobalAvgPool:
		return average(s, n, l.Over(n.In)), nil
	case nn.Flatten:
		return scaled(s, func(int) float64 { return 1 }, nil, nil), nil
	case nn.Multiply:
		return scaled(s, func(i int) float64 { return l.By[i] }, nil, nil), nil
	case nn.Scale:
		a := n.Tensors[0].Mean
		return scaled(s, func(i int) float64 { return 1 / special.Softplus(float64(a[i])) }, nil, nil), nil
	case nn.Noise:
		raw := n.Tensors[0].Mean
		return scaled(s, func(int) float64 { return 1 }, nil, func(i int) float64 {
			if l.Off {
				return 0
			}
			sd := special.Softplus(float64(raw[i]))
			return sd * sd
		}), nil
	case nn.Dropout: // (v + P·m²)/(1−P) is v + P(v+m²)/(1−P); masks are independent
		return scaled(s, func(int) float64 { return 1 }, nil, func(i int) float64 {
			m := s.mean[s.waiting+i]
			return l.P / (1 - l.P) * (s.at(i, i) + m*m)
		}), nil
	case nn.BatchNorm:
		return batchNorm(s, n, l), nil
	}
	return step{}, fmt.Errorf("full covariances are not known for a layer of kind %s", n.Layer.Kind())
}

// scaled multiplies each unit by a number, adds a constant and an independent variance.
func scaled(s *state, by, constant, variance func(i int) float64) step {
	n := s.live()
	p := step{mean: make([]float64, n), pass: func(x, y []float64) {
		for i, x := range x {
			y[i] = by(i) * x
		}
	}}
	p.pass(s.mean[s.waiting:], p.mean)
	if constant != nil {
		for i := range n {
			p.mean[i] += constant(i)
		}
	}
	if variance != nil {
		p.add = make([]float64, n*n)
		for i := range n {
			p.add[i*n+i] = variance(i)
		}
	}
	return p
}

func batchNorm[T gauss.Float](s *state, n *nn.Node[T], l nn.BatchNorm) step {
	var learned [][]float64
	for _, t := range n.Tensors {
		learned = append(learned, compute.Widened(t.Mean))
	}
	slope, constant := l.Affine(learned...)
	c := len(slope)
	return scaled(s, func(i int) float64 { return slope[i%c] }, func(i int) float64 { return constant[i%c] }, nil)
}

// A geometry says which cells of an image a window covers at each of its places.
type geometry struct {
	h, w, c, oh, ow, kh, kw, down, across, top, left int
}

// convolution is the step of a convolution without groups or dilation.
func convolution[T gauss.Float](s *state, n *nn.Node[T], l nn.Conv2D) (step, error) {
	if l.Groups > 1 || max(l.Dilation[0], l.Dilation[1]) > 1 {
		return step{}, fmt.Errorf("full covariances are not known for a convolution with groups or dilation")
	}
	down, across := max(1, l.Stride, l.Strides[0]), max(1, l.Stride, l.Strides[1])
	g := geometry{h: n.In.H, w: n.In.W, c: n.In.C, oh: n.Out.H, ow: n.Out.W, kh: l.Kernel[0], kw: l.Kernel[1], down: down, across: across, top: l.Pad[0], left: l.Pad[1]}
	if l.Padding == nn.Same {
		g.top, g.left = max(0, (g.oh-1)*down+g.kh-g.h)/2, max(0, (g.ow-1)*across+g.kw-g.w)/2
	}
	return window(s, n, g), nil
}

// cells returns, place by place, where the channels of each cell of the window begin;
// −1 is outside of the image.
func (g geometry) cells() [][]int {
	var all [][]int
	for y := range g.oh {
		for x := range g.ow {
			var cells []int
			for k := range g.kh * g.kw {
				i, j := y*g.down-g.top+k/g.kw, x*g.across-g.left+k%g.kw
				at := -1
				if i >= 0 && i < g.h && j >= 0 && j < g.w {
					at = (i*g.w + j) * g.c
				}
				cells = append(cells, at)
			}
			all = append(all, cells)
		}
	}
	return all
}

// window multiplies what a window covers by Normal weights, which all places share:
//
//	Cov(y_p, y_q) += Σ_k S_k·E[x_pk·x_qk] + s_b        within a channel
func window[T gauss.Float](s *state, n *nn.Node[T], g geometry) step {
	weight, spread := moments(n.Tensors[0])
	places := g.cells()
	out := n.Out.Size()
	w := windowed{geometry: g, places: places, channels: out / len(places), weight: weight, spread: spread}
	p := step{mean: make([]float64, out), add: make([]float64, out*out), pass: w.pass}
	m := s.mean[s.waiting:]
	w.pass(m, p.mean)
	var bias, biasSpread []float64
	if len(n.Tensors) > 1 {
		bias, biasSpread = moments(n.Tensors[1])
	}
	add := make([]float64, w.channels)
	for i := range places {
		for o, b := range bias {
			p.mean[i*w.channels+o] += b
		}
		for j := range i + 1 {
			clear(add)
			copy(add, biasSpread)
			w.shared(add, i, j, func(a, b int) float64 { return m[a]*m[b] + s.at(a, b) })
			for o, v := range add {
				x, y := i*w.channels+o, j*w.channels+o
				p.add[x*out+y] = v
				p.add[y*out+x] = v
			}
		}
	}
	return p
}

// A windowed is a window of weights at its places.
type windowed struct {
	geometry
	places         [][]int // the cells that each place covers; -1 is padding
	channels       int     // of the output
	weight, spread []float64
}

// pass multiplies the numbers x by the means of the weights.
func (w windowed) pass(x, y []float64) {
	clear(y)
	for i, cells := range w.places {
		y := y[i*w.channels:][:w.channels]
		for k, at := range cells {
			for c := 0; c < w.c && at >= 0; c++ {
				x := x[at+c]
				if x == 0 {
					continue
				}
				for o, weight := range w.weight[(k*w.c+c)*w.channels:][:w.channels] {
					y[o] += weight * x
				}
			}
		}
	}
}

// shared adds, for each channel, what places i and j have in common because they share weights:
// the weights' variances times second(a, b), the second moment of cells a and b.
func (w windowed) shared(add []float64, i, j int, second func(a, b int) float64) {
	for k, a := range w.places[i] {
		b := w.places[j][k]
		for c := 0; c < w.c && a >= 0 && b >= 0; c++ {
			x := second(a+c, b+c)
			for o, v := range w.spread[(k*w.c+c)*w.channels:][:w.channels] {
				add[o] += v * x
			}
		}
	}
}

// moments are the means and variances of weights.
func moments[T gauss.Float](t *vi.Tensor[T]) (mean, variance []float64) {
	mean, variance = make([]float64, len(t.Mean)), make([]float64, len(t.Mean))
	for i, m := range t.Mean {
		mean[i] = float64(m)
	}
	for i, rho := range t.Rho {
		sd := special.Softplus(float64(rho))
		variance[i] = sd * sd
	}
	return mean, variance
}

func average[T gauss.Float](s *state, n *nn.Node[T], l nn.AvgPool2D) step {
	g := geometry{h: n.In.H, w: n.In.W, c: n.In.C, oh: n.Out.H, ow: n.Out.W, kh: l.Size[0], kw: l.Size[1], down: l.Stride, across: l.Stride, top: l.Pad[0], left: l.Pad[1]}
	if l.Stride == 0 {
		g.down, g.across = g.kh, g.kw
	}
	places := g.cells()
	p := step{mean: make([]float64, n.Out.Size()), pass: func(x, y []float64) {
		clear(y)
		for i, cells := range places {
			inside := slices.DeleteFunc(slices.Clone(cells), func(at int) bool { return at < 0 })
			n := len(inside)
			if l.CountPad {
				n = len(cells)
			}
			for _, at := range inside {
				for c := range g.c {
					y[i*g.c+c] += x[at+c] / float64(n)
				}
			}
		}
	}}
	p.pass(s.mean[s.waiting:], p.mean)
	return p
}
