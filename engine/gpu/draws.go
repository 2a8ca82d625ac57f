package gpu

import (
	"fmt"

	"utvi/engine"
	"utvi/engine/internal/sampling"
	"utvi/internal/cuda"
	"utvi/nn"
	"utvi/vi"
)

// drawing is what a training by drawn networks needs besides (see engine.Job.Draws). The
// layers of the trainer are then those of a network whose weights are numbers. For every
// draw, a step draws these numbers, carries the batch through the layers, and adds the
// gradients to their means over the draws, by which the parameters are updated.
type drawing struct {
	pieces []drawPiece
	args   many[drawsArgs] // of the draw under way
}

// A drawPiece is a stretch of a tensor whose weights are drawn together.
type drawPiece struct {
	Mean, Rho, To           int64 // To: in the drawn network
	N, Random, Tensor, Unit int32
	Parts, _                int32
}

type drawsArgs struct {
	Pieces              cuda.Ptr
	Count, Rows         int32
	Theta, Drawn, Slope cuda.Ptr
	From                cuda.Ptr // partial gradients of the drawn network
	Size                int64
	Grad, NLL, Floored  cuda.Ptr
	MeanNLL, AllFloored cuda.Ptr
	Control, Results    cuda.Ptr
	Layer               uint32
	Number, Draws, _    int32
}

const sizeDrawPiece = 48

// mostDraws bounds the draws of a step, which is recorded with all of its launches.
const mostDraws = 1000

// drawnWeights returns the parameters that are learned, without layers, and those of the
// network whose weights are drawn.
func drawnWeights(e *Engine, n engine.Network[float32], form nn.Form, j engine.Job, u use) (learned, drawn *weights, err error) {
	if j.Draws > mostDraws {
		return nil, nil, &Unsupported{What: fmt.Sprintf("a step draws %d networks; at most %d run", j.Draws, mostDraws)}
	}
	b := &nn.Binder[float32]{Form: form}
	_, err = engine.Bind(n, b)
	if err != nil {
		return nil, nil, err
	}
	n.Fixed, n.Params = true, &vi.Params[float32]{}
	p, err := makePlan(n, form)
	if err != nil {
		return nil, nil, err
	}
	err = sampling.Check(p.params, b.Params, p.layers[len(p.layers)-1].to, j.Likelihood)
	if err != nil {
		return nil, nil, err
	}
	p.params.Alloc()
	m, err := newMemory(e.device)
	if err != nil {
		return nil, nil, err
	}
	learned, err = newWeights(e, m, &plan{params: b.Params, form: form, inputs: p.inputs}, u)
	if err != nil {
		return nil, nil, err
	}
	drawn, err = newWeights(e, m, p, use{train: true})
	if err != nil {
		return nil, nil, err
	}
	drawn.control = learned.control
	drawn.results = learned.results
	drawn.recorder = learned.recorder
	return learned, drawn, nil
}

// A drawnStep carries the batch through several drawn networks, and updates the parameters by
// the means of their gradients.
type drawnStep struct {
	*stagedStep // of a drawn network
	drawing
	draws     int
	optimizer optimizer
}

// newDrawnStep lays out a step. The scores of the trainer are then the means over the draws.
func newDrawnStep(t *trainer, list *stepList) *drawnStep {
	w, l := t.weights, t.learned
	s := &drawnStep{stagedStep: t.path.(stagedPath).staged(t, list), draws: t.Draws}
	for i, x := range l.plan.params.Tensors {
		random := int32(0)
		if x.Random {
			random = 1
		}
		for lo := 0; lo < x.Len(); lo += sampling.Piece {
			s.pieces = append(s.pieces, drawPiece{Mean: int64(l.mean[i] + lo), Rho: int64(l.rho[i] + lo), To: int64(w.mean[i] + lo),
				N: int32(min(sampling.Piece, x.Len()-lo)), Random: random, Tensor: int32(i), Unit: int32(lo / 4), Parts: int32(w.tensors[i].parts)})
		}
	}
	a := &s.args.One
	*a = drawsArgs{Pieces: place(w.memory, s.pieces, sizeDrawPiece), Count: int32(len(s.pieces)), Rows: int32(t.Batch),
		Theta: l.theta, Drawn: w.theta, Slope: w.floats(w.size), From: s.grad, Size: int64(w.size), NLL: t.nll, Floored: t.floored,
		Control: l.control, Results: l.results, Layer: sampling.Layer, Draws: int32(t.Draws)}
	t.nll = w.alloc(t.Batch, 8)
	t.floored = w.alloc(t.Batch, 4)
	a.Grad = l.zeros(l.size)
	a.MeanNLL = t.nll
	a.AllFloored = t.floored
	t.placeOptimizer(a.Grad)
	s.optimizer = t.optimizer
	return s
}

// gradients queues the passes of all drawn networks.
func (s *drawnStep) gradients() error {
	w := s.w
	for n := range s.draws {
		s.args.One.Number = int32(n)
		if err := launch(w, w.kernels.drawWeights, cuda.Grid{X: len(s.pieces)}, 256, &s.args); err != nil {
			return err
		}
		if err := w.prepare(); err != nil {
			return err
		}
		if err := s.stagedStep.gradients(); err != nil {
			return err
		}
		if err := s.queueColumns(); err != nil {
			return err
		}
		if err := launch(w, w.kernels.gatherDraws, cuda.Grid{X: len(s.pieces) + 1}, 256, &s.args); err != nil {
			return err
		}
	}
	return nil
}

func (s *drawnStep) update() error { return s.optimizer.queue() }
