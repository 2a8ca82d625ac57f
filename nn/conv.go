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
//
// With Groups, the channels of the input and of the output are cut into as many equal groups,
// and each group of filters sees its own group of channels; with as many groups as channels
// the convolution is depthwise.
type Conv2D struct {
	Out      int     `json:"out"`               // channels
	Kernel   [2]int  `json:"kernel"`            // height and width
	Stride   int     `json:"stride,omitempty"`  // down and across; 0 means 1
	Strides  [2]int  `json:"strides,omitzero"`  // down, then across, where they differ; instead of Stride
	Dilation [2]int  `json:"dilation,omitzero"` // distance between the cells of the kernel, down and across; zeros mean 1
	Groups   int     `json:"groups,omitempty"`  // 0 means 1
	Padding  Padding `json:"padding,omitempty"`
	Pad      [4]int  `json:"pad,omitzero"`    // zeros above, left, below and right of the image, where Padding is empty
	Fixed    bool    `json:"fixed,omitempty"` // weights are learned numbers, not distributions
	NoBias   bool    `json:"no_bias,omitempty"`
}

// Kind is "conv2d", as model files and the names of parameters have it.
func (Conv2D) Kind() string { return "conv2d" }

// Bind32 declares a kernel of height × width × channels of a group × Out weights, and Out biases.
func (l Conv2D) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindConv(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Conv2D) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindConv(l, b) }

// Conv1D is Conv2D along a line: its input must have height 1.
type Conv1D struct {
	Out      int     `json:"out"` // channels
	Kernel   int     `json:"kernel"`
	Stride   int     `json:"stride,omitempty"`   // 0 means 1
	Dilation int     `json:"dilation,omitempty"` // distance between the cells of the kernel; 0 means 1
	Groups   int     `json:"groups,omitempty"`   // 0 means 1; see Conv2D
	Padding  Padding `json:"padding,omitempty"`
	Pad      [2]int  `json:"pad,omitzero"` // zeros before and after the line, where Padding is empty
	Fixed    bool    `json:"fixed,omitempty"`
	NoBias   bool    `json:"no_bias,omitempty"`
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
	return bindConv(l.Flat(), b)
}

// Flat returns the Conv2D of height 1 that the layer is.
func (l Conv1D) Flat() Conv2D {
	wide := Conv2D{Out: l.Out, Kernel: [2]int{1, l.Kernel}, Stride: l.Stride, Groups: l.Groups, Padding: l.Padding,
		Pad: [4]int{1: l.Pad[0], 3: l.Pad[1]}, Fixed: l.Fixed, NoBias: l.NoBias}
	if l.Dilation != 0 {
		wide.Dilation = [2]int{1, l.Dilation}
	}
	return wide
}

// A slider is what slides a window of Normal weights over an image: affine.Conv and
// affine.Transposed.
type slider[T gauss.Float] interface {
	product[T]
	Scratch() int
	PredictTape() int
	Forward(tape, m, v, mo, vo, scratch []T)
	Record(tape, g, h []T)
	Backward(tape, m, g, h, dm, dv, scratch []T)

	senseSlider[T]
}

type conv[T gauss.Float] struct {
	linear[T]
	conv  slider[T]
	shape Shape // of the image
	out   Shape
	apart bool // the weights' variance is kept apart, to carry correlations
	k     int  // quantities that are followed
}

func bindConv[T gauss.Float](l Conv2D, b *Binder[T]) (Unit[T], error) {
	stride, err := oneOrTwo("Stride", l.Stride, l.Strides, 1)
	if err != nil {
		return nil, err
	}
	err = checkChannels(b.In.C, l.Out, l.Groups)
	if err != nil {
		return nil, err
	}
	w, err := windowing{l.Kernel, stride, l.Dilation, l.Groups, l.Padding, l.Pad}.window(b.In)
	if err != nil {
		return nil, err
	}
	channels := w.C / w.Groups
	if w.KH > maxWeights/w.KW/channels/l.Out {
		return nil, fmt.Errorf("%d × %d × %d × %d weights; a layer may have at most %d", w.KH, w.KW, channels, l.Out, maxWeights)
	}
	u := &conv[T]{shape: b.In, out: Shape{w.OH, w.OW, l.Out}}
	fanIn := w.KH * w.KW * channels
	u.linear, err = declare(b, l.Fixed, l.NoBias, fanIn, l.Out, w.KH, w.KW, channels)
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

// checkChannels refuses channels that cannot be cut into groups.
func checkChannels(in, out, groups int) error {
	switch {
	case out < 1:
		return fmt.Errorf("%d output channels; a convolution needs at least 1", out)
	case groups > 0 && (in%groups != 0 || out%groups != 0):
		return fmt.Errorf("%d groups of %d input and %d output channels; both must be multiples of the number of groups", groups, in, out)
	}
	return nil
}

func (u *conv[T]) Out() Shape { return u.out }

func (u *conv[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := convRunner[T]{u.newRunner(maxRows, u.conv.Scratch(), train), u.conv, nil}
	if u.apart {
		return newConvSenser(r, u, maxRows, train)
	}
	if !train {
		r.tape = make([]T, u.conv.PredictTape())
	}
	return &r
}

type convRunner[T gauss.Float] struct {
	linearRunner[T]
	conv slider[T]
	tape []T // in prediction
}

// Forward goes image by image, so that each stays in cache for all products.
func (r *convRunner[T]) Forward(p *Pass[T]) {
	tape := r.tape
	for i := range p.In.Rows {
		in, out := p.In.Slice(i, i+1), p.Out.Slice(i, i+1)
		if r.train {
			tape = p.Tape[i*r.TapeWidth():]
		}
		r.conv.Forward(tape, in.Mean, in.Var, out.Mean, out.Var, r.scratch)
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
