package tabular

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"utvi/dist"
	"utvi/internal/compute"
	"utvi/internal/counts"
	"utvi/model"
	"utvi/rng"
)

// Progress says how much of a fit is done.
type Progress struct {
	Stage       string  // "choosing", "training" or, of a Refit, "training again"
	Done, Total float64 // work, in steps of the average network
	Found       float64 // of the work done, what an earlier call left in the folder
	Running     int     // trainings of the stage that are finished or under way
	Jobs        int     // trainings of the stage

	Training *Training // the one that went on; nil if none did
}

// A Training is one training of a fit, as far as it has come.
type Training struct {
	Name        string // trial-FOLD-CANDIDATE, with -SEED or -half behind it, or member-NUMBER, all from 0
	Candidate   Candidate
	Step, Steps int
	Curve       []Point // must not be changed
	Failed      string  // why it ended early; "" otherwise
}

// Fit fits a table. With a folder it keeps checkpoints there, and the same call
// continues from them, bit for bit. Nothing else may use the folder.
//
// If ctx ends, Fit returns the best model so far, or nil if no model is ready, with
// ctx's error. A model that was not trained to the end says so in its Report.
func Fit(ctx context.Context, c Config, d Data, dir string, tell func(Progress)) (*Fitted, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if err := c.Check(d.Classes > 0); err != nil {
		return nil, err
	}
	if slices.Contains(countNoises, c.Noise) && d.Step == nil {
		return nil, fmt.Errorf("noise %q applies to counts only; every target must be a whole number from 0 to %d", c.Noise, counts.Most)
	}
	if err := mark(dir, c, d); err != nil { // nothing refuses the fit any more
		return nil, err
	}
	trained := d.withoutGaps()
	r := &run{plan: c.plan(trained), data: trained, whole: d, dir: dir, tell: tell, key: rng.New(c.Seed)}
	return r.fit(ctx)
}

// A run is a fit under way.
type run struct {
	plan
	data  Data // that networks are trained with
	whole Data // with the inputs that these lack
	dir   string
	key   rng.Key

	warps   []*dist.Warp // of the targets; nil: none
	narrows []float64    // what variances of the targets shrink by from held-out rows to members; nil: nothing
	ahead   int          // further trainings of the best candidate that are foreseen
	kernels kernelMemo

	mu    sync.Mutex
	tell  func(Progress)
	state Progress
}

// fit holds rows out, decides on the targets, chooses candidates, trains members and joins them.
func (r *run) fit(ctx context.Context) (*Fitted, error) {
	folds := r.hold()
	if folds == nil {
		return nil, errors.New("too few rows with a weight above 0, or too few groups, to hold some out")
	}
	rep := Report{Config: r.Config, Rows: r.data.X.Rows, Held: heldRows(folds), Members: []Member{}}
	r.foresee(len(folds))
	if err := r.decideTargets(ctx, folds); err != nil {
		return nil, err
	}
	picks, err := r.choose(ctx, folds, &rep)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return r.salvage(folds, rep, nil, nil), ctx.Err()
	}
	members, err := r.train(ctx, folds, rep.Trials, picks)
	if err != nil {
		return nil, err
	}
	good := trained(members, picks)
	if len(good) == 0 {
		if ctx.Err() != nil {
			return r.salvage(folds, rep, members, picks), ctx.Err()
		}
		return nil, fmt.Errorf("training failed for every ensemble member; the first error: %w", members[0].err)
	}
	rep.Partial = ctx.Err() != nil
	f, err := r.join(folds, rep, good)
	if err == nil && !rep.Partial {
		f.made = &making{plan: r.plan, trials: rep.Trials, state: r.state}
		for _, m := range good {
			f.made.picks = append(f.made.picks, m.candidate)
		}
	}
	return f, errors.Join(err, ctx.Err())
}

// foresee counts the further trainings that the best candidate will have, for the progress.
func (r *run) foresee(folds int) {
	if r.apart {
		return
	}
	r.ahead = folds * r.moreSeeds()
	if r.learns() {
		r.ahead += folds
	}
}

// trained are the members that were trained to their end, with their candidates.
func trained(members []*result, picks []int) (good []find) {
	for i, m := range members {
		if m.err == nil {
			good = append(good, find{m, picks[i]})
		}
	}
	return good
}

// join makes a model of trained members: held-out rows show the shape of residuals and the score.
func (r *run) join(folds []fold, rep Report, members []find) (*Fitted, error) {
	var nets []*model.Model
	var picks []int
	for _, m := range members {
		nets = append(nets, m.net)
		picks = append(picks, m.candidate)
		rep.Members = append(rep.Members, Member{rep.Trials[m.candidate].Candidate, m.log.Curve, m.step})
	}
	by := predictions(rep.Trials, picks)
	if r.apart { // members did not see the rows held out either
		by = func(fold) (all []heldOutPredictions) {
			for _, m := range members {
				all = append(all, m.log.Held[len(m.log.Held)-1])
			}
			return all
		}
	}
	by, times := r.widened(folds, by)
	shapes := r.shapes(folds, by)
	for t := range shapes {
		shapes[t].Apart = times
	}
	rep.Score, rep.SE = mixtureScore(folds, by, shapes)
	for t, c := range r.narrows {
		shapes[t] = shapes[t].scaled(c)
	}
	return r.finish(nets, rep, shapes)
}

