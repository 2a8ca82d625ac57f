package tabular

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"sync"

	"utvi/compute"
	"utvi/model"
	"utvi/rng"
)

// Progress tells how far a fit has come.
type Progress struct {
	Stage       string  // "choosing" or "training"
	Done, Total float64 // work, in steps of the average network
	Running     int     // trainings of the stage that are finished or under way
	Jobs        int     // trainings of the stage
}

// Fit fits a table. With a folder it keeps checkpoints there, and the same call
// continues from them, bit for bit; the folder is the fit's own.
//
// If ctx ends, Fit returns the best model so far, or nil where there is none, with
// ctx's error. A model that was not trained to the end says so in its Report.
func Fit(ctx context.Context, c Config, d Data, dir string, tell func(Progress)) (*Fitted, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if err := c.Check(d.Classes > 0); err != nil {
		return nil, err
	}
	if err := claim(dir, c, d); err != nil {
		return nil, err
	}
	r := &run{plan: c.plan(d), data: d, dir: dir, tell: tell, key: rng.New(c.Seed)}
	return r.fit(ctx)
}

// A run is a fit under way.
type run struct {
	plan
	data Data
	dir  string
	key  rng.Key

	mu    sync.Mutex
	tell  func(Progress)
	state Progress
}

func (r *run) fit(ctx context.Context) (*Fitted, error) {
	folds := r.hold()
	rep := Report{Config: r.Config, Rows: r.data.X.Rows, Held: heldRows(folds), Members: []Member{}}
	picks, err := r.choose(ctx, folds, &rep)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return r.salvage(folds, rep), ctx.Err()
	}
	members, err := r.train(ctx, folds, rep.Trials, picks)
	if err != nil {
		return nil, err
	}
	var good []*result
	var nets []*model.Model
	for i, m := range members {
		if m.err == nil {
			good, nets = append(good, m), append(nets, m.net)
			rep.Members = append(rep.Members, Member{rep.Trials[picks[i]].Candidate, m.log.Curve, m.step})
		}
	}
	if len(nets) == 0 {
		if ctx.Err() != nil {
			return r.salvage(folds, rep), ctx.Err()
		}
		return nil, fmt.Errorf("no member could be trained to the end; the first failed because %w", members[0].err)
	}
	rep.Partial = ctx.Err() != nil
	by := predictions(rep.Trials, picks)
	if r.apart {
		by = func(fold) (m []held) {
			for _, g := range good {
				m = append(m, g.log.Held[len(g.log.Held)-1])
			}
			return m
		}
	}
	var shapes []Shape
	for t := 0; r.classes == 0 && t < r.data.targets(); t++ {
		shapes = append(shapes, fitShape(folds, by, t))
	}
	rep.Score, rep.SE = mixtureScore(folds, by, shapes)
	f, err := r.finish(nets, rep, shapes)
	return f, errors.Join(err, ctx.Err())
}

