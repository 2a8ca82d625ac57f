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
		x := kernel.OneOutput{M: cpu.As32(m[:n]), V: cpu.As32(v[:n]), Mean: cpu.As32(mean[:n]),
			Columns: cpu.As32(d.columns), G: cpu.As32(g[:rows]), H: cpu.As32(h[:rows])}
		p.PullOne(&x, cpu.As32(dm[:n]), cpu.As32(dv[:n]), rows)
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
		l := d.oneInput(x[:rows])
		p.PushOuter(&l, cpu.As32(mean[:n]), cpu.As32(variance[:n]), cpu.As32(squares[:n]), rows)
	}
}

// GradientOuter is Gradient where the tape has the gradients by the outputs of a pair behind the
// layer in the place of those by the outputs of the layer.
func (d *Dense[T]) GradientOuter(p *kernel.LeakyPair, blocks []TapeBlock[T], o Gradients[T], scratch []T) {
	if o.BiasMean == nil { // there are biases of zero
		o.BiasMean, o.BiasVar = scratch[:d.Out], scratch[d.Out:][:d.Out]
	}
	to := kernel.OneInputGradients{W: cpu.As32(o.Mean), S: cpu.As32(o.Var), BiasMean: cpu.As32(o.BiasMean), BiasVar: cpu.As32(o.BiasVar)}
	add := false
	for _, b := range blocks {
		if b.Rows == 0 {
			continue
		}
		l := d.oneInput(d.onTape(b.Tape, b.Rows, 2))
		p.SumOuter(&l, cpu.As32(d.onTape(b.Tape, b.Rows, 0)), cpu.As32(d.onTape(b.Tape, b.Rows, 1)), &to, b.Rows, add)
		add = true
	}
}

// oneInput is the layer as the kernels of one input see it, with rows of that.
func (d *Dense[T]) oneInput(x []T) kernel.OneInput {
	return kernel.OneInput{X: cpu.As32(x), W: cpu.As32(d.mean.Data), S: cpu.As32(d.vari.Data),
		BiasMean: cpu.As32(d.biasMean), BiasVar: cpu.As32(d.biasVar)}
}
