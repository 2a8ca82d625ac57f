package tabular

import (
	"context"
	"fmt"
	"math"
	"slices"

	"utvi/dist"
	"utvi/internal/counts"
	"utvi/likelihood"
	"utvi/model"
)

// The models of the noise of counts.
const (
	Poisson          = "poisson"           // the variance is the mean
	NegativeBinomial = "negative-binomial" // and a learned multiple of its square
)

var countNoises = []string{Poisson, NegativeBinomial}

const (
	countGain = 0.02 // nats per row of held-out rows that a likelihood of counts must gain, to be used
	// Means of counts are predicted up to this multiple of the largest training count.
	countReach = 10
)

// counts reports whether the candidate's network predicts counts.
func (c Candidate) counts() bool { return slices.Contains(countNoises, c.Noise) }

// checkCounts reports targets that are not the counts they should be.
func (d Data) checkCounts() error {
	if d.Step == nil || d.Classes > 0 {
		return nil
	}
	k := d.Outputs()
	if len(d.Step) != k || len(d.Zero) != k {
		return fmt.Errorf("there are %d targets, %d encoded zeros and %d steps of counts; give one of each for each target", k, len(d.Zero), len(d.Step))
	}
	for i, y := range d.Y {
		const round = 1e-2 // encoded targets are float32
		if n := d.count(i%k, float64(y)); !(d.Step[i%k] > 0) || math.Abs(n-math.Round(n)) > round || !(n > -round) {
			return fmt.Errorf("target %d of row %d is the count %v; it must be a whole number from 0", i%k, i/k, n)
		}
	}
	return nil
}

// count is the count that target t has.
func (d Data) count(t int, y float64) float64 { return (y - d.Zero[t]) / d.Step[t] }

// asCounts returns the data to be scored as counts.
func (d Data) asCounts() Data {
	d.counted = true
	return d
}

// likelihoodOf scores the candidate's network on these rows.
func (c Candidate) likelihoodOf(d Data) likelihood.Likelihood {
	if !c.counts() {
		return c.likelihood(d.Classes > 0)
	}
	k := d.Outputs()
	s := &likelihood.CountScale{Zero: d.Zero, Step: d.Step, Base: make([]float64, k)}
	for i, y := range d.Y {
		s.Base[i%k] += d.count(i%k, float64(y)) / float64(d.X.Rows)
	}
	for t, mean := range s.Base {
		s.Base[t] = math.Log(max(mean, 1e-6))
	}
	return likelihood.Count{Dispersed: c.Noise == NegativeBinomial, Scale: s}
}

// boundCounts bounds the means of counts that a network predicts.
func boundCounts(m *model.Model, d Data) {
	l, ok := likelihood.Inner(m.Likelihood).(likelihood.Count)
	if !ok {
		return
	}
	k := d.Outputs()
	s := *l.Scale
	s.Most = make([]float64, k)
	for i, y := range d.Y {
		s.Most[i%k] = max(s.Most[i%k], countReach*math.Round(d.count(i%k, float64(y))), countReach)
	}
	l.Scale = &s
	setLikelihood(m, l)
}

// countCandidates are the candidates with a likelihood of counts.
func countCandidates(all []Candidate, noise string) (set []Candidate) {
	for _, c := range all {
		c.Noise, c.Common = noise, 0
		if c.Kernel == "" && !slices.Contains(set, c) {
			set = append(set, c)
		}
	}
	return set
}

// decideCounts trains the first candidate with the likelihoods of counts, and takes the
// best one for all candidates if held-out rows are more probable. Both sides are the
// probability of the count: a density is integrated over ± ½. plain are the folds before
// any transform of the targets.
func (r *run) decideCounts(ctx context.Context, folds, plain []fold, data Data) error {
	if data.Step == nil || r.classes > 0 || r.Noise != "" {
		return nil
	}
	views := []view{{folds, r.judges(), ""}}
	for _, noise := range countNoises {
		views = append(views, view{countFolds(plain, len(r.candidate)), countCandidates(r.candidate[:1], noise), ""})
	}
	if err := r.tryViews(ctx, views...); err != nil || ctx.Err() != nil {
		return err
	}
	rounded := views[0]
	rounded.folds = slices.Clone(folds)
	for i, f := range rounded.some() {
		rounded.folds[i].held = f.held.rounded(plain[i].held, r.warps)
	}
	best, at := rounded.score()+countGain, -1
	for i, v := range views[1:] {
		if s := v.score(); s > best {
			best, at = s, i
		}
	}
	if at >= 0 {
		r.useCounts(folds, plain, data, countNoises[at])
		for i, f := range views[1+at].some() {
			folds[i].by[0] = f.by[0]
		}
	}
	return nil
}

// countFolds are folds whose targets are counts.
func countFolds(plain []fold, candidates int) (to []fold) {
	for _, f := range plain {
		to = append(to, fold{train: f.train.asCounts(), held: f.held.asCounts(), by: make([][]*result, candidates)})
	}
	return to
}

// useCounts makes all candidates predict counts.
func (r *run) useCounts(folds, plain []fold, data Data, noise string) {
	r.warps, r.data = nil, data.asCounts()
	r.candidate = countCandidates(r.candidate, noise)
	copy(folds, countFolds(plain, len(r.candidate)))
}

// rounded returns held-out rows that are scored by the probability of the count, the
// density integrated over ± ½. plain are the rows before any transform.
func (d Data) rounded(plain Data, warps []*dist.Warp) Data {
	k := d.Outputs()
	d.from, d.to = make([]float64, len(d.Y)), make([]float64, len(d.Y))
	for i, y := range plain.Y {
		half := d.Step[i%k] / 2
		d.from[i], d.to[i] = float64(y)-half, float64(y)+half
		if warps != nil && warps[i%k] != nil {
			d.from[i], _ = warps[i%k].Forward(d.from[i])
			d.to[i], _ = warps[i%k].Forward(d.to[i])
		}
	}
	return d
}

// Counts reports whether the model predicts counts: the predictions of a row are
// dist.Counts then.
func (f *Fitted) Counts() bool {
	_, ok := likelihood.Inner(f.Members.Members[0].Likelihood).(likelihood.Count)
	return ok
}

// Counts fills c with the distribution of a row's target, a count.
func (v *Predictions) Counts(row, target int, c *dist.Counts) {
	c.Reset()
	s := v.residuals[target]
	zero := v.scale.Zero[target]
	step := v.scale.Step[target]
	for k := range v.Members() {
		mean, variance := v.Member(k, row*v.Width+target)
		if mean-mean != 0 || variance-variance != 0 { // nothing is known then
			mean, variance = 0, 0
		}
		s.addCounts(c, (float64(mean)-zero)/step, float64(variance)/(step*step))
	}
}

func (v *Predictions) countDoubt(row int) (most float64) {
	for t, step := range v.scale.Step {
		i := row*v.Width + t
		n := max((float64(v.Mean[i])-v.scale.Zero[t])/step, counts.LeastMean)
		most = max(most, math.Sqrt(float64(v.Weights[i]))/(step*n))
	}
	return most
}

// addCounts adds a prediction with the shape of its residuals.
func (s ResidualMixture) addCounts(c *dist.Counts, mean, variance float64) {
	for j, w := range s.W {
		c.Add(w, max(mean, 0), s.R[j]*variance)
	}
}
