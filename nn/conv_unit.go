package nn

import (
	"fmt"

	"utvi/compute"
	"utvi/vi"
)

type conv[T compute.Float] struct {
	weight, bias *vi.Tensor[T] // bias is nil without one
	product      *compute.Conv[T]
	out          Shape
}

func bindConv[T compute.Float](l Conv2D, b *Binder[T]) (Unit[T], error) {
	if l.Out < 1 {
		return nil, fmt.Errorf("it has %d output channels; it needs at least 1", l.Out)
	}
	stride := l.Stride
	if stride == 0 {
		stride = 1
	}
	w, err := window(b.In, l.Kernel, stride, l.Padding)
	if err != nil {
		return nil, err
	}
	fanIn := w.KH * w.KW * w.C
	u := &conv[T]{out: Shape{w.OH, w.OW, l.Out}}
	u.weight = b.Random("weight", l.Fixed, fanIn, w.KH, w.KW, w.C, l.Out)
	if !l.NoBias {
		u.bias = b.Random("bias", l.Fixed, fanIn, l.Out)
	}
	u.product = compute.NewConv[T](w, l.Out, u.weight.Random, b.Train)
	return u, nil
}

func (u *conv[T]) Out() Shape        { return u.out }
func (u *conv[T]) Random() bool      { return u.product.Random }
func (u *conv[T]) TapeWidth() int    { return u.product.TapeWidth() }
func (u *conv[T]) GradTiles() int    { return u.product.GradTiles() }
func (u *conv[T]) PrepareTiles() int { return u.product.PrepareTiles() }

func (u *conv[T]) NewRunner(_ int, train bool) Runner[T] {
	r := &convRunner[T]{conv: u, train: train}
	r.scratch = make([]T, max(3*u.product.Laid(), u.product.BackScratch(), u.product.PrepareScratch()))
	return r
}

type convRunner[T compute.Float] struct {
	*conv[T]
	train   bool
	scratch []T
	blocks  []compute.TapeBlock[T]
}

func (r *convRunner[T]) Prepare(tile int) {
	r.product.Prepare(tile, r.weight.Mean, r.weight.Rho, r.scratch)
	if tile == 0 && r.bias != nil {
		r.product.PrepareBias(r.bias.Mean, r.bias.Rho)
	}
}

// Forward goes image by image, so that each stays in cache for all products.
func (r *convRunner[T]) Forward(p *Pass[T]) {
	tape := r.scratch
	for i := range p.In.Rows {
		in, out := p.In.Slice(i, i+1), p.Out.Slice(i, i+1)
		if r.train {
			tape = p.Tape[i*r.TapeWidth():]
		}
		r.product.Forward(tape, in.Mean, in.Var, out.Mean, out.Var)
	}
}

func (r *convRunner[T]) Backward(p *Pass[T]) {
	for i := range p.DOut.Rows {
		out := p.DOut.Slice(i, i+1)
		tape := p.Tape[i*r.TapeWidth():]
		r.product.Record(tape, out.Mean, out.Var)
		if p.DIn.Mean != nil {
			in, d := p.In.Slice(i, i+1), p.DIn.Slice(i, i+1)
			r.product.Backward(tape, in.Mean, out.Mean, out.Var, d.Mean, d.Var, r.scratch)
		}
	}
}

func (r *convRunner[T]) Gradient(tile int, blocks []Block[T]) {
	r.blocks = r.blocks[:0]
	for _, b := range blocks {
		r.blocks = append(r.blocks, compute.TapeBlock[T]{Rows: b.Rows, Tape: b.Tape})
	}
	hasV := !blocks[0].Det
	hasH := hasV || r.product.Random
	r.product.Gradient(tile, r.blocks, hasV, hasH, r.weight.Mean, r.weight.GMean, r.weight.GVar)
	if tile == 0 && r.bias != nil {
		r.product.BiasGradient(r.blocks, hasH, r.bias.GMean, r.bias.GVar)
	}
}
