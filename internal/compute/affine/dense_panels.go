package affine

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// The usual way of a Dense: products with matrices in panels of columns.

func (d *Dense[T]) forwardPanels(rows int, m, v, mo, vo, scratch []T) {
	if vo != nil {
		d.Squares(rows, m, scratch)
	}
	d.partOfPanels(part{0, d.Out}, rows, m, v, mo, vo, scratch)
}

// A part is outputs lo … hi.
type part struct{ lo, hi int }

// A part of the outputs has at least partBytes of weights to read, which takes longer
// than to hand it to another core, and whole stretches of partColumns.
const partBytes, partColumns = 1 << 19, 4 * product.NR

// Parts returns into how many parts, at most so many, the outputs are worth to be split.
func (d *Dense[T]) Parts(most int) int {
	bytes := d.In * d.Out * 4
	if d.Random {
		bytes *= 2
	}
	return max(1, min(most, bytes/partBytes, d.Out/partColumns))
}

// ForwardPart is Forward for one of so many parts of the outputs, after Squares. Parts
// may be computed concurrently.
func (d *Dense[T]) ForwardPart(i, parts, rows int, m, v, mo, vo, squares []T) {
	p := part{0, d.Out}
	if whole := d.Out / partColumns; parts > 1 { // the last part takes what is left over
		p.lo = i * whole / parts * partColumns
		if i < parts-1 {
			p.hi = (i + 1) * whole / parts * partColumns
		}
	}
	d.ways.part(d, p, rows, m, v, mo, vo, squares)
}

// partOfPanels is ForwardPart. Two choices depend on the number of rows: one row of weights that the
// caches do not hold, and rows enough for AVX-512 to make the two products of the variance at once.
func (d *Dense[T]) partOfPanels(p part, rows int, m, v, mo, vo, squares []T) {
	lo, hi := p.lo, p.hi
	mo = mo[lo:]
	random := d.Random && vo != nil
	if random && v != nil && rows == 1 && cpu.Vector && cpu.Is32[T]() && d.In*d.Out*8 > cpu.Cache.L2 {
		d.partOfRow(p, m[:d.In], v[:d.In], mo, vo[lo:], squares[:d.In])
		return
	}
	product.Mul(product.To(mo, d.Out).From(d.biasMean[lo:], 0), product.Rows(m, d.In), rows, d.mean.Columns(lo, hi))
	if vo == nil {
		return
	}
	vo = vo[lo:]
	sum := product.To(vo, d.Out).From(d.biasVar[lo:], 0)
	if random && v != nil && cpu.Is32[T]() && product.TakesTwo(rows, d.In, hi-lo) {
		product.MulTwo(product.To(cpu.As32(vo), d.Out).From(cpu.As32(d.biasVar[lo:]), 0), cpu.As32(squares), cpu.As32(v), rows,
			d.vari.Columns(lo, hi).As32(), d.second.Columns(lo, hi).As32())
		return
	}
	if random {
		product.Mul(sum, product.Rows(squares, d.In), rows, d.vari.Columns(lo, hi))
		sum = product.Onto(vo, d.Out)
	}
	if v != nil {
		product.Mul(sum, product.Rows(v, d.In), rows, d.second.Columns(lo, hi))
	}
}

// partOfRow is partOfPanels for a single row and weights that the caches do not hold, which memory's
// bandwidth limits. Two panels at a time, w̄ and s are read once: their second product is made
// from what the first two have left in the cache. The bits are those of partOfPanels.
func (d *Dense[T]) partOfRow(p part, m, v, mo, vo, sq []T) {
	j := p.lo
	for ; j+2*product.NR <= p.hi; j += 2 * product.NR {
		mean, vari := d.mean.Columns(j, j+2*product.NR), d.vari.Columns(j, j+2*product.NR)
		mo, vo := mo[j-p.lo:], vo[j-p.lo:]
		product.Mul(product.To(mo, d.Out).From(d.biasMean[j:], 0), product.Rows(m, d.In), 1, mean)
		product.Mul(product.To(vo, d.Out).From(d.biasVar[j:], 0), product.Rows(sq, d.In), 1, vari)
		product.MulSecond(cpu.As32(vo[:2*product.NR]), cpu.As32(v), cpu.As32(mean.Data), cpu.As32(vari.Data))
	}
	if j < p.hi {
		mo, vo := mo[j-p.lo:], vo[j-p.lo:]
		product.Mul(product.To(mo, d.Out).From(d.biasMean[j:], 0), product.Rows(m, d.In), 1, d.mean.Columns(j, p.hi))
		product.Mul(product.To(vo, d.Out).From(d.biasVar[j:], 0), product.Rows(sq, d.In), 1, d.vari.Columns(j, p.hi))
		product.Mul(product.Onto(vo, d.Out), product.Rows(v, d.In), 1, d.second.Columns(j, p.hi))
	}
}

func (d *Dense[T]) backwardPanels(rows int, m, g, h, dm, dv, _ []T) {
	if h == nil || !d.Random {
		product.Mul(product.To(dm, d.In), product.Rows(g, d.Out), rows, d.meanT)
	} else {
		product.Mul(product.To(dm, d.In), product.Rows(h, d.Out), rows, d.variT)
		kernel.TwiceMul(dm[:rows*d.In], m)
		product.Mul(product.Onto(dm, d.In), product.Rows(g, d.Out), rows, d.meanT)
	}
	if dv != nil {
		product.Mul(product.To(dv, d.In), product.Rows(h, d.Out), rows, d.secondT)
	}
}
