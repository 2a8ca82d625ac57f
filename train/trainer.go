package train

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"utvi/engine"
	"utvi/internal/compute"
	"utvi/model"
	"utvi/rng"
)

// A Step reports one step of training. NLL and KL belong to the parameters before the
// step.
type Step struct {
	Step, Epoch int     // counted from 1
	NLL         float64 // mean of the batch's rows, nats
	KL          float64 // of all weights, nats, unscaled
	Loss        float64 // NLL + Weight·KL/N
	Weight      float64 // weight of the KL
	GradNorm    float64
	Rate        float64
	Floored     int // variances raised to the likelihood's floor
}

// A Trainer trains one network. It must be used by one goroutine at a time.
type Trainer struct {
	config  Config
	net     *model.Model
	program engine.Trainer
	pool    *compute.Pool
	step    int // finished

	reports  []Step // of AdvanceTo
	updates  []engine.Update
	outcomes []engine.Outcome
}

// New returns a trainer of m. If the checkpoint file of the configuration exists, the
// trainer and the network continue from it.
func New(m *model.Model, c Config) (*Trainer, error) {
	if err := c.check(m); err != nil {
		return nil, err
	}
	t := &Trainer{config: c, net: m, pool: c.pool()}
	var err error
	t.program, err = c.Engine.Train(m.Network(), engine.Job{
		Data: c.Data, Likelihood: c.Likelihood, Optimizer: c.Optimizer,
		Batch: c.Batch, Draws: c.Draws, Seed: rng.New(c.Seed), Pool: t.pool, Beside: c.Beside,
	})
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if err := t.resume(); err != nil {
		return nil, err
	}
	return t, nil
}

// Step returns the number of finished steps.
func (t *Trainer) Step() int { return t.step }

// Sync makes the parameters of the network current. An engine that works in its own
// memory, such as a card, copies them; the trainer does so itself after the last step,
// when the loop over Steps ends, and in Save.
func (t *Trainer) Sync() error {
	if err := t.program.Sync(); err != nil {
		return fmt.Errorf("train: step %d: %w", t.step, err)
	}
	t.net.Changed()
	return nil
}

// Steps trains, one step per iteration, until Config.Steps steps are done or ctx is
// cancelled. Leaving the loop keeps the state: a later call continues. The iteration
// ends with an error if ctx is cancelled, a number is not finite, or the checkpoint
// cannot be written. The parameters are then those of the last good step, and the
// checkpoint is the last one that was written.
func (t *Trainer) Steps(ctx context.Context) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		for t.step < t.config.Steps {
			if err := ctx.Err(); err != nil {
				if cerr := t.Save(); cerr != nil {
					err = cerr
				}
				yield(Step{Step: t.step}, err)
				return
			}
			s, err := t.Advance()
			if err == nil && t.due() {
				err = t.Save()
			}
			if !yield(s, err) {
				t.Sync() // an error shows in the next step, or in Save
				return
			}
			if err != nil {
				return
			}
		}
	}
}

func (t *Trainer) due() bool {
	every := t.config.CheckpointEvery
	return t.step == t.config.Steps || every > 0 && t.step%every == 0
}

// Run trains to the end.
func (t *Trainer) Run(ctx context.Context) error {
	for _, err := range t.Steps(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Close stops the trainer's workers and frees the memory of its engine. Without Close,
// this happens some time after the trainer is garbage.
func (t *Trainer) Close() {
	if c, ok := t.program.(io.Closer); ok {
		c.Close()
	}
	t.pool.Close()
}

// Advance makes one step and writes no checkpoint.
func (t *Trainer) Advance() (Step, error) {
	n := t.step + 1
	s, u, err := t.plan(n)
	if err != nil {
		return s, err
	}
	if c := t.config; c.Prior != nil && c.Prior.Due(n) {
		t.program.FitPriors(*c.Prior)
	}
	score := t.program.Gradient(n)
	var change engine.Change
	if score.Err == nil && score.Finite {
		change = t.program.Update(u)
	}
	return t.finish(s, engine.Outcome{Score: score, Change: change})
}

// plan begins the report of a step and returns its update.
func (t *Trainer) plan(n int) (Step, engine.Update, error) {
	c, rowsPerEpoch := t.config, t.config.Data.Rows()
	s := Step{Step: n, Epoch: (n-1)*c.Batch/rowsPerEpoch + 1}
	s.Weight, s.Rate = c.KL(s.Epoch, n), c.Optimizer.Rate(n)
	return s, engine.Update{Step: n, Rate: s.Rate, KL: s.Weight / float64(rowsPerEpoch)}, checkSchedules(s)
}

// finish completes the report of a step.
func (t *Trainer) finish(s Step, o engine.Outcome) (Step, error) {
	if err := cmp.Or(o.Err, o.Change.Err); err != nil {
		return s, fmt.Errorf("train: step %d: %w", s.Step, err)
	}
	s.NLL, s.Floored = o.NLL, o.Floored
	if !o.Finite {
		return s, t.explain(s, "the negative log-likelihood")
	}
	s.KL, s.GradNorm = o.Change.KL, o.Change.GradNorm
	if !o.Change.Finite {
		return s, t.explain(s, "the gradient")
	}
	s.Loss = s.NLL + s.Weight*s.KL/float64(t.config.Data.Rows())
	t.step = s.Step
	t.record(s.NLL)
	t.recordKernels(compute.Family())
	t.net.Changed()
	if t.step == t.config.Steps {
		return s, t.Sync()
	}
	return s, nil
}

// record writes the progress of the training to the facts of the network.
func (t *Trainer) record(nll float64) {
	f := &t.net.Facts
	f.Rows = t.config.Data.Rows()
	f.Steps = t.step
	f.Likelihood = t.config.Likelihood.String()
	f.NLL = nll
	t.net.Likelihood = t.config.Likelihood
}

// recordKernels adds a kernel family to the facts where the last step ran in another:
// bits agree within a family only.
func (t *Trainer) recordKernels(family string) {
	switch f := &t.net.Facts; {
	case f.Kernels == "":
		f.Kernels = family
	case !strings.HasSuffix(f.Kernels, family):
		f.Kernels += ", " + family
	}
}
