package affine

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/product"
)

// A thin Dense has few outputs: its products are dot products with columns of w̄, s and
// w̄²+s, which are kept as they are read. To gather them from panels would take as long as
// the products of a single row.

// keepColumns writes weight rows lo … hi of a matrix to its columns.
func (d *Dense[T]) keepColumns(matrix, lo, hi int, src []T) {
	for j := range d.Out {
		to := d.column(matrix, j)[lo:hi]
		for k := range to {
			to[k] = src[k*d.Out+j]
		}
	}
}

// column is column j of a matrix.
func (d *Dense[T]) column(matrix, j int) []T {
	return d.columns[(matrix*d.Out+j)*d.In:][:d.In]
}

func (d *Dense[T]) forwardColumns(rows int, m, v, mo, vo, scratch []T) {
	if vo != nil {
		d.Squares(rows, m, scratch)
	}
	d.partOfColumns(part{0, d.Out}, rows, m, v, mo, vo, scratch)
}

// partOfColumns is ForwardPart: few outputs are never split.
func (d *Dense[T]) partOfColumns(_ part, rows int, m, v, mo, vo, squares []T) {
	if rows == 0 {
		return
	}
	for j := range d.Out {
		product.MulColumn(cpu.As32(mo[j:]), cpu.As32(d.biasMean[j:]), d.Out, 0, cpu.As32(m), d.In, rows, cpu.As32(d.column(0, j)))
		if vo == nil {
			continue
		}
		start, ld := d.biasVar[j:], 0
		if d.Random {
			product.MulColumn(cpu.As32(vo[j:]), cpu.As32(start), d.Out, ld, cpu.As32(squares), d.In, rows, cpu.As32(d.column(1, j)))
			start, ld = vo[j:], d.Out
		}
		if v != nil {
			product.MulColumn(cpu.As32(vo[j:]), cpu.As32(start), d.Out, ld, cpu.As32(v), d.In, rows, cpu.As32(d.column(2, j)))
		}
	}
}

// fuses reports whether one kernel does what products would do in several passes over the
// inputs: those of one output, in whole tiles of columns.
func (d *Dense[T]) fuses() bool {
	return d.thin && d.Out == 1 && d.In%product.NR == 0 && d.Random
}

// maxFused is the most inputs of which one dot product sums all; see product.MulColumn.
const maxFused = 512

// forwardOne is Forward of one output.
func (d *Dense[T]) forwardOne(rows int, m, v, mo, vo, scratch []T) {
	if v == nil || vo == nil {
		d.forwardColumns(rows, m, v, mo, vo, scratch)
		return
	}
	if rows > 0 {
		d.one().forward(oneRows{cpu.As32(mo), cpu.As32(vo), cpu.As32(m), cpu.As32(v)}, rows)
	}
}

// backwardOne is Backward of one output.
func (d *Dense[T]) backwardOne(rows int, m, g, h, dm, dv, scratch []T) {
	if h == nil || dv == nil {
		d.backwardPanels(rows, m, g, h, dm, dv, scratch)
		return
	}
	if rows > 0 {
		d.one().backward(cpu.As32(dm), cpu.As32(dv), cpu.As32(m), cpu.As32(g), cpu.As32(h), rows)
	}
}

// one is the layer as the kernels of one output see it.
func (d *Dense[T]) one() one {
	return one{cpu.As32(d.columns), cpu.As32(d.biasMean), cpu.As32(d.biasVar), d.In}
}

// A one is a layer of one output: its columns w̄, s and w̄²+s, its bias and its inputs.
type one struct {
	columns, biasMean, biasVar []float32
	width                      int
}

// oneRows are rows of a layer of one output: what comes out, what goes in.
type oneRows struct{ mo, vo, m, v []float32 }

// oneSums are what rows contribute to the gradients of a layer of one output: mᵀg, (m²)ᵀh and vᵀh.
type oneSums struct{ mg, mmh, vh []float32 }