// decideTargets decides whether targets are transformed, or counts.
func (r *run) decideTargets(ctx context.Context, folds []fold) error {
	plain, data := slices.Clone(folds), r.data
	if slices.Contains(countNoises, r.Noise) {
		r.useCounts(folds, plain, data, r.Noise)
		return nil
	}
	if err := r.decideWarps(ctx, folds); err != nil || ctx.Err() != nil {
		return err
	}
	return r.decideCounts(ctx, folds, plain, data)
}

// train trains the picked candidates, each from its seed, up to its stop.
func (r *run) train(ctx context.Context, folds []fold, trials []Trial, picks []int) ([]*result, error) {
	rows, held := r.data, Data{}
	if r.apart {
		rows, held = folds[0].train, folds[0].held
	}
	var jobs []*job
	for i, p := range picks {
		j := r.job(trials[p].Candidate, rows, held, fmt.Sprintf("member-%d", i), r.key.Sub(uint64(i), 3), r.schedule(trials[p]), trials[p].Stop)
		for _, q := range picks {
			if trials[q].alike(j.Candidate) {
				j.beside++
			}
		}
		jobs = append(jobs, j)
	}
	stage, more := "training", 0
	if folds == nil {
		stage = "training again"
	} else if r.Again {
		more = 1
	}
	r.begin(stage, jobs, more)
	return r.runAll(ctx, jobs)
}

// schedule is the schedule of a member. A candidate that got worse within the first half of a trial,
// which is shorter than the training of a member, would get worse for longer: it is trained as the
// trial was. So is one that embeds levels: in time it learns those of few rows by heart, and no held-out
// row would say so.
func (r *run) schedule(t Trial) int {
	if t.Stop <= stops/2 || !t.NoLevels && r.data.embedding(false) != nil {
		return r.trial
	}
	return r.Steps
}

func (r *run) job(c Candidate, rows, held Data, name string, key rng.Key, schedule, until int) *job {
	schedule = c.steps(schedule)
	j := &job{
		Candidate: c, name: name, train: rows, held: held, seed: rng.Uint64(key, 0),
		schedule: schedule, steps: stop(until, schedule), batch: min(r.Batch, rows.X.Rows), rate: r.Rate, engine: r.Engine, kernels: &r.kernels,
	}
	if r.warps != nil && !c.counts() {
		name = warpedName + name
	}
	if c.counts() {
		name = c.Noise + "-" + name
	}
	if r.dir != "" {
		j.file = filepath.Join(r.dir, name)
	}
	return j
}

// runAll runs jobs, some at a time; results are in the jobs' order.
func (r *run) runAll(ctx context.Context, jobs []*job) ([]*result, error) {
	n, err := r.beside(jobs)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pool := compute.NewPool(n)
	defer pool.Close()
	results, errs := make([]*result, len(jobs)), make([]error, len(jobs))
	pool.Run(len(jobs), func(_, i int) {
		j := jobs[i]
		r.advance(0, 0, 1, nil)
		work := j.work(j.train.X.Width, j.batch)
		begun := false
		x, err := j.run(ctx, func(steps int, so *result) {
			done, found := work*float64(steps), 0.0
			if !begun { // with what a checkpoint holds
				begun, found = true, done
			}
			r.advance(done, found, 0, j.training(so))
		})
		if x.err != nil && ctx.Err() == nil {
			r.advance(0, 0, 0, j.training(&x))
		}
		results[i], errs[i] = &x, err
		if err != nil {
			cancel()
		}
	})
	for _, err := range errs {
		if err != nil { // the others were stopped by it, or failed alike
			return results, err
		}
	}
	return results, nil
}

// begin opens a stage that is to be followed by more like it. What is not decided
// yet is guessed, as if the costliest network would be trained: the time left should
// rather fall than rise.
func (r *run) begin(stage string, jobs []*job, more int) {
	var work, most float64
	for _, j := range jobs {
		w := float64(j.steps) * j.work(j.train.X.Width, j.batch)
		work, most = work+w, max(most, w)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Stage = stage
	r.state.Running = 0
	r.state.Jobs = len(jobs)
	r.state.Total = r.state.Done + work*float64(1+more)
	if stage == "choosing" {
		members := float64(r.Ensemble*r.Steps) / float64(r.plan.trial)
		if r.Again {
			members *= 2
		}
		r.state.Total += most * (float64(r.ahead) + members)
	}
}

// advance counts work, what a checkpoint holds of it, and trainings that start.
func (r *run) advance(work, found float64, started int, t *Training) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Done += work
	r.state.Found += found
	r.state.Running += started
	r.state.Training = t
	if r.tell != nil {
		r.tell(r.state)
	}
}
