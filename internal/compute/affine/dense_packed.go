package affine

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// Wide layers copy a left operand into panels of MR rows once, for all products that read
// it, and make these by blocks of columns: what is read and written again and again, the
// panels and a block of the result, then stays in the second-level cache. A few rows go the
// usual way.

func (d *Dense[T]) forwardPacked(rows int, m, v, mo, vo, scratch []T) {
	if vo == nil || rows <= product.MR {
		d.forwardPanels(rows, m, v, mo, vo, scratch)
		return
	}
	room := scratch[:ceil(rows, product.MR)*product.MR*d.In]
	left := product.Panels(room, d.In)
	product.PackTiles(cpu.As32(room), cpu.As32(m), rows, d.In)
	product.Mul(product.To(mo, d.Out).From(d.biasMean, 0), left, rows, d.mean)
	kernel.Square(room, room)
	product.Mul(product.To(vo, d.Out).From(d.biasVar, 0), left, rows, d.vari)
	if v != nil {
		product.PackTiles(cpu.As32(room), cpu.As32(v), rows, d.In)
		product.Mul(product.Onto(vo, d.Out), left, rows, d.second)
	}
}

func (d *Dense[T]) backwardPacked(rows int, m, g, h, dm, dv, scratch []T) {
	if h == nil || rows <= product.MR {
		d.backwardPanels(rows, m, g, h, dm, dv, scratch)
		return
	}
	room := scratch[:ceil(rows, product.MR)*product.MR*d.Out]
	left := product.Panels(room, d.Out)
	product.PackTiles(cpu.As32(room), cpu.As32(h), rows, d.Out)
	product.Mul(product.To(dm, d.In), left, rows, d.variT)
	kernel.TwiceMul(dm[:rows*d.In], m)
	if dv != nil {
		product.Mul(product.To(dv, d.In), left, rows, d.secondT)
	}
	product.PackTiles(cpu.As32(room), cpu.As32(g), rows, d.Out)
	product.Mul(product.Onto(dm, d.In), left, rows, d.meanT)
}
