package affine

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// Wide layers copy a left operand into panels of MR rows once, for all products that read
// it, and make these by blocks of columns: what is read and written again and again, the
// panels and a block of the result, then stays in the second-level cache.

// Scratch is the length of the scratch that Forward and Backward need for so many rows.
func (d *Dense[T]) Scratch(rows int) int {
	return ceil(rows, product.MR) * product.MR * max(d.In, d.Out)
}

// forwardPacked is Forward with variances.
func (d *Dense[T]) forwardPacked(rows int, m, v, mo, vo, scratch []T) {
	panels := scratch[:ceil(rows, product.MR)*product.MR*d.In]
	product.PackTiles(cpu.As32(panels), cpu.As32(m), rows, d.In)
	product.Mul(product.To(mo, d.Out).From(d.biasMean, 0), product.Panels(panels, d.mean.K), rows, d.mean)
	kernel.Square(panels, panels)
	product.Mul(product.To(vo, d.Out).From(d.biasVar, 0), product.Panels(panels, d.vari.K), rows, d.vari)
	if v != nil {
		product.PackTiles(cpu.As32(panels), cpu.As32(v), rows, d.In)
		product.Mul(product.Onto(vo, d.Out), product.Panels(panels, d.second.K), rows, d.second)
	}
}

// backwardPacked is Backward with gradients of variances.
func (d *Dense[T]) backwardPacked(rows int, m, g, h, dm, dv, scratch []T) {
	panels := scratch[:ceil(rows, product.MR)*product.MR*d.Out]
	product.PackTiles(cpu.As32(panels), cpu.As32(h), rows, d.Out)
	product.Mul(product.To(dm, d.In), product.Panels(panels, d.variT.K), rows, d.variT)
	kernel.TwiceMul(dm[:rows*d.In], m)
	if dv != nil {
		product.Mul(product.To(dv, d.In), product.Panels(panels, d.secondT.K), rows, d.secondT)
	}
	product.PackTiles(cpu.As32(panels), cpu.As32(g), rows, d.Out)
	product.Mul(product.Onto(dm, d.In), product.Panels(panels, d.meanT.K), rows, d.meanT)
}
