package gpu

import "utvi/internal/cuda"

// A convolution of a network's inputs with few weights is an operation of the kernel fused.
// The gradients of its weights are, too: every few rows leave a part, and the kernel of the
// gradients adds the parts up.

// mostFolded is the most weights of such a convolution.
const mostFolded = 1 << 10

// folds reports whether the layer is such a convolution.
func (l *layer) folds() bool {
	return l.kind == opConv && l.input == 0 && l.weights() <= mostFolded
}

// A foldedGradient is the gradient of a convolution whose parts the pass leaves.
type foldedGradient struct {
	layer *layer
	parts cuda.Ptr
	count int // parts
	width int // of a part
}

// A folder is a path with folded convolutions: so many rows leave a part of their gradients.
type folder interface {
	foldedRows(w *weights, rows int) int
}

// fold adds the gradient of a convolution to the pass.
func (s *stepList) fold(l *layer, o op) {
	rows := s.w.path.(folder).foldedRows(s.w, s.rows)
	f := foldedGradient{layer: l, count: tiles(s.rows, rows), width: 2 * (l.weights() + l.features())}
	f.parts = s.w.floats(f.count * f.width)
	o.Kind = opConvGradient
	o.Tape = f.parts
	o.Room = int32(f.width)
	o.Count = int32(rows)
	o.OM, o.OV = 0, 0
	s.pass.add(o)
	s.grads.folded = append(s.grads.folded, f)
}

// placeFolded adds the jobs that add up the parts.
func (g *gradients) placeFolded(w *weights, grad cuda.Ptr) {
	for _, f := range g.folded {
		at := 0
		for _, places := range [][]int{w.mean, w.rho} {
			for i, n := range []int{f.layer.weights(), f.layer.features()} {
				if i < len(f.layer.tensors) {
					t := f.layer.tensors[i]
					if &places[0] == &w.mean[0] || w.tensors[t].random {
						g.alone[0].addParts(f, at, n, grad.Add(4*places[t]))
						g.side[0].addParts(f, at, n, grad.Add(4*places[t]))
					}
				}
				at += n
			}
		}
	}
}

// addParts adds the jobs of n numbers of every part, from number at on.
func (s *jobSet) addParts(f foldedGradient, at, n int, to cuda.Ptr) {
	for x := range tiles(n, gradientElements) {
		s.jobs = append(s.jobs, gradJob{int32(len(s.products)), int32(x), jobParts, 0})
	}
	s.products = append(s.products, product{A0: f.parts.Add(4 * at), Rows: int32(n), Split: int32(f.count), Part: int64(f.width), O0: to})
}
