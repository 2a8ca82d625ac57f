package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"utvi/engine"
	"utvi/internal/compute"
	"utvi/internal/sweep"
	"utvi/likelihood"
	"utvi/model"
	"utvi/train"
)

// A training is a network that is trained to the end and scored at regular steps. It
// continues from the checkpoint of an earlier run of the job.
type training struct {
	net   model.Config
	train train.Config
	every int                                   // steps between scores
	score func(m *model.Model) func() []float64 // allocates once, then scores; the first number is the main one

	mayDiverge bool // a number that is not finite is a result, not an error
}

// A Mark is the score at a step, with facts of the steps since the last mark.
type Mark struct {
	Step    int       `json:"step"`
	Scores  []float64 `json:"scores"`
	MaxGrad float64   `json:"max_grad"` // the largest norm of a gradient
	Clipped int       `json:"clipped"`  // steps whose gradient was clipped
}

// A Divergence is the end of a training that met a number that is not finite.
type Divergence struct {
	Step int    `json:"step"`
	What string `json:"what"`
}

// A History is how a training went.
type History struct {
	Marks    []Mark      `json:"marks"`
	Diverged *Divergence `json:"diverged,omitempty"`
}

// curve is score k at all marks.
func (h History) curve(k int) []float64 {
	y := make([]float64, len(h.Marks))
	for i, m := range h.Marks {
		y[i] = m.Scores[k]
	}
	return y
}

// run trains, saves the network beside the result, and returns it with its history.
func (t training) run(ctx context.Context, j sweep.Job) (*model.Model, *History, error) {
	m, err := model.New(t.net)
	if err != nil {
		return nil, nil, err
	}
	t.train.Checkpoint = j.Stem + ".checkpoint"
	t.train.Workers = j.Workers
	t.train.Engine = j.Engine
	t.train.Beside = j.Beside
	trainer, err := train.New(m, t.train)
	if err != nil {
		return nil, nil, err
	}
	defer trainer.Close()
	scoreOn(j.Engine, m)
	log := &marks{path: j.Stem + ".checkpoint.json", every: t.every, last: t.train.Steps, score: t.score(m)}
	if err := log.resume(trainer.Step()); err != nil {
		return nil, nil, err
	}
	j.Tell(trainer.Step(), t.train.Steps, log.headline())
	var diverged *Divergence
	for trainer.Step() < t.train.Steps && diverged == nil {
		if err := ctx.Err(); err != nil {
			return nil, nil, cmp.Or(log.checkpoint(trainer), err)
		}
		diverged, err = t.advance(trainer, log, j)
		if err != nil {
			return nil, nil, err
		}
	}
	return m, &History{log.done, diverged}, t.save(m, j, log)
}

// scoreOn makes an engine that runs many trainings at a time score the network, too: the
// cores would not keep up with it. What the engine cannot run, the CPU scores.
func scoreOn(e engine.Engine[float32], m *model.Model) {
	if e != nil && e.Abilities().Concurrent > 0 {
		m.Use(e)
	}
}

// advance makes steps up to the next event or mark, and the mark if it is due.
func (t training) advance(trainer *train.Trainer, log *marks, j sweep.Job) (*Divergence, error) {
	often := max(8, trainer.Ahead()) // steps between events
	next := trainer.Step() + 1
	for next%often != 0 && !log.due(next) {
		next++
	}
	var s train.Step
	err := trainer.AdvanceTo(next, func(x train.Step) {
		s = x
		log.add(s, t.train.Optimizer.Clip)
	})
	var stuck *train.NotFiniteError
	if t.mayDiverge && errors.As(err, &stuck) {
		return &Divergence{stuck.Step, stuck.Err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	if log.due(s.Step) {
		if x := log.close(); !compute.Finite(x...) {
			what := fmt.Sprintf("the validation scores are %v", x)
			if t.mayDiverge {
				return &Divergence{s.Step, what}, nil
			}
			return nil, fmt.Errorf("after %d steps %s", s.Step, what)
		}
		if s.Step%t.train.CheckpointEvery == 0 {
			err = log.checkpoint(trainer)
		} else {
			err = log.keep()
		}
	}
	if s.Step%often == 0 || s.Step == t.train.Steps {
		j.Tell(s.Step, t.train.Steps, log.headline())
	}
	return nil, err
}

// save writes the trained network.
func (t training) save(m *model.Model, j sweep.Job, log *marks) error {
	c := t.train
	if c.Likelihood == nil {
		c.Likelihood = likelihood.Normal{} // as the trainer takes it
	}
	m.Facts = model.Facts{Rows: c.Data.Rows(), Steps: c.Steps, Likelihood: c.Likelihood.String(), Data: j.Name}
	if x := log.headline(); compute.Finite(x) {
		m.Facts.NLL = x
	}
	return m.Save(j.Stem + ".utvi")
}
