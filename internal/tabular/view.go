package tabular

import (
	"context"
	"fmt"
	"math"
)

// A view is a way to see the targets: as they are, transformed, or as counts. Views are compared by the
// best of some candidates, the first of all and those that need no training.
type view struct {
	folds []fold
	tried []Candidate // in their places among the candidates; of a Kernel, or the first
	name  string      // begins the names of its files
}

// some are the folds by which views are compared: half of them, but all of tiny tables.
func (v view) some() []fold {
	if f := v.folds[0]; f.rows() < tinyRows {
		return v.folds
	}
	return v.folds[:(len(v.folds)+1)/2]
}

// tries reports whether the views are compared by candidate c.
func (v view) tries(c int) bool { return c == 0 || v.tried[c].Kernel != "" }

// tryViews trains the candidates of every view, unless they are trained. What was trained
// is a trial of the candidate.
func (r *run) tryViews(ctx context.Context, views ...view) error {
	var jobs []*job
	var to []*[]*result
	for i := range views[0].some() {
		for _, v := range views {
			f := v.folds[i]
			for c, x := range v.tried {
				if v.tries(c) && f.by[c] == nil {
					jobs = append(jobs, r.job(x, f.train, f.held, fmt.Sprintf("%strial-%d-%d", v.name, i, c), r.key.Sub(uint64(i), 2), r.trial, stops))
					to = append(to, &f.by[c])
				}
			}
		}
	}
	r.begin("choosing", jobs, len(r.candidate)*len(views[0].folds)/max(1, len(jobs)))
	results, err := r.runAll(ctx, jobs)
	for i, x := range results {
		if x != nil {
			*to[i] = []*result{x}
		}
	}
	return err
}

// score is the score of the best candidate that was tried.
func (v view) score() float64 {
	best := math.Inf(-1)
	for c, x := range v.tried {
		if !v.tries(c) {
			continue
		}
		if t := judgeTrial(v.some(), c, x); t.Failed == "" && t.Stop > 0 {
			best = max(best, t.Score)
		}
	}
	return best
}
