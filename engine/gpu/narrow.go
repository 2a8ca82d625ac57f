package gpu

// narrowRows and narrowThreads are the rows and threads of a block of narrow_forward.
const narrowRows, narrowThreads = 8, 512

// multiplyNarrow adds the product of a narrow layer, whose weights are transposed.
func (b *launches) multiplyNarrow(p product, o op, back bool) {
	p.B0, p.B1 = o.WT, o.ST
	s := &wideStage{back: back, cols: int(p.Cols)}
	s.finish.One.P = p
	b.all = append(b.all, stage{wide: s})
}
