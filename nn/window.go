package nn

import (
	"fmt"

	"utvi/internal/compute/affine"
)

// maxPad, maxPlaces and maxSide bound what a small file may ask for.
const (
	maxPad    = 1 << 12
	maxPlaces = 1 << 24
	maxSide   = 1 << 31
)

// A windowing is what a layer says of its window.
type windowing struct {
	kernel   [2]int
	stride   [2]int
	dilation [2]int
	groups   int
	padding  Padding
	pad      [4]int
}

// oneOrTwo is a number for both directions, or one for each; standard stands for none.
func oneOrTwo(name string, both int, each [2]int, standard int) ([2]int, error) {
	switch {
	case each == [2]int{} && both == 0:
		return [2]int{standard, standard}, nil
	case each == [2]int{}:
		return [2]int{both, both}, nil
	case both != 0:
		return each, fmt.Errorf("%s is %d, and %ss are %v; set one of them", name, both, name, each)
	}
	return each, nil
}

// over is the window over an image before its places are counted, or why there is none.
func (x windowing) over(in Shape) (w affine.Window, err error) {
	if x.dilation == [2]int{} {
		x.dilation = [2]int{1, 1}
	}
	w = affine.Window{H: in.H, W: in.W, C: in.C, KH: x.kernel[0], KW: x.kernel[1], Down: x.stride[0], Across: x.stride[1],
		Rise: x.dilation[0], Run: x.dilation[1], Groups: max(1, x.groups)}
	switch {
	case min(w.KH, w.KW) < 1 || max(w.KH, w.KW) > maxSide:
		return w, fmt.Errorf("the window is %d×%d; both sides must be at least 1", w.KH, w.KW)
	case min(w.Down, w.Across) < 1 && w.Down == w.Across:
		return w, fmt.Errorf("the stride is %d; it must be at least 1", w.Down)
	case min(w.Down, w.Across) < 1:
		return w, fmt.Errorf("the strides are %v; they must be at least 1", x.stride)
	case min(w.Rise, w.Run) < 1 || max(w.Rise, w.Run) > maxPad:
		return w, fmt.Errorf("the dilation is %v; its numbers must be at least 1 and at most %d", x.dilation, maxPad)
	case x.groups < 0:
		return w, fmt.Errorf("there are %d groups; there must be at least 1", x.groups)
	}
	return w, nil
}

// window returns how a kernel walks over an image, or why it cannot.
func (x windowing) window(in Shape) (affine.Window, error) {
	w, err := x.over(in)
	if err != nil {
		return w, err
	}
	if x.pad != [4]int{} {
		return padded(w, x.padding, x.pad)
	}
	w.Down, w.Across = min(w.Down, max(in.H, in.W)), min(w.Across, max(in.H, in.W)) // beyond is the same, and could overflow
	down, across := w.Reach()
	switch x.padding {
	case Valid, "":
		if down > w.H || across > w.W {
			err := fmt.Errorf("the window of %s is larger than the image of %d×%d", reach(w), w.H, w.W)
			if w.H == 1 && w.W == 1 {
				err = fmt.Errorf("%w: for images, set the Input of the network to nn.Shape{H, W, C}", err)
			}
			return w, err
		}
		w.OH, w.OW = (w.H-down)/w.Down+1, (w.W-across)/w.Across+1
	case Same:
		w.OH, w.OW = (w.H-1)/w.Down+1, (w.W-1)/w.Across+1
		w.Top, w.Left = max(0, (w.OH-1)*w.Down+down-w.H)/2, max(0, (w.OW-1)*w.Across+across-w.W)/2
	default:
		return w, fmt.Errorf("the padding is %q; it must be %q or %q", x.padding, Valid, Same)
	}
	return w, nil
}

// reach writes the sides of a window with what its dilation adds.
func reach(w affine.Window) string {
	down, across := w.Reach()
	return fmt.Sprintf("%d×%d", down, across)
}

// padded is window with cells above, left, below and right of the image. A window always
// covers a cell of the image.
func padded(w affine.Window, padding Padding, pad [4]int) (affine.Window, error) {
	if padding != "" {
		return w, fmt.Errorf("the padding is %q, and Pad is %v; set one of them", padding, pad)
	}
	down, across := w.Reach()
	for i, p := range pad {
		if side := [2]int{down, across}[i%2]; p < 0 || p >= side || p > maxPad {
			return w, fmt.Errorf("the image is padded by %v cells (above, left, below, right); each number must be at least 0, at most %d and less than the window, which is %s", pad, maxPad, reach(w))
		}
	}
	h, wide := w.H+pad[0]+pad[2], w.W+pad[1]+pad[3]
	if down > h || across > wide {
		return w, fmt.Errorf("the window of %s is larger than the padded image of %d×%d", reach(w), h, wide)
	}
	w.Down, w.Across = min(w.Down, max(h, wide)), min(w.Across, max(h, wide))
	w.OH, w.OW = (h-down)/w.Down+1, (wide-across)/w.Across+1
	w.Top, w.Left = pad[0], pad[1]
	if w.OW > maxPlaces/w.OH {
		return w, fmt.Errorf("the window has %d×%d places; at most %d are allowed", w.OH, w.OW, maxPlaces)
	}
	return w, nil
}
