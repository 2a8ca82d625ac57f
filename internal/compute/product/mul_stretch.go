package product

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// A stretched is an operand of MulStretches: in every stretch, element (i, k) of a left
// operand is data[i/MR*tile + i%MR + k*row], element (k, j) of a right one
// data[j/NR*tile + j%NR + k*row]. So it may be in panels, or rows as they are. Whole tiles of
// NR columns are read.
type Stretched[T compute.Float] struct {
	Data      []T
	Apart     int // from one stretch to the next
	Tile, Row int
}

// last is the index of the last number that a product reads, behind so many tiles and a rest.
func (x Stretched[T]) last(tiles, rest, k, n int) int {
	return (n-1)*x.Apart + tiles*x.Tile + rest + (k-1)*x.Row
}

// An Extent is the size of a product of stretches: Rows × Columns sums over N stretches of K.
type Extent struct{ Rows, Columns, K, N int }

// Factors are the operands of one product.
type Factors struct{ A, B Stretched[float32] }

// checkStretches looks at the far corner of each operand: kernels in assembly do not look.
func checkStretches[T compute.Float](to Sum[T], a, b Stretched[T], size Extent) {
	to.check(size.Rows, size.Columns)
	_ = a.Data[a.last((size.Rows-1)/MR, (size.Rows-1)%MR, size.K, size.N)]
	_ = b.Data[b.last((size.Columns-1)/NR, NR-1, size.K, size.N)]
}

// MulStretches is Mul with a sum over stretches. A tile of the result stays in registers from
// stretch to stretch; the bits are those of products that add to one another.
func MulStretches[T compute.Float](to Sum[T], a, b Stretched[T], size Extent) {
	if size.N <= 0 || size.K <= 0 || size.Rows <= 0 || size.Columns <= 0 {
		return
	}
	checkStretches(to, a, b, size)
	if cpu.Vector && cpu.Is32[T]() {
		mulStretchesVector(to.as32(), a.As32(), b.As32(), size)
		return
	}
	for i := range size.N {
		left := Left[T]{a.Data[i*a.Apart:], 1, a.Row, a.Tile}
		mulGo(to, left, size.Rows, panels[T]{b.Data[i*b.Apart:], b.Tile, b.Row, size.K, size.Columns})
		to = to.onward()
	}
}

// As32 is x as what it is where T is float32.
func (x Stretched[T]) As32() Stretched[float32] {
	return Stretched[float32]{cpu.As32(x.Data), x.Apart, x.Tile, x.Row}
}
