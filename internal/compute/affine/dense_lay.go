package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/product"
)

// A lay is how an operand of the weight gradients lies on the tape: of n rows in a block.
type lay[T compute.Float] interface {
	// width is the number of values a row takes.
	width() int
	// put brings n > 0 rows onto the tape, unless they are there.
	put(dst, src []T, n int)
	// operand is the operand x of n rows, the columns from one on, and those of the blocks
	// behind it, so far apart.
	operand(x []T, n, from, apart int) product.Stretched[T]
}

// asRows lies as it is, row by row, so that the layers around may write it there in the first
// place. A product reads tiles of so many columns.
type asRows[T compute.Float] struct{ columns, tile int }

func (l asRows[T]) width() int { return l.columns }

func (l asRows[T]) put(dst, src []T, _ int) {
	if &dst[0] != &src[0] {
		copy(dst, src)
	}
}

func (l asRows[T]) operand(x []T, _, from, apart int) product.Stretched[T] {
	return product.Stretched[T]{Data: x[from:], Apart: apart, Tile: l.tile, Row: l.columns}
}

// asLeft lies in panels of MR columns, as left operands of sums over rows are read.
type asLeft[T compute.Float] struct{ columns int }

func (l asLeft[T]) width() int { return ceil(l.columns, product.MR) * product.MR }

func (l asLeft[T]) put(dst, src []T, n int) { product.PackLeft(dst, src, n, l.columns) }

func (l asLeft[T]) operand(x []T, n, from, apart int) product.Stretched[T] {
	return product.Stretched[T]{Data: x[from*n:], Apart: apart, Tile: product.MR * n, Row: product.MR}
}

// asRight lies in panels of NR columns, as right operands are read.
type asRight[T compute.Float] struct{ columns int }

func (l asRight[T]) width() int { return product.RightLen(1, l.columns) }

func (l asRight[T]) put(dst, src []T, n int) {
	product.Right[T]{K: n, N: l.columns, Data: dst}.Pack(src, l.columns, 1)
}

func (l asRight[T]) operand(x []T, n, from, apart int) product.Stretched[T] {
	return product.Stretched[T]{Data: x[from*n:], Apart: apart, Tile: product.NR * n, Row: product.NR}
}

// maxPlain is the most columns that an operand may have to lie on the tape as it is: rows
// that are further apart share the sets of a cache.
const maxPlain = 256

// layPanels lets operands lie in panels. With one output mᵀg is gᵀm: then m and v are the right
// operands, and g and h lie as they are, instead of one column in NR.
func (d *Dense[T]) layPanels() {
	d.input = asLeft[T]{d.In}
	d.output = asRight[T]{d.Out}
	if d.single {
		d.input = asRight[T]{d.In}
		d.output = asRows[T]{1, 0}
	}
}

// layTape decides which operands lie on the tape as they are: right operands of products with
// one or two rows, in whole tiles of columns, and narrow left ones where the tiles of AVX-512
// read them from the second-level cache as fast as from the first.
func (d *Dense[T]) layTape() {
	d.layPanels()
	switch {
	case d.single && d.In%product.NR == 0:
		d.input = asRows[T]{d.In, product.NR}
		d.inputAsRows = true
	case !d.single && cpu.Wide && d.In <= maxPlain:
		d.input = asRows[T]{d.In, product.MR}
		d.inputAsRows = true
	}
	if d.In <= 2 && d.Out%product.NR == 0 {
		d.output = asRows[T]{d.Out, product.NR}
		d.outputAsRows = true
	}
}
