package tabular

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"utvi/data"
	"utvi/engine"
	"utvi/internal/atomicfile"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/model"
	"utvi/optim"
	"utvi/train"
	"utvi/vi"
)

// A job is one training. At its stops, equally spaced, it predicts the rows held
// out; with a file it continues what an earlier run left.
type job struct {
	Candidate
	name        string
	train, held Data // held may have no rows
	seed        uint64
	schedule    int // steps the schedules are made for
	steps       int // steps to make, the last of them a stop
	batch       int
	rate        float64
	file        string // without extension; "" keeps nothing
	engine      engine.Engine[float32]
	beside      int // trainings of its shape that are planned to run side by side
	kernels     *kernelMemo
}

// stops is how often a training's held-out rows are predicted.
const stops = 8

// stop is the step of stop i of a schedule, counted from 1.
func stop(i, schedule int) int { return max(1, i*schedule/stops) }

// A result is what a job gave, as far as it came.
type result struct {
	net  *model.Model
	log  record
	err  error // of the training: it diverged, or was cancelled
	step int
}

// A record is what is kept beside a checkpoint.
type record struct {
	Curve []Point              `json:"curve"`
	Held  []heldOutPredictions `json:"held"` // at each point of the curve

	// The sum of the losses since the last stop, if the training was at Step.
	Step  int     `json:"step"`
	Sum   float64 `json:"sum"`
	Count int     `json:"count"`
}

// A Point is the state of a training after Step steps.
type Point struct {
	Step  int     `json:"step"`
	Train float64 `json:"train"` // mean loss of training rows since the point before, nats
	Held  float64 `json:"held"`  // mean −ln p of held-out rows, as Trial.Score; 0 without held-out rows
}

func (j *job) config(l likelihood.Likelihood) (train.Config, error) {
	targets, y := j.train.table()
	if j.train.Weights != nil {
		l = likelihood.Weighted{Of: l}
	}
	table, err := data.NewTable(j.train.X, targets, y)
	if err != nil {
		return train.Config{}, err
	}
	o := optim.Paper()
	o.Rate = optim.WarmUp(j.schedule/50, optim.Cosine(j.rate, j.schedule))
	o.Decay, o.DecayOn = 0, optim.DecayNone
	warm := optim.WarmUpKL(3 * j.schedule / 10)
	c := train.Config{
		Data: table, Likelihood: l, Optimizer: o,
		KL:    func(epoch, step int) float64 { return j.KL * warm(epoch, step) },
		Prior: &vi.EmpiricalBayes{Every: 10},
		Batch: j.batch, Steps: j.steps, Seed: j.seed, Workers: 1, Engine: j.engine, Beside: j.beside,
	}
	if j.file != "" {
		c.Checkpoint = j.file + ".safetensors"
	}
	return c, nil
}

// run trains until the last step, ctx's end or a number that is not finite. What
// must not be (files, settings) is the error.
func (j *job) run(ctx context.Context, tell func(steps int, so *result)) (r result, err error) {
	if j.Kernel != "" {
		r, err = j.solve()
		tell(j.steps, &r)
		return r, err
	}
	net, l, err := j.net(j.train, j.seed)
	if err != nil {
		return r, err
	}
	c, err := j.config(l)
	if err != nil {
		return r, err
	}
	t, err := train.New(net, c)
	if err != nil {
		return r, err
	}
	defer t.Close()
	r.net, r.step = net, t.Step()
	judge := newJudge(net, l, j.held)
	if err := r.log.load(j, t.Step(), judge); err != nil {
		return r, err
	}
	tell(t.Step(), &r)
	const often = 64 // steps between looks at the context
	for t.Step() < j.steps {
		if t.Step()%often == 0 && ctx.Err() != nil {
			r.err = ctx.Err()
			break
		}
		next := min(j.steps, (t.Step()/often+1)*often, j.stop(len(r.log.Curve)+1))
		err := t.AdvanceTo(max(next, t.Step()+1), func(s train.Step) {
			r.log.Sum += s.NLL
			r.log.Count++
			r.step = s.Step
			if r.step%often == 0 {
				tell(often, &r)
			}
		})
		if _, bad := errors.AsType[*train.NotFiniteError](err); bad {
			r.err = err
			return r, nil
		}
		if err != nil {
			return r, err
		}
		if r.step == j.stop(len(r.log.Curve)+1) {
			r.err = r.log.add(r.step, judge)
			if r.err != nil {
				return r, nil
			}
			if err := errors.Join(j.keep(&r.log, r.step), t.Save()); err != nil {
				return r, err
			}
		}
	}
	if r.step < j.steps {
		err := errors.Join(j.keep(&r.log, r.step), t.Save())
		r.judgeLate(judge)
		return r, err
	}
	tell(r.step%often, &r)
	return r, nil
}

// judgeLate adds a last point to a training that ended between two stops, if it took a step:
// a model that is made of this network needs to know how far its predictions are off. The
// point is not kept in a file, because the training goes on without it.
func (r *result) judgeLate(judge *judge) {
	last := 0
	if n := len(r.log.Curve); n > 0 {
		last = r.log.Curve[n-1].Step
	}
	if r.step > last {
		_ = r.log.add(r.step, judge) // a score that is not finite is none
	}
}

// training says how far a job has come.
func (j *job) training(r *result) *Training {
	t := &Training{Name: j.name, Candidate: j.Candidate, Step: r.step, Steps: j.steps, Curve: r.log.Curve}
	if r.err != nil {
		t.Failed = r.err.Error()
	}
	return t
}

func (j *job) stop(i int) int { return stop(i, j.schedule) }

// add closes the stretch before a stop.
func (r *record) add(step int, judge *judge) error {
	p := Point{Step: step, Train: r.Sum / float64(max(1, r.Count))}
	h := judge.predict()
	if len(h.Mean) > 0 {
		p.Held = -score([]fold{{held: judge.held}}, func(fold) heldOutPredictions { return h }).mean
		if !compute.Finite(p.Held) {
			return fmt.Errorf("the score of held-out rows after %d steps is %v", step, p.Held)
		}
	}
	r.Curve, r.Held = append(r.Curve, p), append(r.Held, h)
	r.Sum, r.Count = 0, 0
	return nil
}

func (j *job) keep(r *record, step int) error {
	if j.file == "" {
		return nil
	}
	r.Step = step
	return atomicfile.Write(j.file+".json", func(w io.Writer) error { return json.NewEncoder(w).Encode(r) })
}

// load takes up what was recorded up to a checkpoint's step. The record is written
// before its checkpoint: it may be ahead.
func (r *record) load(j *job, step int, judge *judge) error {
	if j.file == "" || step == 0 {
		return nil
	}
	path := j.file + ".json"
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, r)
	}
	done := 0
	for done < stops && j.stop(done+1) <= step {
		done++
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(r.Curve) < done {
		return fmt.Errorf("%s does not match its checkpoint; remove the folder %s to start again", path, filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w; remove the folder %s to start again", path, err, filepath.Dir(path))
	}
	r.Curve, r.Held = r.Curve[:done], r.Held[:done]
	if r.Step != step {
		r.Sum, r.Count = 0, 0
	}
	return nil
}
