package affine

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/product"
)

// forwardOne is ForwardPart, of columns lo … hi, for a single row and weights that the
// caches do not hold, which memory's bandwidth limits. Two panels at a time, w̄ and s are
// read once: their second product is made from what the first two have left in the
// cache. The bits are those of ForwardPart.
func (d *Dense[T]) forwardOne(lo, hi int, m, v, mo, vo, sq []T) {
	j := lo
	for ; j+2*product.NR <= hi; j += 2 * product.NR {
		mean, vari := d.mean.Columns(j, j+2*product.NR), d.vari.Columns(j, j+2*product.NR)
		mo, vo := mo[j-lo:], vo[j-lo:]
		product.Mul(product.To(mo, d.Out).From(d.biasMean[j:], 0), product.Rows(m, d.In), 1, mean)
		product.Mul(product.To(vo, d.Out).From(d.biasVar[j:], 0), product.Rows(sq, d.In), 1, vari)
		product.MulSecond(cpu.As32(vo[:2*product.NR]), cpu.As32(v), cpu.As32(mean.Data), cpu.As32(vari.Data))
	}
	if j < hi {
		mo, vo := mo[j-lo:], vo[j-lo:]
		product.Mul(product.To(mo, d.Out).From(d.biasMean[j:], 0), product.Rows(m, d.In), 1, d.mean.Columns(j, hi))
		product.Mul(product.To(vo, d.Out).From(d.biasVar[j:], 0), product.Rows(sq, d.In), 1, d.vari.Columns(j, hi))
		product.Mul(product.Onto(vo, d.Out), product.Rows(v, d.In), 1, d.second.Columns(j, hi))
	}
}
