package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
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
	Fixed   bool    `json:"fixed,omitempty"` // weights are learned numbers, not distributions
	NoBias  bool    `json:"no_bias,omitempty"`
}

func (Conv2D) Kind() string { return "conv2d" }

func (l Conv2D) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindConv(l, b) }
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

func (Conv1D) Kind() string { return "conv1d" }

func (l Conv1D) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindConv1D(l, b) }
func (l Conv1D) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindConv1D(l, b) }

func bindConv1D[T gauss.Float](l Conv1D, b *Binder[T]) (Unit[T], error) {
	if b.In.H != 1 {
		return nil, fmt.Errorf("the input %v has height %d; a Conv1D needs height 1, use Conv2D for images", b.In, b.In.H)
	}
	return bindConv(Conv2D{l.Out, [2]int{1, l.Kernel}, l.Stride, l.Padding, l.Fixed, l.NoBias}, b)
}

// window returns how a kernel walks over an image, or why it cannot.
func window(in Shape, kernel [2]int, stride int, padding Padding) (compute.Window, error) {
	w := compute.Window{H: in.H, W: in.W, C: in.C, KH: kernel[0], KW: kernel[1], Stride: stride}
	switch {
	case w.KH < 1 || w.KW < 1:
		return w, fmt.Errorf("the window is %d×%d; both sides must be at least 1", w.KH, w.KW)
	case stride < 1:
		return w, fmt.Errorf("the stride is %d; it must be at least 1", stride)
	}
	w.Stride = min(stride, max(in.H, in.W)) // beyond is the same, and could overflow
	stride = w.Stride
	switch padding {
	case Valid, "":
		if w.KH > w.H || w.KW > w.W {
			err := fmt.Errorf("the window of %d×%d is larger than the image of %d×%d", w.KH, w.KW, w.H, w.W)
			if w.H == 1 && w.W == 1 {
				err = fmt.Errorf("%w: for images, set the Input of the network to nn.Shape{H, W, C}", err)
			}
			return w, err
		}
		w.OH, w.OW = (w.H-w.KH)/stride+1, (w.W-w.KW)/stride+1
	case Same:
		w.OH, w.OW = (w.H-1)/stride+1, (w.W-1)/stride+1
		w.Top, w.Left = max(0, (w.OH-1)*stride+w.KH-w.H)/2, max(0, (w.OW-1)*stride+w.KW-w.W)/2
	default:
		return w, fmt.Errorf("the padding is %q; it must be %q or %q", padding, Valid, Same)
	}
	return w, nil
}
