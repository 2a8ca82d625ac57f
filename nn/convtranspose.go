package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute/affine"
)

// ConvTranspose2D is a transposed convolution, as decoders use to make images larger: every
// cell of the input adds its channels times a kernel of independent Normal weights to a window
// of the output, Stride cells further than the cell before. Its sides are
//
//	(side − 1)·stride + (kernel − 1)·dilation + 1 − Pad before − Pad after + OutputPad
//
// as PyTorch and ONNX have it. The moments are those of Conv2D, summed over the inputs that
// reach a cell.
type ConvTranspose2D struct {
	Out       int    `json:"out"`                 // channels
	Kernel    [2]int `json:"kernel"`              // height and width
	Stride    int    `json:"stride,omitempty"`    // down and across; 0 means 1
	Strides   [2]int `json:"strides,omitzero"`    // down, then across, where they differ; instead of Stride
	Dilation  [2]int `json:"dilation,omitzero"`   // distance between the cells of the kernel, down and across; zeros mean 1
	Groups    int    `json:"groups,omitempty"`    // 0 means 1; see Conv2D
	Pad       [4]int `json:"pad,omitzero"`        // cells that are cut off above, left, below and right of the output
	OutputPad [2]int `json:"output_pad,omitzero"` // rows below and columns right of it that are added, less than a stride
	Fixed     bool   `json:"fixed,omitempty"`     // weights are learned numbers, not distributions
	NoBias    bool   `json:"no_bias,omitempty"`
}

// Kind is "convtranspose2d", as model files and the names of parameters have it.
func (ConvTranspose2D) Kind() string { return "convtranspose2d" }

// Bind32 declares a kernel of height × width × Out of a group × input channels weights, and Out
// biases.
func (l ConvTranspose2D) Bind32(b *Binder[float32]) (Unit[float32], error) {
	return bindTranspose(l, b)
}

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l ConvTranspose2D) Bind64(b *Binder[float64]) (Unit[float64], error) {
	return bindTranspose(l, b)
}

// ConvTranspose1D is ConvTranspose2D along a line: its input must have height 1.
type ConvTranspose1D struct {
	Out       int    `json:"out"` // channels
	Kernel    int    `json:"kernel"`
	Stride    int    `json:"stride,omitempty"`     // 0 means 1
	Dilation  int    `json:"dilation,omitempty"`   // distance between the cells of the kernel; 0 means 1
	Groups    int    `json:"groups,omitempty"`     // 0 means 1; see Conv2D
	Pad       [2]int `json:"pad,omitzero"`         // cells that are cut off before and after the line
	OutputPad int    `json:"output_pad,omitempty"` // cells that are added after it
	Fixed     bool   `json:"fixed,omitempty"`
	NoBias    bool   `json:"no_bias,omitempty"`
}

// Kind is "convtranspose1d", as model files and the names of parameters have it.
func (ConvTranspose1D) Kind() string { return "convtranspose1d" }

// Bind32 binds the layer as a ConvTranspose2D of height 1.
func (l ConvTranspose1D) Bind32(b *Binder[float32]) (Unit[float32], error) {
	return bindTranspose1D(l, b)
}

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l ConvTranspose1D) Bind64(b *Binder[float64]) (Unit[float64], error) {
	return bindTranspose1D(l, b)
}

func bindTranspose1D[T gauss.Float](l ConvTranspose1D, b *Binder[T]) (Unit[T], error) {
	if b.In.H != 1 {
		return nil, fmt.Errorf("the input %v has height %d; a ConvTranspose1D needs height 1, use ConvTranspose2D for images", b.In, b.In.H)
	}
	return bindTranspose(l.Flat(), b)
}

