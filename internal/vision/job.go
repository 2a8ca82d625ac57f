package vision

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"utvi/internal/tabular"
	"utvi/likelihood"
	"utvi/model"
	"utvi/optim"
	"utvi/train"
	"utvi/vi"
)

// A job is one training. With a folder it continues what an earlier run left there.
type job struct {
	*run
	candidate tabular.Candidate
	name      string
	images    []int32 // to learn from
	steps     int
	seed      uint64
}

// A trained network, with the scores of the images held out.
type trained struct {
	net   *model.Model
	step  int
	curve []tabular.Point
	scored
}

// train trains until the last step or ctx's end, whose error it returns with the network.
func (j job) train(ctx context.Context) (*trained, error) {
	p := j.plan
	p.candidate = j.candidate
	net, err := p.net(j.data, j.seed)
	if err != nil {
		return nil, err
	}
	config, err := j.config()
	if err != nil {
		return nil, err
	}
	t, err := train.New(net, config)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	out := &trained{net: net, step: t.Step()}
	j.advance(&j, out, float64(t.Step()), true)
	ended := j.steady(ctx, t, out)
	if ended != nil && ctx.Err() == nil {
		return nil, ended
	}
	if err := errors.Join(t.Save(), j.data.Images.Err()); err != nil {
		return nil, err
	}
	if out.step == 0 {
		return nil, ended
	}
	nets := []*model.Model{net}
	learned, err := j.score(nets, j.learning)
	if err != nil {
		return nil, err
	}
	out.scored, err = j.score(nets, j.choosing)
	if err != nil {
		return nil, err
	}
	out.curve = append(out.curve, tabular.Point{Step: out.step, Train: learned.nll, Held: out.nll})
	j.advance(&j, out, 0, false)
	return out, ended
}

// steady makes the steps that are left.
func (j job) steady(ctx context.Context, t *train.Trainer, out *trained) error {
	const often = 10 // steps between words about how far it is
	from := out.step
	began := time.Now()
	made := 0
	for s, err := range t.Steps(ctx) {
		if err != nil {
			return err
		}
		out.step = s.Step
		made++
		j.pace = time.Since(began) / time.Duration(made)
		if s.Step%often == 0 || s.Step == j.steps {
			j.advance(&j, out, float64(s.Step-from), false)
			from = s.Step
		}
	}
	return nil
}

// likelihood is what the network is trained with.
func (j job) likelihood() likelihood.Likelihood {
	if j.data.Maps != nil {
		return j.pixelLikelihood()
	}
	if j.data.Classes > 0 {
		return likelihood.Categorical{}
	}
	return likelihood.Heteroscedastic{Common: j.candidate.Common}
}

// config says how the job is trained.
func (j job) config() (train.Config, error) {
	augment, err := Augmentation(j.candidate.Augment)
	if err != nil {
		return train.Config{}, err
	}
	batch := min(j.Network.Batch, len(j.images))
	s, err := newSource(j.data.some(j.images), augment, batch)
	if err != nil {
		return train.Config{}, err
	}
	o := optim.Paper()
	o.Rate = optim.WarmUp(j.steps/20+1, optim.Cosine(j.Network.Rate, j.steps))
	o.Decay = 0
	o.DecayOn = optim.DecayNone
	warm := optim.WarmUpKL(3 * j.steps / 10)
	c := train.Config{
		Data: s, Likelihood: j.likelihood(), Optimizer: o,
		KL:    func(epoch, step int) float64 { return j.candidate.KL * warm(epoch, step) },
		Prior: &vi.EmpiricalBayes{Every: 10},
		Draws: 1, Batch: batch, Steps: j.steps, Seed: j.seed, Workers: j.Network.Parallel, Engine: j.Network.Engine,
	}
	if j.dir != "" {
		c.Checkpoint = filepath.Join(j.dir, j.name+".safetensors")
		c.CheckpointEvery = 200
	}
	return c, nil
}
