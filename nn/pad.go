package nn

import (
	"fmt"

	"utvi/gauss"
)

// A Border says what stands around a padded image.
type Border string

const (
	// Zeros stand around the image. An empty Border means Zeros.
	Zeros Border = "zeros"
	// Edge repeats the cells at the border.
	Edge Border = "edge"
	// Reflect mirrors the image at the cells of its border, which are not repeated.
	Reflect Border = "reflect"
)

// Pad2D surrounds an image with cells. Where they repeat cells of the image they are
// correlated with these, which only Correlated carries.
type Pad2D struct {
	Pad    [4]int `json:"pad"` // cells above, left, below and right of the image
	Border Border `json:"border,omitempty"`
}

// Kind is "pad2d", as model files and the names of parameters have it.
func (Pad2D) Kind() string { return "pad2d" }

// Bind32 works out which cell of the input each cell has; it declares nothing.
func (l Pad2D) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindPad(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Pad2D) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindPad(l, b) }

func bindPad[T gauss.Float](l Pad2D, b *Binder[T]) (Unit[T], error) {
	sides := [2]int{b.In.H, b.In.W}
	for i, p := range l.Pad {
		most := maxPad
		if l.Border == Reflect {
			most = min(most, sides[i%2]-1)
		}
		if p < 0 || p > most {
			return nil, fmt.Errorf("the image is padded by %v cells (above, left, below, right); each number must be at least 0 and, for an image of %d×%d, at most %d", l.Pad, b.In.H, b.In.W, most)
		}
	}
	switch l.Border {
	case "", Zeros, Edge, Reflect:
	default:
		return nil, fmt.Errorf("the border is %q; it must be %q, %q or %q", l.Border, Zeros, Edge, Reflect)
	}
	rows, columns := l.Matrices(b.In)
	return newSeparable(b, rows, columns), nil
}

// Matrices are what each row of the output has of the rows of the input, and each column of
// the columns: outputs × inputs. A cell has the product of both.
func (l Pad2D) Matrices(in Shape) (rows, columns [][]float64) {
	return l.matrix(in.H, l.Pad[0], l.Pad[2]), l.matrix(in.W, l.Pad[1], l.Pad[3])
}

func (l Pad2D) matrix(in, before, after int) [][]float64 {
	all := make([][]float64, before+in+after)
	for i := range all {
		all[i] = make([]float64, in)
		at := i - before
		switch l.Border {
		case Edge:
			at = min(max(at, 0), in-1)
		case Reflect:
			at = max(at, -at)
			at = min(at, 2*(in-1)-at)
		}
		if at >= 0 && at < in {
			all[i][at] = 1
		}
	}
	return all
}
