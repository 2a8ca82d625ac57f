package nn

import (
	"fmt"

	"utvi/internal/compute/affine"
)

// maxPad and maxPlaces bound what a small file may ask for.
const (
	maxPad    = 1 << 12
	maxPlaces = 1 << 24
)

// window returns how a kernel walks over an image, or why it cannot.
func window(in Shape, kernel [2]int, stride int, padding Padding, pad [4]int) (affine.Window, error) {
	w := affine.Window{H: in.H, W: in.W, C: in.C, KH: kernel[0], KW: kernel[1], Stride: stride}
	switch {
	case w.KH < 1 || w.KW < 1:
		return w, fmt.Errorf("the window is %d×%d; both sides must be at least 1", w.KH, w.KW)
	case stride < 1:
		return w, fmt.Errorf("the stride is %d; it must be at least 1", stride)
	}
	if pad != [4]int{} {
		return padded(w, padding, pad)
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

// padded is window with cells above, left, below and right of the image. A window always
// covers a cell of the image.
func padded(w affine.Window, padding Padding, pad [4]int) (affine.Window, error) {
	if padding != "" {
		return w, fmt.Errorf("the padding is %q, and Pad is %v; set one of them", padding, pad)
	}
	for i, p := range pad {
		if side := [2]int{w.KH, w.KW}[i%2]; p < 0 || p >= side || p > maxPad {
			return w, fmt.Errorf("the image is padded by %v cells (above, left, below, right); each number must be at least 0, at most %d and less than the window, which is %d×%d", pad, maxPad, w.KH, w.KW)
		}
	}
	h, wide := w.H+pad[0]+pad[2], w.W+pad[1]+pad[3]
	if w.KH > h || w.KW > wide {
		return w, fmt.Errorf("the window of %d×%d is larger than the padded image of %d×%d", w.KH, w.KW, h, wide)
	}
	w.Stride = min(w.Stride, max(h, wide))
	w.OH, w.OW = (h-w.KH)/w.Stride+1, (wide-w.KW)/w.Stride+1
	w.Top, w.Left = pad[0], pad[1]
	if w.OW > maxPlaces/w.OH {
		return w, fmt.Errorf("the window has %d×%d places; at most %d are allowed", w.OH, w.OW, maxPlaces)
	}
	return w, nil
}
