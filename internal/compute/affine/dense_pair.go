package affine

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
)

// BackwardPair is Backward of a layer with one output, and then PullPair into panels: m and v are
// the moments before the function, mean is what the function made of them, the layer's input.
func (d *Dense[T]) BackwardPair(p *kernel.LeakyPair, rows int, m, v, mean, g, h, dm, dv []T) {
	if !d.fuses() {
		panic("compute: BackwardPair needs one output and whole panels of inputs")
	}
	n := rows * d.In
	if rows > 0 {
		p.PullOne(cpu.As32(m[:n]), cpu.As32(v[:n]), cpu.As32(mean[:n]), cpu.As32(d.columns), cpu.As32(g[:rows]), cpu.As32(h[:rows]), cpu.As32(dm[:n]), cpu.As32(dv[:n]), rows)
	}
}

// Fuses reports whether BackwardPair takes the layer.
func (d *Dense[T]) Fuses() bool { return cpu.Wide && d.fuses() }

// Outer reports whether ForwardOuter and GradientOuter take the layer: one that has one input,
// which is fixed.
func (d *Dense[T]) Outer() bool { return d.outer }

// ForwardOuter pushes rows of the one input x through the layer and a pair, records x if there is
// a tape, and writes the squares of the means, too. The moments between are computed again on the way back: they take
// two multiply-adds.
func (d *Dense[T]) ForwardOuter(p *kernel.LeakyPair, tape []T, rows int, x, mean, variance, squares []T) {
	if tape != nil {
		d.recordInput(tape, rows, x, nil)
	}
	if n := rows * d.Out; rows > 0 {
		p.PushOuter(cpu.As32(x[:rows]), cpu.As32(d.mean.Data), cpu.As32(d.vari.Data), cpu.As32(d.biasMean), cpu.As32(d.biasVar),
			cpu.As32(mean[:n]), cpu.As32(variance[:n]), cpu.As32(squares[:n]), rows)
	}
}

// GradientOuter is Gradient where the tape has the gradients by the outputs of a pair behind the
// layer in the place of those by the outputs of the layer.
func (d *Dense[T]) GradientOuter(p *kernel.LeakyPair, blocks []TapeBlock[T], o Gradients[T], scratch []T) {
	if o.BiasMean == nil { // there are biases of zero
		o.BiasMean, o.BiasVar = scratch[:d.Out], scratch[d.Out:][:d.Out]
	}
	add := false
	for _, b := range blocks {
		if b.Rows == 0 {
			continue
		}
		at := func(i int) []float32 { return cpu.As32(d.onTape(b.Tape, b.Rows, i)) }
		p.SumOuter(at(2), cpu.As32(d.mean.Data), cpu.As32(d.vari.Data), cpu.As32(d.biasMean), cpu.As32(d.biasVar), at(0), at(1),
			cpu.As32(o.Mean), cpu.As32(o.Var), cpu.As32(o.BiasMean), cpu.As32(o.BiasVar), b.Rows, add)
		add = true
	}
}
