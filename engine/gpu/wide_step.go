package gpu

import "utvi/internal/cuda"

// widePath runs networks on Hopper's cards with dense layers so broad that their products run
// on planes.
type widePath struct{ large }

// accepts implements path.
func (widePath) accepts(w *weights, _ use) bool {
	for i := range w.plan.layers {
		if w.modeOf(&w.plan.layers[i]) == onPlanes {
			return true
		}
	}
	return false
}

// pass implements path.
func (widePath) pass(w *weights, b *launches) pass { return newStagedPass(w, b) }

// step implements path.
func (widePath) step(t *trainer, l *stepList) step {
	w := t.weights
	l.grads.plan(w, t.Batch)
	s := &wideStep{stagedStep: newStagedStep(t, l)}
	t.placeOptimizer(s.grad)
	turn := w.alloc(1, sizeTurn)
	s.wide.args.One.Turn = turn
	jobs := w.updateJobs()
	s.blocks = len(jobs)
	s.adam.One = wideUpdate{Norm: t.optimizer.norm.One, Adam: w.adam.One, Turn: turn, Stretches: place(w.memory, jobs, sizeJob), Cuts: w.cutting.One.All}
	return s
}

// A wideStep cuts the weights into planes when it updates them.
type wideStep struct {
	*stagedStep
	adam   many[wideUpdate]
	blocks int // of the update
}

// update queues the sums of the gradients, with one block more for the scores, and AdamW.
func (s *wideStep) update() error {
	if err := s.queueColumns(); err != nil {
		return err
	}
	h := s.w.kernels.hopper
	if err := launch(s.w, h.wideNorm, cuda.Grid{X: len(s.w.chunks) + 1}, 256, &s.adam); err != nil {
		return err
	}
	return launch(s.w, h.adamw, cuda.Grid{X: s.blocks}, 256, &s.adam)
}

// updateJobs shares the parameters among the blocks of the update: as many as run at a time.
func (w *weights) updateJobs() (all []updateJob) {
	each := tiles(int(w.cutting.One.Blocks), 3*w.device.Processors)
	tensor := int32(-1)
	for i, c := range w.chunks {
		t := w.tensors[c.Tensor]
		if t.planes[0].At == 0 {
			all = append(all, updateJob{Tensor: -1, Chunk: int32(i)})
			continue
		}
		if c.Lo > 0 { // its first chunk stands for the tensor
			continue
		}
		tensor++
		n := tiles(t.rows, blockSide) * tiles(t.cols, blockSide)
		for from := 0; from < n; from += each {
			all = append(all, updateJob{tensor, int32(from), int32(min(n, from+each)), int32(i)})
		}
	}
	return all
}
