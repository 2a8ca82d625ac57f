package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute/affine"
)

// Padding says how a window treats the border of an image.
type Padding string

const (
	// Valid keeps the window inside the image: (size − kernel)/stride + 1 places,
	// rounded down. An empty Padding means Valid.
	Valid Padding = "valid"
	// Same surrounds the image with zeros; if their number is odd, there is one more
	// after than before. There are size/stride places, rounded up.
	Same Padding = "same"
)

// Conv2D slides Out filters of independent Normal weights over an image. With
// input moments m, v, weight moments w̄, s and bias moments b̄, b_s, every place
// has
//
//	m' = Σ w̄ m + b̄          v' = Σ [m² s + v (w̄² + s)] + b_s
//
// summed over the cells and channels that the kernel covers. The outputs share weights
// and inputs, so they are correlated; the next layer takes them as independent, as
// everywhere, unless the layers are inside Correlated.
type Conv2D struct {
	Out     int     `json:"out"`              // channels
	Kernel  [2]int  `json:"kernel"`           // height and width
	Stride  int     `json:"stride,omitempty"` // 0 means 1
	Padding Padding `json:"padding,omitempty"`
	Pad     [4]int  `json:"pad,omitzero"`    // zeros above, left, below and right of the image, where Padding is empty
	Fixed   bool    `json:"fixed,omitempty"` // weights are learned numbers, not distributions
	NoBias  bool    `json:"no_bias,omitempty"`
}

// Kind is "conv2d", as model files and the names of parameters have it.
func (Conv2D) Kind() string { return "conv2d" }

// Bind32 declares a kernel of height × width × channels × Out weights, and Out biases.
func (l Conv2D) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindConv(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Conv2D) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindConv(l, b) }

// Conv1D is Conv2D along a line: its input must have height 1.
type Conv1D struct {
	Out     int     `json:"out"` // channels
	Kernel  int     `json:"kernel"`
	Stride  int     `json:"stride,omitempty"` // 0 means 1
	Padding Padding `json:"padding,omitempty"`
	Fixed   bool    `json:"fixed,omitempty"`
	NoBias  bool    `json:"no_bias,omitempty"`
}

// Kind is "conv1d", as model files and the names of parameters have it.
func (Conv1D) Kind() string { return "conv1d" }

// Bind32 binds the layer as a Conv2D of height 1.
func (l Conv1D) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindConv1D(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Conv1D) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindConv1D(l, b) }

func bindConv1D[T gauss.Float](l Conv1D, b *Binder[T]) (Unit[T], error) {
	if b.In.H != 1 {
		return nil, fmt.Errorf("the input %v has height %d; a Conv1D needs height 1, use Conv2D for images", b.In, b.In.H)
	}
	return bindConv(Conv2D{Out: l.Out, Kernel: [2]int{1, l.Kernel}, Stride: l.Stride, Padding: l.Padding, Fixed: l.Fixed, NoBias: l.NoBias}, b)
}

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
