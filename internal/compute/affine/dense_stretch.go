package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// A weight gradient is a sum over all rows of a batch, which lie on the tape in blocks.
// Where the blocks lie at equal distances in one array, a product sums several of them.

// gradDepth is how many rows one product sums at most. A tile of a gradient is read and
// written once for all of them, and the operands stay in the second-level cache.
const gradDepth = 512

// A run is n blocks of so many rows that one product sums, apart from one another.
type run[T compute.Float] struct {
	tape           []T // of the first block
	rows, n, apart int
}

// extent is the size of the product of a run, for a tile.
func (r run[T]) extent(t gradTile) product.Extent {
	return product.Extent{Rows: t.hi - t.lo, Columns: t.to - t.from, K: r.rows, N: r.n}
}

// next returns the blocks, from the first on, that one product sums.
func (d *Dense[T]) next(blocks []TapeBlock[T]) run[T] {
	first := blocks[0]
	r := run[T]{tape: first.Tape, rows: first.Rows, n: 1}
	if d.single || len(blocks) == 1 || len(first.Tape) == 0 {
		return r
	}
	whole := first.Tape[:cap(first.Tape)]
	r.apart = len(whole) - cap(blocks[1].Tape)
	for r.n < len(blocks) && (r.n+1)*first.Rows <= gradDepth {
		b := blocks[r.n]
		if b.Rows != first.Rows || r.apart < len(first.Tape) || r.n*r.apart >= len(whole) || &whole[r.n*r.apart] != &b.Tape[0] {
			break
		}
		r.n++
	}
	return r
}

// squares writes x², of n stretches of so many numbers, to dst, or x² + v if v is not nil.
func squares[T compute.Float](x product.Stretched[T], size, n int, v *product.Stretched[T], dst []T) product.Stretched[T] {
	for i := range n {
		sq := dst[i*size:][:size]
		kernel.Square(sq, x.Data[i*x.Apart:][:size])
		if v != nil {
			kernel.Add(sq, v.Data[i*v.Apart:][:size])
		}
	}
	return product.Stretched[T]{Data: dst, Apart: size, Tile: x.Tile, Row: x.Row}
}
