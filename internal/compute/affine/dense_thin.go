package affine

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/product"
)

// A thin Dense has few outputs: its products are dot products with columns of w̄, s and
// w̄²+s, which are kept as they are read. To gather them from panels would take as long as
// the products of a single row.

func (d *Dense[T]) thin() bool { return d.few != nil }

// newColumns makes room for the columns if the Dense is thin, and says whether it is.
func (d *Dense[T]) newColumns() bool {
	if cpu.Vector && cpu.Is32[T]() && d.Out <= product.MaxDot && d.In > product.MaxDot && !d.apart {
		d.few = make([]T, 3*d.In*d.Out)
	}
	return d.thin()
}

// setColumns writes weight rows lo … hi of matrix i (w̄, s, w̄²+s) to its columns.
func (d *Dense[T]) setColumns(i, lo, hi int, src []T) {
	for j := range d.Out {
		to := d.column(i, j)[lo:hi]
		for k := range to {
			to[k] = src[k*d.Out+j]
		}
	}
}

// column is column j of matrix i.
func (d *Dense[T]) column(i, j int) []T { return d.few[(i*d.Out+j)*d.In:][:d.In] }

// forwardThin is ForwardPart for all outputs.
func (d *Dense[T]) forwardThin(rows int, m, v, mo, vo, squares []T) {
	if rows == 0 {
		return
	}
	for j := range d.Out {
		mul := func(dst, start []T, lds int, a []T, i int) {
			product.MulColumn(product.To(cpu.As32(dst[j:]), d.Out).From(cpu.As32(start[j:]), lds), product.Rows(cpu.As32(a), d.In), rows, cpu.As32(d.column(i, j)))
		}
		mul(mo, d.biasMean, 0, m, 0)
		if vo == nil {
			continue
		}
		start, lds := d.biasVar, 0
		if d.Random {
			mul(vo, start, lds, squares, 1)
			start, lds = vo, d.Out
		}
		if v != nil {
			mul(vo, start, lds, v, 2)
		}
	}
}

// fuses reports whether one kernel does what products would do in several passes over the
// inputs: those of one output, in whole tiles of columns.
func (d *Dense[T]) fuses() bool { return d.thin() && d.Out == 1 && d.In%product.NR == 0 && d.Random }

// maxFused is the most inputs of which one dot product sums all; see mulColumns.
const maxFused = 512

// forwardFused is Forward for one output and random inputs.
func (d *Dense[T]) forwardFused(rows int, m, v, mo, vo []T) {
	if rows > 0 {
		forwardOneVector(cpu.As32(mo), cpu.As32(vo), cpu.As32(m), cpu.As32(v), cpu.As32(d.few), cpu.As32(d.biasMean), cpu.As32(d.biasVar), rows, d.In)
	}
}

// backwardOne is Backward for one output and random inputs and weights.
func (d *Dense[T]) backwardOne(rows int, m, g, h, dm, dv []T) {
	if rows > 0 {
		backOneVector(cpu.As32(dm), cpu.As32(dv), cpu.As32(m), cpu.As32(d.few), cpu.As32(g), cpu.As32(h), rows, d.In)
	}
}

// gradientFused writes what a block contributes to mᵀg, (m²)ᵀh and vᵀh, or adds it.
func (d *Dense[T]) gradientFused(b TapeBlock[T], add bool, gw, gs, vh []T) {
	if b.Rows > 0 {
		at := func(i int) []float32 { return cpu.As32(d.onTape(b.Tape, b.Rows, i)) }
		gradOneVector(cpu.As32(gw), cpu.As32(gs), cpu.As32(vh), at(2), at(3), at(0), at(1), b.Rows, d.In, add)
	}
}
