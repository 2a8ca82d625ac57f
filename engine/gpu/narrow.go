package gpu

import "utvi/internal/cuda"

// narrowRows and narrowThreads are the rows and threads of a block of narrow_forward.
const narrowRows, narrowThreads = 8, 512

// narrowStage is the product of a layer with many inputs and few outputs, on Hopper.
type narrowStage struct {
	finish
	score many[narrowScore] // of the launch under way
}

// multiplyNarrow adds the product of a narrow layer, whose weights are transposed.
func (b *launches) multiplyNarrow(p product, o op, back bool) {
	p.B0, p.B1 = o.WT, o.ST
	s := &narrowStage{finish: finish{back: back, cols: int(p.Cols)}}
	s.args.One.P = p
	b.stages = append(b.stages, s)
}

func (s *narrowStage) run(w *weights, rows int) error {
	h := w.kernels.hopper
	s.args.One.P.Rows = int32(rows)
	if s.back {
		return launch(w, h.narrowBackward[s.any()], w.cutGrid(rows, s.cols, 2), cutThreads, &s.args)
	}
	return launch(w, h.narrowForward, cuda.Grid{X: tiles(rows, narrowRows)}, narrowThreads, &s.args)
}

type narrowScore struct {
	P    product
	Rows rowsArgs
}

// scores reports whether stage i, a narrow layer, also takes the operations behind it in its
// launch: layers that act on each unit, and the score. All of them must come before the last
// operation.
func (p *stagedPass) scores(i, last int) bool {
	if p.stages[i].(*narrowStage).back || i+1 == len(p.stages) {
		return false
	}
	behind, ok := p.stages[i+1].(*rowsStage)
	if !ok || p.results == 0 || int(behind.first.First+behind.first.Count) > last {
		return false
	}
	for _, o := range behind.ops() {
		switch o.Kind {
		case opScore, opNoise, opNoiseBack, opScale, opScaleBack, opMultiply, opMultiplyBack, opDropout, opDropoutBack:
			if o.addsVariances() {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// runWith queues a narrow layer and the operations behind it.
func (s *narrowStage) runWith(w *weights, behind *rowsStage, rows int) error {
	a := &s.score.One
	a.P = s.args.One.P
	a.P.Rows = int32(rows)
	a.Rows = behind.first
	a.Rows.Rows = int32(rows)
	return launch(w, w.kernels.hopper.narrowScore, cuda.Grid{X: tiles(rows, narrowRows)}, narrowThreads, &s.score)
}
