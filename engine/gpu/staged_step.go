package gpu

import "utvi/internal/cuda"

// A stagedPath lays out passes in stages. Drawn networks run on such paths only.
type stagedPath interface {
	path
	staged(t *trainer, l *stepList) *stagedStep
}

// A stagedStep is the part of a step that all paths with stages share: the pass, and the
// gradients of the weights in launches of their own.
type stagedStep struct {
	w       *weights
	rows    int
	passes  pass
	grad    cuda.Ptr // partial gradients
	dense   gradients
	wide    wideGradients
	convs   convGradients
	levels  []many[levelGradient]
	columns []many[columnsArgs]
}

// newStagedStep places the gradients of the weights, in parts, and the pass. Those of dense
// layers are planned.
func newStagedStep(t *trainer, l *stepList) *stagedStep {
	w := t.weights
	s := &stagedStep{w: w, rows: t.Batch, dense: l.grads, convs: l.convs}
	parts := max(s.dense.parts, s.wide.plan(w, s.dense.dense, s.rows), s.convs.plan(w, s.rows))
	s.grad = w.zeros(parts * w.size)
	s.dense.place(w, s.grad, s.rows)
	s.wide.place(w, &l.pass, s.dense.dense, s.grad, s.rows)
	s.convs.place(w, s.grad, s.rows)
	s.placeLevels(l.levels)
	for _, x := range l.tapes {
		s.columns = append(s.columns, many[columnsArgs]{One: columnsArgs{Tape: x.at, Rows: int32(s.rows), Width: int32(x.width), Mode: x.mode,
			Raw: w.at(x.tensor), Grad: s.grad.Add(4 * w.mean[x.tensor]), Results: w.results}})
	}
	s.passes = w.path.pass(w, &l.pass)
	return s
}

func (s *stagedStep) forward() error { return s.passes.forward(s.rows) }

func (s *stagedStep) together() int { return 1 }

func (s *stagedStep) gradients() error {
	if err := s.passes.whole(s.rows); err != nil {
		return err
	}
	if err := s.convs.run(s.w); err != nil {
		return err
	}
	if err := s.runLevels(); err != nil {
		return err
	}
	if err := s.wide.run(s.w); err != nil {
		return err
	}
	return s.dense.run(s.w)
}

// queueColumns queues the gradients of learned numbers: sums of their tapes.
func (s *stagedStep) queueColumns() error {
	for i := range s.columns {
		c := &s.columns[i]
		if err := launch(s.w, s.w.kernels.columns, cuda.Grid{X: int(c.One.Width)}, 256, c); err != nil {
			return err
		}
	}
	return nil
}
