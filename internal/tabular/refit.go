package tabular

import (
	"context"
	"errors"

	"utvi/model"
	"utvi/rng"
)

// A making is how a fit made its members, so that they can be made again.
type making struct {
	plan
	trials []Trial
	picks  []int    // of the trials, one for each member
	state  Progress // at the end
}

// Refit trains the members again, each for as many steps as before, with the rows of d: those of the
// fit and others, encoded alike. What held-out rows have decided stays: the networks, how targets are
// transformed, and the shape of residuals. With a folder it keeps checkpoints there, as Fit does.
//
// Only what Fit returned at the end of all trainings can be refitted. If ctx ends, the error is ctx's.
func (f *Fitted) Refit(ctx context.Context, d Data, dir string, tell func(Progress)) (*Fitted, error) {
	if f.made == nil {
		return nil, errors.New("this model was read from a file, or its training ended early; only a model that was just trained to the end can be trained again with more rows")
	}
	if err := d.Check(); err != nil {
		return nil, err
	}
	if err := mark(dir, f.made.Config, d); err != nil {
		return nil, err
	}
	r := &run{plan: f.made.plan, data: d.withoutGaps(), whole: d, dir: dir, tell: tell, key: rng.New(f.made.Seed), warps: f.Warps, state: f.made.state}
	r.apart = false // no row is held out any more
	if f.Warps != nil {
		r.data = r.data.warped(f.Warps)
	}
	results, err := r.train(ctx, nil, f.made.trials, f.made.picks)
	if err != nil {
		return nil, err
	}
	rep := f.Report
	rep.Rows = d.X.Rows
	rep.Members = make([]Member, 0, len(results))
	var nets []*model.Model
	for i, x := range results {
		if x.err != nil {
			return nil, x.err
		}
		nets = append(nets, x.net)
		rep.Members = append(rep.Members, Member{f.made.trials[f.made.picks[i]].Candidate, x.log.Curve, x.step})
	}
	return r.finish(nets, rep, f.Residuals)
}
