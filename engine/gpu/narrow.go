package gpu

// narrowRows and narrowThreads are the rows and threads of a block of narrow_forward;
// narrowStep and narrowSide are the rows at a time and the inputs of one of
// narrow_gradients.
const narrowRows, narrowThreads, narrowStep, narrowSide = 8, 512, 32, 64

// multiplyNarrow adds the product of a narrow layer, whose weights are transposed.
func (b *launches) multiplyNarrow(p product, o op, back bool) {
	p.B0, p.B1 = o.WT, o.ST
	s := &wideStage{back: back, cols: int(p.Cols)}
	s.finish.One.P = p
	b.all = append(b.all, stage{wide: s})
}
