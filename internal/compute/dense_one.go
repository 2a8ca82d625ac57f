package compute

// forwardOne is Forward for a single row and weights that the caches do not hold, which
// memory's bandwidth limits. Two panels at a time, w̄ and s are read once: their second
// product is made from what the first two have left in the cache. The bits are those of
// Forward.
func (d *Dense[T]) forwardOne(m, v, mo, vo, sq []T) {
	Square(sq, m)
	j := 0
	for ; j+2*NR <= d.Out; j += 2 * NR {
		mean, vari := d.mean.columns(j, j+2*NR), d.vari.columns(j, j+2*NR)
		Mul(mo[j:], d.Out, d.biasMean[j:], 0, m, d.In, 1, 1, mean)
		Mul(vo[j:], d.Out, d.biasVar[j:], 0, sq, d.In, 1, 1, vari)
		mulSecondVector(as32(vo[j:j+2*NR]), as32(v), as32(mean.Data), as32(vari.Data))
	}
	if j < d.Out {
		Mul(mo[j:], d.Out, d.biasMean[j:], 0, m, d.In, 1, 1, d.mean.columns(j, d.Out))
		Mul(vo[j:], d.Out, d.biasVar[j:], 0, sq, d.In, 1, 1, d.vari.columns(j, d.Out))
		Mul(vo[j:], d.Out, vo[j:], d.Out, v, d.In, 1, 1, d.second.columns(j, d.Out))
	}
}

// columns are the panels of r that hold columns lo ≤ j < hi; lo begins a panel.
func (r Right[T]) columns(lo, hi int) Right[T] {
	return Right[T]{r.K, hi - lo, r.Data[lo*r.K:][:RightLen(r.K, hi-lo)]}
}