// Flat returns the ConvTranspose2D of height 1 that the layer is.
func (l ConvTranspose1D) Flat() ConvTranspose2D {
	wide := ConvTranspose2D{Out: l.Out, Kernel: [2]int{1, l.Kernel}, Groups: l.Groups, Pad: [4]int{1: l.Pad[0], 3: l.Pad[1]},
		OutputPad: [2]int{0, l.OutputPad}, Fixed: l.Fixed, NoBias: l.NoBias}
	if l.Stride != 0 {
		wide.Strides = [2]int{1, l.Stride}
	}
	if l.Dilation != 0 {
		wide.Dilation = [2]int{1, l.Dilation}
	}
	return wide
}

func bindTranspose[T gauss.Float](l ConvTranspose2D, b *Binder[T]) (Unit[T], error) {
	w, err := l.window(b.In)
	if err != nil {
		return nil, err
	}
	filters := w.C / w.Groups
	if w.KH > maxWeights/w.KW/filters/b.In.C {
		return nil, fmt.Errorf("%d × %d × %d × %d weights; a layer may have at most %d", w.KH, w.KW, filters, b.In.C, maxWeights)
	}
	u := &conv[T]{shape: b.In, out: Shape{w.H, w.W, l.Out}}
	u.linear = linear[T]{in: b.Form}
	reached := (w.KH + w.Down - 1) / w.Down * ((w.KW + w.Across - 1) / w.Across) // inputs that reach a cell
	fanIn := reached * b.In.C / w.Groups
	u.weight, err = b.Random("weight", l.Fixed, fanIn, w.KH, w.KW, filters, b.In.C)
	if err == nil && !l.NoBias {
		u.bias, err = b.Random("bias", l.Fixed, fanIn, l.Out)
	}
	if err != nil {
		return nil, err
	}
	u.apart = b.Sense && u.Form() != Fixed
	if u.apart {
		u.conv = affine.NewTransposedApart[T](w, b.In.C, u.weight.Random)
	} else {
		u.conv = affine.NewTransposed[T](w, b.In.C, u.weight.Random)
	}
	u.product = u.conv
	return u, nil
}

// window returns how the inputs' windows lie over the output, or why they cannot.
func (l ConvTranspose2D) window(in Shape) (w affine.Window, err error) {
	stride, err := oneOrTwo("Stride", l.Stride, l.Strides, 1)
	if err != nil {
		return w, err
	}
	err = checkChannels(in.C, l.Out, l.Groups)
	if err != nil {
		return w, err
	}
	w, err = windowing{kernel: l.Kernel, stride: stride, dilation: l.Dilation, groups: l.Groups}.over(Shape{in.H, in.W, l.Out})
	if err != nil {
		return w, err
	}
	down, across := w.Reach()
	reach := [2]int{down, across}
	sides := [2]*int{&w.H, &w.W}
	for i, side := range sides {
		more := l.OutputPad[i]
		before, after := l.Pad[i], l.Pad[i+2]
		switch {
		case stride[i] > maxPlaces || reach[i] > maxPlaces:
			return w, fmt.Errorf("a stride of %d and a window of %d cells; at most %d are allowed", stride[i], reach[i], maxPlaces)
		case min(before, after) < 0 || max(before, after) >= reach[i]:
			return w, fmt.Errorf("%v cells of the output are cut off (above, left, below, right); each number must be at least 0 and less than the window, which is %d×%d", l.Pad, down, across)
		case more < 0 || more >= stride[i]:
			return w, fmt.Errorf("OutputPad is %v; its numbers must be at least 0 and less than the stride, %d", l.OutputPad, stride[i])
		}
		*side = (*side-1)*stride[i] + reach[i] - before - after + more
		if *side < 1 || *side > maxPlaces {
			return w, fmt.Errorf("a side of the output would be %d cells; it must be at least 1 and at most %d", *side, maxPlaces)
		}
	}
	if w.W > maxPlaces/w.H {
		return w, fmt.Errorf("the output would have %d×%d places; at most %d are allowed", w.H, w.W, maxPlaces)
	}
	w.Top, w.Left = l.Pad[0], l.Pad[1]
	w.OH, w.OW = in.H, in.W
	return w, nil
}
