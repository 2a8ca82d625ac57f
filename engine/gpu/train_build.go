package gpu

import "utvi/internal/cuda"

// build lays out the memory of a training and records its graphs.
func (t *trainer) build(score op) error {
	t.batch.place(t)
	l := newStepList(t, score)
	if t.Draws > 0 {
		t.queue = newDrawnStep(t, l)
	} else {
		t.queue = t.path.step(t, l)
	}
	t.placeHost()
	if t.err != nil {
		return t.err
	}
	if err := t.learned.upload(t.params); err != nil {
		return err
	}
	if err := t.compile(t.queueWhole); err != nil {
		return err
	}
	return t.recordGraphs()
}

// placeOptimizer lays out what updates the parameters that are learned, by partial gradients.
func (t *trainer) placeOptimizer(grad cuda.Ptr) {
	w := t.learned
	t.first = w.zeros(w.size)
	t.second = w.zeros(w.size)
	parts := w.alloc(2*(len(w.chunks)+1), 8)
	t.optimizer.w = w
	t.optimizer.norm.One = normArgs{Theta: w.theta, Grad: grad, Size: int64(w.size), Chunks: w.table,
		Count: int32(len(w.chunks)), Parts: parts, Control: w.control, Results: w.results,
		NLL: t.nll, Floored: t.floored, Done: w.zeros(1), Rows: int32(t.Batch), Slots: int32(t.batch.slots)}
	a := &w.adam.One
	a.First = t.first
	a.Second = t.second
	a.Grad = grad
	a.Prepare = 0
	a.Slots = int32(t.batch.slots)
	t.priors.One = priorArgs{Theta: w.theta, Chunks: w.table, Parts: parts}
}

// placeHost makes room for what the host sends and receives.
func (t *trainer) placeHost() {
	t.priorSums = make([]float64, len(t.learned.chunks))
	for i := range t.moments {
		t.moments[i] = t.params.Like()
	}
	m := t.memory
	t.control = pinned[control](m, slots)
	t.result = pinned[result](m, slots)
	t.start = pinned[result](m, 1)
	t.rowNLL = pinned[float64](m, t.Batch)
	t.rowFloored = pinned[int32](m, t.Batch)
	for i := range t.control {
		t.control[i].Seed = t.Seed
		t.control[i].Batch = int32(t.Batch)
	}
}

// recordGraphs records the graphs: a step in two parts, as a whole, and several at once.
func (t *trainer) recordGraphs() (err error) {
	s := t.stream
	t.gradient, err = s.Record(t.queue.gradients)
	if err != nil {
		return err
	}
	t.update, err = s.Record(t.queue.update)
	if err != nil {
		return err
	}
	t.whole, err = s.Record(t.queueWhole)
	if err != nil || t.queue.together() == 1 {
		return err
	}
	t.several, err = s.Record(func() error {
		for range t.queue.together() {
			if err := t.queueWhole(); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// queueWhole queues a step.
func (t *trainer) queueWhole() error {
	if err := t.queue.gradients(); err != nil {
		return err
	}
	return t.queue.update()
}