// choose tries the candidates and picks the members. Where one candidate is to be
// trained, and its members will be judged by rows they do not see, there is nothing
// to try.
func (r *run) choose(ctx context.Context, folds []fold, rep *Report) ([]int, error) {
	if r.apart && len(r.candidate) == 1 {
		rep.Trials = []Trial{{Candidate: r.candidate[0], Stop: stops, Curve: []Point{}}}
		return make([]int, r.Ensemble), nil
	}
	if err := r.try(ctx, folds); err != nil {
		return nil, err
	}
	for i, c := range r.candidate {
		rep.Trials = append(rep.Trials, judgeTrial(folds, i, c))
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	picks := compose(folds, rep.Trials, r.Ensemble)
	if picks == nil {
		return nil, fmt.Errorf("no candidate could be trained; the first failed because %s", rep.Trials[0].Failed)
	}
	return picks, nil
}

func heldRows(folds []fold) (n int) {
	for _, f := range folds {
		n += f.held.X.Rows
	}
	return n
}

// hold sets rows apart.
func (r *run) hold() []fold {
	of := r.data.folds(r.folds, r.key.Sub(0, 1))
	var folds []fold
	for i := range r.used {
		in, out := split(of, i)
		if len(out) == 0 || len(in) == 0 { // fewer groups than folds
			continue
		}
		folds = append(folds, fold{train: r.data.pick(in), held: r.data.pick(out), by: make([]*result, len(r.candidate))})
	}
	return folds
}

// try trains every candidate on the first fold, and on the others those that are
// not far behind.
func (r *run) try(ctx context.Context, folds []fold) error {
	best := math.Inf(-1)
	first := make([]float64, len(r.candidate))
	for f := range folds {
		var jobs []*job
		var of []int
		for c, x := range r.candidate {
			if f == 0 || first[c] >= best-farBehind {
				of = append(of, c)
				jobs = append(jobs, r.job(x, folds[f].train, folds[f].held, fmt.Sprintf("trial-%d-%d", f, c), r.key.Sub(uint64(f), 2), r.trial, stops))
			}
		}
		r.begin("choosing", jobs, len(folds)-1-f)
		results, err := r.runAll(ctx, jobs)
		for i, x := range results {
			folds[f].by[of[i]] = x
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
		if f > 0 {
			continue
		}
		for c, x := range r.candidate {
			t := judgeTrial(folds[:1], c, x)
			first[c] = math.Inf(-1)
			if t.Failed == "" {
				first[c] = t.Score
				best = max(best, t.Score)
			}
		}
	}
	return nil
}

// farBehind is how much worse, in nats a row, a candidate may be on the first fold
// to be tried on the next: more is not made up.
const farBehind = 0.3

// train trains the picked candidates, each from a seed of its own, up to its stop.
func (r *run) train(ctx context.Context, folds []fold, trials []Trial, picks []int) ([]*result, error) {
	rows, held := r.data, Data{}
	if r.apart {
		rows, held = folds[0].train, folds[0].held
	}
	var jobs []*job
	for i, p := range picks {
		jobs = append(jobs, r.job(trials[p].Candidate, rows, held, fmt.Sprintf("member-%d", i), r.key.Sub(uint64(i), 3), r.Steps, trials[p].Stop))
	}
	r.begin("training", jobs, 0)
	return r.runAll(ctx, jobs)
}

func (r *run) job(c Candidate, rows, held Data, name string, key rng.Key, schedule, until int) *job {
	j := &job{
		Candidate: c, train: rows, held: held, seed: rng.Uint64(key, 0),
		schedule: schedule, steps: stop(until, schedule), batch: min(r.Batch, rows.X.Rows), rate: r.Rate,
	}
	if r.dir != "" {
		j.file = filepath.Join(r.dir, name)
	}
	return j
}

// runAll runs jobs, some at a time; results are in the jobs' order.
func (r *run) runAll(ctx context.Context, jobs []*job) ([]*result, error) {
	n := r.Parallel
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pool := compute.NewPool(min(n, len(jobs)))
	defer pool.Close()
	results, errs := make([]*result, len(jobs)), make([]error, len(jobs))
	pool.Run(len(jobs), func(_, i int) {
		j := jobs[i]
		r.advance(0, 1)
		work := j.work(j.train.X.Width, j.batch)
		x, err := j.run(ctx, func(steps int) { r.advance(work*float64(steps), 0) })
		if results[i], errs[i] = &x, err; err != nil {
			cancel()
		}
	})
	return results, errors.Join(errs...)
}

// begin opens a stage that is to be followed by more like it. What is not decided
// yet is guessed.
func (r *run) begin(stage string, jobs []*job, more int) {
	var work float64
	for _, j := range jobs {
		work += float64(j.steps) * j.work(j.train.X.Width, j.batch)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Stage, r.state.Running, r.state.Jobs = stage, 0, len(jobs)
	r.state.Total = r.state.Done + work*float64(1+more)
	if stage == "choosing" {
		r.state.Total += work / float64(len(jobs)) * float64(r.Ensemble*r.Steps) / float64(r.plan.trial)
	}
}

func (r *run) advance(work float64, started int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Done += work
	r.state.Running += started
	if r.tell != nil {
		r.tell(r.state)
	}
}

// salvage makes a model of the best network that a broken-off fit has: one that was
// scored, else any that took a step; nil where there is none.
func (r *run) salvage(folds []fold, rep Report) *Fitted {
	var best *result
	var c Candidate
	better := func(x, y *result) bool { // x than y
		if y == nil || len(x.log.Curve) == 0 || len(y.log.Curve) == 0 {
			return y == nil || len(x.log.Curve) > len(y.log.Curve)
		}
		return x.log.Curve[len(x.log.Curve)-1].Held < y.log.Curve[len(y.log.Curve)-1].Held
	}
	for _, f := range folds {
		for i, x := range f.by {
			if x != nil && x.net != nil && x.step > 0 && better(x, best) {
				best, c = x, r.candidate[i]
			}
		}
	}
	if best == nil {
		return nil
	}
	rep.Partial, rep.Score, rep.SE = true, 0, 0
	rep.Members = []Member{{c, best.log.Curve, best.step}}
	var shapes []Shape
	for t := 0; r.classes == 0 && t < r.data.targets(); t++ {
		shapes = append(shapes, plainShape())
	}
	f, err := r.finish([]*model.Model{best.net}, rep, shapes)
	if err != nil {
		return nil
	}
	return f
}
