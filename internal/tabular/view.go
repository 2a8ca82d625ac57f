package tabular

import (
	"context"
	"fmt"
	"math"
)

// A view is a way to see the targets: as they are, transformed, or as counts.
type view struct {
	folds []fold
	first Candidate
	name  string // begins the names of its files
}

// some are the folds by which views are compared: half of them.
func (v view) some() []fold { return v.folds[:(len(v.folds)+1)/2] }

// tryViews trains the first candidate of every view, unless it is trained. What was trained
// is a trial of the candidate.
func (r *run) tryViews(ctx context.Context, views ...view) error {
	var jobs []*job
	var to []*[]*result
	for i := range views[0].some() {
		for _, v := range views {
			if f := v.folds[i]; f.by[0] == nil {
				jobs = append(jobs, r.job(v.first, f.train, f.held, fmt.Sprintf("%strial-%d-0", v.name, i), r.key.Sub(uint64(i), 2), r.trial, stops))
				to = append(to, &f.by[0])
			}
		}
	}
	r.begin("choosing", jobs, len(r.candidate)*len(views[0].folds)/len(jobs))
	results, err := r.runAll(ctx, jobs)
	for i, x := range results {
		if x != nil {
			*to[i] = []*result{x}
		}
	}
	return err
}

// score is the score of the first candidate.
func (v view) score() float64 {
	if t := judgeTrial(v.some(), 0, v.first); t.Failed == "" && t.Stop > 0 {
		return t.Score
	}
	return math.Inf(-1)
}
