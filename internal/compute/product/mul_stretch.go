package product

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// A stretched is an operand of mulStretches: in every stretch, element (i, k) of a left
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

// MulStretches is Mul with a sum over n stretches of k. A tile of the result stays in
// registers from stretch to stretch; the bits are those of n products that add to one another.
func MulStretches[T compute.Float](dst []T, ldd int, start []T, lds int, a Stretched[T], rows int, b Stretched[T], columns, k, n int) {
	if n <= 0 || k <= 0 || rows <= 0 || columns <= 0 {
		return
	}
	// One look at the far corner of each operand guards the kernels.
	_ = dst[(rows-1)*ldd+columns-1]
	_ = a.Data[a.last((rows-1)/MR, (rows-1)%MR, k, n)]
	_ = b.Data[b.last((columns-1)/NR, NR-1, k, n)]
	if start != nil {
		_ = start[(rows-1)*lds+columns-1]
	}
	if cpu.Vector && cpu.Is32[T]() {
		mulStretchesVector(cpu.As32(dst), ldd, cpu.As32(start), lds, a.As32(), rows, b.As32(), columns, k, n)
		return
	}
	for i := range n {
		mulGo(dst, ldd, start, lds, a.Data[i*a.Apart:], 1, a.Row, a.Tile, rows, b.Data[i*b.Apart:], b.Tile, b.Row, k, columns)
		start, lds = dst, ldd
	}
}

func (x Stretched[T]) As32() Stretched[float32] {
	return Stretched[float32]{cpu.As32(x.Data), x.Apart, x.Tile, x.Row}
}
