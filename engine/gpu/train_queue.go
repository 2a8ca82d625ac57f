package gpu

import "utvi/internal/cuda"

// stepsTogether is how many steps of a chain or a quartet are one graph: within it, a launch starts while
// the one before it ends.
const stepsTogether = 8

// queueWhole queues a step.
func (t *trainer) queueWhole() error {
	if err := t.queueGradient(); err != nil {
		return err
	}
	return t.queueUpdate()
}

// queueGradient queues what comes before the update.
func (t *trainer) queueGradient() error {
	if t.drawing != nil {
		return t.queueDraws()
	}
	return t.queuePass()
}

// queuePass queues the pass and the gradients of the weights; those of a chain
// and of a quartet are part of their updates.
func (t *trainer) queuePass() error {
	if err := t.pass.run(t.weights, t.Batch); err != nil || t.pass.known() {
		return err
	}
	if err := t.convs.run(t.weights); err != nil {
		return err
	}
	if err := t.runLevels(); err != nil {
		return err
	}
	if err := t.wide.run(t.weights); err != nil {
		return err
	}
	return t.grads.run(t.weights)
}

// queueColumns queues the gradients of learned numbers.
func (t *trainer) queueColumns() error {
	for i := range t.columns {
		c := &t.columns[i]
		if err := launch(t.weights, t.kernels.columns, cuda.Grid{X: int(c.One.Width)}, 256, c); err != nil {
			return err
		}
	}
	return nil
}

func (t *trainer) queueUpdate() error {
	w := t.learned
	if t.pass.chain != nil {
		return t.queueChain()
	}
	if t.pass.quartet != nil {
		return t.queueQuartet()
	}
	if t.drawing == nil { // else each draw did
		if err := t.queueColumns(); err != nil {
			return err
		}
	}
	if t.drawing == nil && w.fused {
		return t.queueFused()
	}
	if w.plan.wideCols() > 0 {
		return t.queueWide()
	}
	grid := cuda.Grid{X: len(w.chunks)}
	if err := launch(w, w.kernels.norm, grid, 256, &t.norm); err != nil {
		return err
	}
	return launch(w, w.kernels.adamw, grid, 256, &w.adam)
}
