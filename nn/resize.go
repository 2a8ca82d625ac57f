package nn

import (
	"fmt"
	"math"

	"utvi/gauss"
)

// Resize makes an image larger or smaller. Without Bilinear every cell is that of the input in
// its place, cell ⌊i·in/out⌋; with it a weighted average of the four cells around it:
//
//	m' = Σ w m          v' = Σ w² v
//
// Cells that share cells of the input are correlated, which only Correlated carries. This is
// what PyTorch and ONNX call nearest (asymmetric, floor) and bilinear (half_pixel or
// align_corners).
type Resize struct {
	Size         [2]int `json:"size,omitzero"`           // height and width of the output
	Scale        int    `json:"scale,omitempty"`         // or so many times the input's
	Bilinear     bool   `json:"bilinear,omitempty"`      // average the cells around
	AlignCorners bool   `json:"align_corners,omitempty"` // of Bilinear: the corner cells of both images have the same centres, not the images the same borders
}

// Kind is "resize", as model files and the names of parameters have it.
func (Resize) Kind() string { return "resize" }

// Bind32 works out which cells of the input each cell has; it declares nothing.
func (l Resize) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindResize(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Resize) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindResize(l, b) }

func bindResize[T gauss.Float](l Resize, b *Binder[T]) (Unit[T], error) {
	size := l.sides(b.In)
	switch {
	case (l.Scale != 0) == (l.Size != [2]int{}):
		return nil, fmt.Errorf("Size is %v and Scale is %d; set one of them", l.Size, l.Scale)
	case l.Scale < 0 || l.Scale > maxPlaces || min(size[0], size[1]) < 1 || size[1] > maxPlaces/size[0]:
		return nil, fmt.Errorf("the image would be %d×%d; both sides must be at least 1, and at most %d places are allowed", size[0], size[1], maxPlaces)
	case l.AlignCorners && !l.Bilinear:
		return nil, fmt.Errorf("AlignCorners belongs to Bilinear, which is not set")
	}
	rows, columns := l.Matrices(b.In)
	return newSeparable(b, rows, columns), nil
}

// sides are the height and the width of the output.
func (l Resize) sides(in Shape) [2]int {
	if l.Scale != 0 {
		return [2]int{in.H * l.Scale, in.W * l.Scale}
	}
	return l.Size
}

// Matrices are what each row of the output has of the rows of the input, and each column of
// the columns: outputs × inputs. A cell has the product of both.
func (l Resize) Matrices(in Shape) (rows, columns [][]float64) {
	size := l.sides(in)
	return l.matrix(in.H, size[0]), l.matrix(in.W, size[1])
}

func (l Resize) matrix(in, out int) [][]float64 {
	all := make([][]float64, out)
	for i := range all {
		all[i] = make([]float64, in)
		if !l.Bilinear {
			all[i][i*in/out] = 1
			continue
		}
		x := max(0, (float64(i)+0.5)*float64(in)/float64(out)-0.5)
		if l.AlignCorners {
			x = float64(i) * float64(in-1) / float64(max(1, out-1))
		}
		at := min(int(math.Floor(x)), in-1)
		part := x - float64(at)
		all[i][at] = 1
		if at+1 < in {
			all[i][at], all[i][at+1] = 1-part, part
		}
	}
	return all
}
