package uci

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"utvi/dist"
	"utvi/internal/compute"
	"utvi/internal/tabular"
)

// A Result holds the scores of a model on the test rows of a split, in the target's
// unit.
type Result struct {
	Set     string  `json:"set"`
	Split   int     `json:"split"`
	LL      float64 `json:"ll"`      // mean ln p, nats; of a model of counts, of the probability of the count
	RMSE    float64 `json:"rmse"`    // of the predicted mean
	Covered int     `json:"covered"` // test rows within the central 90 % interval
	Rows    int     `json:"rows"`    // of the test
	Seconds float64 `json:"seconds"` // to fit and to predict
	Chosen  string  `json:"chosen"`  // the first member

	Fifths [5]Fifth `json:"fifths"` // by the predicted standard deviation, the smallest first
}

// A Fifth is a fifth of the test rows.
type Fifth struct {
	Covered int `json:"covered"`
	Rows    int `json:"rows"`
}

// Protocol is the configuration of the literature: one network with one hidden
// layer of the set's number of ReLU units.
func (s *Set) Protocol(c tabular.Config) tabular.Config {
	c.Ensemble = 1
	c.Depth = 1
	c.Width = s.Hidden
	c.Activation = "relu"
	c.Bins = -1
	if c.Width == 0 {
		c.Width = 50
	}
	return c
}

// RunSplit fits split k of a set in a folder and scores the model on its test rows.
// All but Seconds is a function of the data and the configuration.
func RunSplit(ctx context.Context, dir, set string, k int, c tabular.Config, protocol, gaps bool) (Result, error) {
	s, err := Open(dir, set)
	if err == nil && gaps {
		err = s.CutGaps()
	}
	if err != nil {
		return Result{}, err
	}
	if protocol {
		c = s.Protocol(c)
	}
	return s.Run(ctx, k, c)
}

// Run is RunSplit of a set that is read.
func (s *Set) Run(ctx context.Context, k int, c tabular.Config) (Result, error) {
	r := Result{Set: s.Name, Split: k}
	start := time.Now()
	sp, err := s.split(k)
	if err != nil {
		return r, err
	}
	f, err := tabular.Fit(ctx, c, sp.train, "", nil)
	if err != nil {
		return r, err
	}
	r.score(f, sp)
	r.Chosen = f.Report.Members[0].Candidate.String()
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}

// score compares predictions with the test rows.
func (r *Result) score(f *tabular.Fitted, sp *split) {
	const chunk = 960
	p := f.NewPredictor(compute.NewPool(1), chunk)
	x, y := sp.test.X, sp.test.Y
	var m dist.Mixture
	var d dist.Dist = &m
	if w := f.Warp(0); w != nil {
		d = dist.Warped{Mixture: &m, Warp: w}
	}
	counts := dist.Counts{}
	if f.Counts() {
		d = dist.Whole{Dist: &counts}
	}
	var squares float64
	var seen []scored
	for lo := 0; lo < x.Rows; lo += chunk {
		v := p.Predict(x.Slice(lo, min(x.Rows, lo+chunk)))
		for i := range v.Rows {
			at, scale := float64(y[lo+i]), sp.scale
			if f.Counts() { // probabilities, in the target's unit
				v.Counts(i, 0, &counts)
				at, scale = math.Round((at-sp.test.Zero[0])*scale), 1
			} else {
				v.Dist(i, 0, &m)
			}
			r.LL += d.LogPDF(at) - math.Log(scale)
			seen = append(seen, scored{d.SD(), within(d, at)})
			e := (at - d.Mean()) * scale
			squares += e * e
		}
	}
	r.Rows = x.Rows
	r.LL /= float64(r.Rows)
	r.RMSE = math.Sqrt(squares / float64(r.Rows))
	r.cover(seen)
}

// within reports whether a target lies in the central 90 % interval.
func within(d dist.Dist, y float64) bool {
	if w, ok := d.(dist.Whole); ok {
		lo, hi := w.Interval(0.9)
		return y >= lo && y <= hi
	}
	u := d.CDF(y)
	return u > 0.05 && u < 0.95
}

// scored is a test row: its predicted standard deviation, and whether its target is within
// the interval.
type scored struct {
	sd     float64
	within bool
}

// cover counts the rows within their intervals, also by fifths of the predicted standard
// deviation: an interval should hold where the model is sure and where it is not.
func (r *Result) cover(rows []scored) {
	slices.SortStableFunc(rows, func(a, b scored) int { return cmp.Compare(a.sd, b.sd) })
	for i, x := range rows {
		f := &r.Fifths[i*len(r.Fifths)/len(rows)]
		f.Rows++
		if x.within {
			f.Covered++
			r.Covered++
		}
	}
}
