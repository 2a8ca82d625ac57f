package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute/affine"
)

type conv[T gauss.Float] struct {
	linear[T]
	conv  *affine.Conv[T]
	shape Shape // of the image
	out   Shape
	apart bool // the weights' variance is kept apart, to carry correlations
	k     int  // quantities that are followed
}

func bindConv[T gauss.Float](l Conv2D, b *Binder[T]) (Unit[T], error) {
	if l.Out < 1 {
		return nil, fmt.Errorf("%d output channels; a convolution needs at least 1", l.Out)
	}
	stride := l.Stride
	if stride == 0 {
		stride = 1
	}
	w, err := window(b.In, l.Kernel, stride, l.Padding, l.Pad)
	if err != nil {
		return nil, err
	}
	if w.KH > maxWeights/w.KW/w.C/l.Out {
		return nil, fmt.Errorf("%d × %d × %d × %d weights; a layer may have at most %d", w.KH, w.KW, w.C, l.Out, maxWeights)
	}
	fanIn := w.KH * w.KW * w.C
	u := &conv[T]{shape: b.In, out: Shape{w.OH, w.OW, l.Out}}
	u.linear, err = declare(b, l.Fixed, l.NoBias, fanIn, l.Out, w.KH, w.KW, w.C)
	if err != nil {
		return nil, err
	}
	u.apart = b.Sense && u.Form() != Fixed
	if u.apart {
		u.conv = affine.NewConvApart[T](w, l.Out, u.weight.Random)
	} else {
		u.conv = affine.NewConv[T](w, l.Out, u.weight.Random, b.Train)
	}
	u.product = u.conv
	return u, nil
}

func (u *conv[T]) Out() Shape { return u.out }

func (u *conv[T]) NewRunner(maxRows int, train bool) Runner[T] {
	scratch := max(3*u.conv.Laid(), u.conv.BackScratch())
	r := convRunner[T]{u.newRunner(maxRows, scratch, train), u.conv}
	if u.apart {
		return newConvSenser(r, u, maxRows, train)
	}
	return &r
}

type convRunner[T gauss.Float] struct {
	linearRunner[T]
	conv *affine.Conv[T]
}

// Forward goes image by image, so that each stays in cache for all products.
func (r *convRunner[T]) Forward(p *Pass[T]) {
	tape := r.scratch
	for i := range p.In.Rows {
		in, out := p.In.Slice(i, i+1), p.Out.Slice(i, i+1)
		if r.train {
			tape = p.Tape[i*r.TapeWidth():]
		}
		r.conv.Forward(tape, in.Mean, in.Var, out.Mean, out.Var)
	}
}

func (r *convRunner[T]) Backward(p *Pass[T]) {
	for i := range p.DOut.Rows {
		out := p.DOut.Slice(i, i+1)
		tape := p.Tape[i*r.TapeWidth():]
		r.conv.Record(tape, out.Mean, out.Var)
		if p.DIn.Mean != nil {
			in, d := p.In.Slice(i, i+1), p.DIn.Slice(i, i+1)
			r.conv.Backward(tape, in.Mean, out.Mean, out.Var, d.Mean, d.Var, r.scratch)
		}
	}
}
