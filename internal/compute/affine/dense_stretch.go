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

// stretches returns how many of the blocks, from the first on, one product sums, and how
// far apart they are.
func (d *Dense[T]) stretches(blocks []TapeBlock[T]) (n, apart int) {
	if d.single() {
		return 1, 0
	}
	first := blocks[0]
	if len(blocks) == 1 || len(first.Tape) == 0 {
		return 1, 0
	}
	whole := first.Tape[:cap(first.Tape)]
	apart = len(whole) - cap(blocks[1].Tape)
	for n = 1; n < len(blocks) && (n+1)*first.Rows <= gradDepth; n++ {
		b := blocks[n]
		if b.Rows != first.Rows || apart < len(first.Tape) || n*apart >= len(whole) || &whole[n*apart] != &b.Tape[0] {
			break
		}
	}
	return n, apart
}
