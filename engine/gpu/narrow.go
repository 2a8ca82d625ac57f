package gpu

import "utvi/internal/cuda"

// narrowRows and narrowThreads are the rows and threads of a block of narrow_forward.
const narrowRows, narrowThreads = 8, 512

// multiplyNarrow adds the product of a narrow layer, whose weights are transposed.
func (b *launches) multiplyNarrow(p product, o op, back bool) {
	p.B0, p.B1 = o.WT, o.ST
	s := &wideStage{back: back, cols: int(p.Cols)}
	s.finish.One.P = p
	b.all = append(b.all, stage{wide: s})
}

type narrowScore struct {
	P    product
	Rows rowsArgs
}

// scores reports whether stage i is a narrow layer whose launch also takes the operations
// behind it: layers that act on each unit, and the score. All of them must come before the
// last operation.
func (b *launches) scores(i, last int) bool {
	if s := b.all[i].wide; s.back || s.cutting != nil || s.products != nil || i+1 == len(b.all) {
		return false
	}
	r := b.all[i+1].rows
	if r == nil || r.Results == 0 || int(r.First+r.Count) > last {
		return false
	}
	for _, o := range b.ops[r.First : r.First+r.Count] {
		switch o.Kind {
		case opScore, opNoise, opNoiseBack, opScale, opScaleBack, opMultiply, opMultiplyBack, opDropout, opDropoutBack:
			if o.TV != 0 { // what correlations add
				return false
			}
		default:
			return false
		}
	}
	return true
}

// runNarrowScore queues a narrow layer and the operations behind it.
func (w *weights) runNarrowScore(s *wideStage, behind *stage, rows int) error {
	a := &s.score.One
	a.P, a.Rows = s.finish.One.P, *behind.rows
	a.P.Rows, a.Rows.Rows = int32(rows), int32(rows)
	return launch(w, w.kernels.hopper.narrowScore, cuda.Grid{X: tiles(rows, narrowRows)}, narrowThreads, &s.score)
}
