package gpu

import (
	"math"

	"utvi/engine"
	"utvi/internal/cuda"
	"utvi/vi"
)

// FitPriors implements engine.Trainer. An error of the card shows in the next step.
func (t *trainer) FitPriors(e vi.EmpiricalBayes) {
	w := t.learned
	if launch(w, w.kernels.priors, cuda.Grid{X: len(w.chunks)}, 256, &t.priors) != nil ||
		cuda.Download(w.stream, t.priorSums, t.priors.One.Parts) != nil || w.stream.Sync() != nil {
		return
	}
	for i, x := range t.params.Tensors {
		if !x.Random {
			continue
		}
		var sum float64
		for j := range w.chunks {
			if int(w.chunks[j].Tensor) == i {
				sum += t.priorSums[j]
			}
		}
		std := math.Sqrt(e.Variance(x.Len(), sum))
		x.Prior.Std, t.net.Params.Tensors[i].Prior.Std = std, std
	}
	w.describe(t.params)
}

// State implements engine.Trainer.
func (t *trainer) State() engine.State {
	return engine.State{Params: t.params, First: t.moments[0], Second: t.moments[1]}
}

// Sync implements engine.Trainer.
func (t *trainer) Sync() error {
	s := t.stream
	for _, x := range []struct {
		to   []float32
		from cuda.Ptr
	}{{t.params.Theta, t.learned.theta}, {t.moments[0].Theta, t.first}, {t.moments[1].Theta, t.second}} {
		if err := cuda.Download(s, x.to, x.from); err != nil {
			return err
		}
	}
	return s.Sync()
}

// Load implements engine.Trainer.
func (t *trainer) Load() error {
	for i, x := range t.params.Tensors {
		t.net.Params.Tensors[i].Prior = x.Prior
	}
	if err := cuda.Upload(t.stream, t.first, t.moments[0].Theta); err != nil {
		return err
	}
	if err := cuda.Upload(t.stream, t.second, t.moments[1].Theta); err != nil {
		return err
	}
	return t.learned.upload(t.params)
}

// Close frees the memory of the card.
func (t *trainer) Close() error {
	t.leave()
	for _, g := range []*cuda.Graph{t.gradient, t.update, t.whole, t.several} {
		if g != nil {
			g.Close()
		}
	}
	t.release()
	return nil
}

// Explain implements engine.Trainer: the CPU repeats the step from the same parameters.
func (t *trainer) Explain(what string) error {
	if err := t.Sync(); err != nil {
		return err
	}
	c, err := engine.CPU[float32]().Train(t.net, t.Job)
	if err != nil {
		return err
	}
	c.Gradient(t.step)
	return c.Explain(what)
}
