package tabular

import (
	"context"
	"fmt"
)

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
	if at := best(rep.Trials); at >= 0 && ctx.Err() == nil && !r.apart {
		if err := r.repeat(ctx, folds, &rep.Trials[at], at); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	picks := compose(folds, rep.Trials, r.Ensemble, r.most)
	if picks == nil {
		return nil, fmt.Errorf("training failed for every candidate network; the first error: %s", rep.Trials[0].Failed)
	}
	return picks, nil
}

func heldRows(folds []fold) (n int) {
	for _, f := range folds {
		n += f.held.X.Rows
	}
	return n
}

// hold sets rows apart, where something that counts is then on either side.
func (r *run) hold() []fold {
	of := r.data.folds(r.folds, r.key.Sub(0, 1))
	var folds []fold
	for i := range r.used {
		in, out := split(of, i)
		f := fold{train: r.data.pick(in), held: r.data.pick(out), by: make([][]*result, len(r.candidate))}
		if f.train.total() > 0 && f.held.total() > 0 {
			folds = append(folds, f)
		}
	}
	return folds
}

// try trains every candidate on every fold, unless it is far behind. What is there already is
// kept.
func (r *run) try(ctx context.Context, folds []fold) error {
	for f := range folds {
		var jobs []*job
		var of []int
		until := r.until(folds[:f])
		for c, x := range r.candidate {
			if folds[f].by[c] == nil && until[c] > 0 {
				of = append(of, c)
				jobs = append(jobs, r.job(x, folds[f].train, folds[f].held, fmt.Sprintf("trial-%d-%d", f, c), r.key.Sub(uint64(f), 2), r.trial, until[c]))
			}
		}
		r.begin("choosing", jobs, len(folds)-1-f)
		results, err := r.runAll(ctx, jobs)
		for i, x := range results {
			folds[f].by[of[i]] = []*result{x}
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// A candidate that is so many nats a target behind the best one, and so many standard errors,
// would add nothing to a mixture.
const farBehind, surelyBehind = 0.5, 4

// beyond is how many stops a trial goes beyond the one that earlier folds would choose.
const beyond = 2

// until is the stop to which candidates are trained on the fold after these: all stops on the
// first two folds, then as many as can matter, and 0 for candidates that are far behind.
func (r *run) until(folds []fold) []int {
	until := make([]int, len(r.candidate))
	if len(folds) < 2 {
		for i := range until {
			until[i] = stops
		}
		return until
	}
	trials := make([]Trial, len(r.candidate))
	for i, c := range r.candidate {
		trials[i] = judgeTrial(folds, i, c)
	}
	at := best(trials)
	for i, t := range trials {
		if t.Failed != "" || t.Stop == 0 {
			continue
		}
		by, se := summary(folds, func(k int) float64 { return trials[at].seeds[0].logp[k] - t.seeds[0].logp[k] })
		if by <= max(farBehind*float64(r.data.Outputs()), surelyBehind*se) {
			until[i] = min(stops, t.Stop+beyond)
		}
	}
	return until
}

// repeat trains the best candidate from further seeds, so that held-out rows show
// how a mixture of its networks does: better, and wider, than one of them. It also finds
// out how errors shrink with more rows.
func (r *run) repeat(ctx context.Context, folds []fold, t *Trial, c int) error {
	var jobs []*job
	more := r.moreSeeds()
	for f := range folds {
		for s := range more {
			jobs = append(jobs, r.job(t.Candidate, folds[f].train, folds[f].held, fmt.Sprintf("trial-%d-%d-%d", f, c, s+1), r.key.Sub(uint64(f+(s+1)*len(folds)), 2), r.trial, t.Stop))
		}
	}
	again := len(jobs)
	for f := 0; f < len(folds) && r.learns(); f++ {
		jobs = append(jobs, r.halfJob(folds[f], f, t, c))
	}
	if len(jobs) == 0 {
		return nil
	}
	r.ahead = 0
	r.begin("choosing", jobs, 0)
	results, err := r.runAll(ctx, jobs)
	if err != nil || ctx.Err() != nil {
		return err
	}
	for i, x := range results[:again] {
		folds[i/more].by[c] = append(folds[i/more].by[c], x)
	}
	t.again(folds, c)
	for target := 0; r.learns() && target < r.data.Outputs(); target++ {
		r.narrows = append(r.narrows, r.narrow(folds, results[again:], t, c, target))
	}
	return nil
}

// seeds is how many networks of the best candidate are held against held-out rows:
// three show most of what a mixture gains.
const seeds = 3

func (r *run) moreSeeds() int { return min(seeds, r.Ensemble) - 1 }
