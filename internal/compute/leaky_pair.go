package compute

import "math"

// A LeakyPair is a leaky ReLU by a rule of three points whose outer two lie on either side of the
// middle one alike, for the kernels of AVX-512. They take gradients back without a Jacobian, which
// is computed again: to write its four planes and to read them would take longer.
type LeakyPair struct{ k [9]float32 } // its order is that of gen/elem

// NewLeakyPair returns the pair of slope a and a rule, or nil where there are no kernels for it.
func NewLeakyPair(a float32, xi, w []float32) *LeakyPair {
	if p, ok := leakyPair(a, xi, w); ok {
		return &p
	}
	return nil
}

func leakyPair(a float32, xi, w []float32) (p LeakyPair, ok bool) {
	if !wide || !(a <= 1) || len(xi) != 3 || xi[0] != 0 || xi[1] != -xi[2] || w[1] != w[2] || math.Abs(float64(w[0]+2*w[1]-1)) > 1e-6 {
		return p, false
	}
	x := max(xi[1], xi[2])
	o := w[1]
	c := 1 - a
	return LeakyPair{[...]float32{a, -a, c, -c, x, o, 2 * o, o * (1 - o), x / 2}}, true
}

// PullPair pulls gradients gm, gv with respect to the moments that a pair makes of m and v back to
// these. dm and dv may be gm and gv. If rows is not 0, dm and dv get so many rows in panels of NR
// columns; see Dense.TapePanels.
func PullPair[T Float](p *LeakyPair, m, v, gm, gv, dm, dv []T, rows int) {
	n := len(m)
	if len(v) != n || len(gm) != n || len(gv) != n || len(dm) != n || len(dv) != n || rows > 0 && n%(rows*NR) > 0 {
		panic("compute: PullPair lengths differ")
	}
	if n > 0 {
		p.pull(as32(m), as32(v), as32(gm), as32(gv), as32(dm), as32(dv), rows)
	}
}

// BackwardPair is Backward of a layer with one output, and then PullPair into panels: m and v are
// the moments before the function, mean is what the function made of them, the layer's input.
func (d *Dense[T]) BackwardPair(p *LeakyPair, rows int, m, v, mean, g, h, dm, dv []T) {
	if !d.fuses() {
		panic("compute: BackwardPair needs one output and whole panels of inputs")
	}
	n := rows * d.In
	if rows > 0 {
		p.pullOne(as32(m[:n]), as32(v[:n]), as32(mean[:n]), as32(d.few), as32(g[:rows]), as32(h[:rows]), as32(dm[:n]), as32(dv[:n]), rows)
	}
}

// Fuses reports whether BackwardPair takes the layer.
func (d *Dense[T]) Fuses() bool { return wide && d.fuses() }

// Outer reports whether ForwardOuter and GradientOuter take the layer: one that has one input,
// which is fixed.
func (d *Dense[T]) Outer() bool {
	return wide && is32[T]() && d.In == 1 && d.Random && !d.apart && d.Out%NR == 0
}

// ForwardOuter pushes rows of the one input x through the layer and a pair, records x if there is
// a tape, and writes the squares of the means, too. The moments between are computed again on the way back: they take
// two multiply-adds.
func (d *Dense[T]) ForwardOuter(p *LeakyPair, tape []T, rows int, x, mean, variance, squares []T) {
	if tape != nil {
		d.recordInput(tape, rows, x, nil)
	}
	if n := rows * d.Out; rows > 0 {
		p.pushOuter(as32(x[:rows]), as32(d.mean.Data), as32(d.vari.Data), as32(d.biasMean), as32(d.biasVar),
			as32(mean[:n]), as32(variance[:n]), as32(squares[:n]), rows)
	}
}

// GradientOuter is Gradient where the tape has the gradients by the outputs of a pair behind the
// layer in the place of those by the outputs of the layer.
func (d *Dense[T]) GradientOuter(p *LeakyPair, blocks []TapeBlock[T], o Gradients[T], scratch []T) {
	if o.BiasMean == nil { // there are biases of zero
		o.BiasMean, o.BiasVar = scratch[:d.Out], scratch[d.Out:][:d.Out]
	}
	add := false
	for _, b := range blocks {
		if b.Rows == 0 {
			continue
		}
		at := func(i int) []float32 { return as32(d.onTape(b.Tape, b.Rows, i)) }
		p.sumOuter(at(2), as32(d.mean.Data), as32(d.vari.Data), as32(d.biasMean), as32(d.biasVar), at(0), at(1),
			as32(o.Mean), as32(o.Var), as32(o.BiasMean), as32(o.BiasVar), b.Rows, add)
		add = true
	}
}
