package affine

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/product"
)

// The gradients g and h of a layer's outputs are left operands of Backward and right operands of
// the weight gradients, which need panels of NR columns. With AVX-512, whose larger tiles hide
// the way from panel to panel, Backward reads the panels, too: whoever computes the gradients
// writes them to the tape in this form, and they lie nowhere else.

// TapePanels is where a block's output gradients g and h may be written, in panels of NR columns:
// element (i, j) at [(j/NR*rows+i)*NR + j%NR]. It is nil where they may not.
func (d *Dense[T]) TapePanels(tape []T, rows int) (g, h []T) {
	if !d.Panels(rows) {
		return nil, nil
	}
	return d.onTape(tape, rows, 0), d.onTape(tape, rows, 1)
}

// Panels reports whether TapePanels has a place for so many rows, and for fewer.
func (d *Dense[T]) Panels(rows int) bool {
	return cpu.Wide && cpu.Is32[T]() && !d.apart && !d.single() && !d.plainGradient && d.Random && d.Out%product.NR == 0 && !product.Packs[T](rows, d.Out, d.In)
}

// backwardPanels is Backward with g and h in panels on the tape.
func (d *Dense[T]) backwardPanels(rows int, m, g, h, dm, dv []T) {
	product.MulColumnPanelsBy(product.To(cpu.As32(dm), d.In), cpu.As32(m), cpu.As32(h), cpu.As32(g), rows, d.variT.As32(), d.meanT.As32())
	if dv != nil {
		product.MulColumnPanels(product.To(cpu.As32(dv), d.In), cpu.As32(h), rows, d.secondT.As32())
	}
}
