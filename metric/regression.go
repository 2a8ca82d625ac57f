package metric

import (
	"math"

	"utvi/dist"
)

// levels are those of the intervals that Regression reports.
var levels = [...]float64{0.5, 0.9, 0.95}

const pitBins = 1000

// Regression scores predictive distributions of numbers. The zero value is empty.
type Regression struct {
	ll, square, abs, crps, variance, sd mean
	first                               float64 // target of the first row
	sum, squares                        float64 // Σ w d, Σ w d², d = y − first
	cover                               [len(levels)]Coverage
	pit                                 [pitBins]float64 // Σ w
}

// Add adds a row: its target, the predicted distribution and its weight. A row of
// weight 0 does not count.
func (r *Regression) Add(y float64, d dist.Dist, weight float64) { r.AddIn(0, y, d, weight) }

// AddIn is Add for a row in a group.
func (r *Regression) AddIn(g Group, y float64, d dist.Dist, weight float64) {
	checkWeight(weight)
	if weight == 0 {
		return
	}
	e, sd := y-d.Mean(), d.SD()
	if r.ll.n == 0 {
		r.first = y
	}
	r.sum += weight * (y - r.first)
	r.squares += weight * (y - r.first) * (y - r.first)
	r.ll.addIn(g, d.LogPDF(y), weight)
	r.square.addIn(g, e*e, weight)
	r.abs.addIn(g, math.Abs(e), weight)
	r.crps.addIn(g, d.CRPS(y), weight)
	r.variance.addIn(g, sd*sd, weight)
	r.sd.addIn(g, sd, weight)
	if b, whole := d.(interface{ Below(y float64) float64 }); whole {
		r.addWhole(g, y, b.Below(y), d, weight)
		return
	}
	pit := d.CDF(y)
	for i, level := range levels {
		lo, hi := dist.Interval(d, level)
		// The level of y decides, not y itself: both are rounded.
		r.cover[i].add(g, math.Abs(pit-0.5) <= level/2, hi-lo, weight)
	}
	r.pit[min(max(int(pit*pitBins), 0), pitBins-1)] += weight
}

// addWhole adds the level and the intervals of a count, see dist.Whole. A count has not one
// level but a range of them, from P(X < y) to P(X ≤ y), over which its weight is spread
// (Czado et al. 2009).
func (r *Regression) addWhole(g Group, y, below float64, d dist.Dist, weight float64) {
	y = math.Round(y)
	for i, level := range levels {
		lo, hi := dist.Interval(d, level)
		r.cover[i].AddIn(g, y, lo, hi, weight)
	}
	from, to := pitBins*below, pitBins*max(d.CDF(y), below)
	if to-from < 1e-9 {
		r.pit[min(max(int(from), 0), pitBins-1)] += weight
		return
	}
	for i := int(from); i < pitBins && float64(i) < to; i++ {
		part := min(float64(i+1), to) - max(float64(i), from)
		r.pit[i] += weight * part / (to - from)
	}
}

// Merge adds the rows of o.
func (r *Regression) Merge(o *Regression) {
	if o.ll.n == 0 {
		return
	}
	if r.ll.n == 0 {
		r.first = o.first
	}
	shift := o.first - r.first
	r.sum += o.sum + shift*o.ll.w
	r.squares += o.squares + 2*shift*o.sum + shift*shift*o.ll.w
	for _, pair := range [...][2]*mean{{&r.ll, &o.ll}, {&r.square, &o.square}, {&r.abs, &o.abs},
		{&r.crps, &o.crps}, {&r.variance, &o.variance}, {&r.sd, &o.sd}} {
		pair[0].merge(pair[1])
	}
	for i := range r.cover {
		r.cover[i].Merge(&o.cover[i])
	}
	for i, w := range o.pit {
		r.pit[i] += w
	}
}

// RegressionScores are the scores of predicted numbers.
type RegressionScores struct {
	Rows int   `json:"rows"`
	LL   Score `json:"ll"`   // mean log-density of the target, in nats
	RMSE Score `json:"rmse"` // of the predicted mean
	MAE  Score `json:"mae"`  // of the predicted mean
	CRPS Score `json:"crps"`

	// R2 is the share of the target's variance that the predicted means explain: 1 at
	// best, 0 or less if their mean would be as good. Nil if the targets do not differ.
	R2 *float64 `json:"r2,omitempty"`

	// Intervals are the central 50, 90 and 95 % intervals.
	Intervals []CoverageScore `json:"intervals"`

	// CalibrationError is the mean, over the levels p = 0.001 … 0.999, of |share of
	// rows with CDF(y) ≤ p − p|: 0 at best, ½ at worst. A perfect predictor reaches
	// about CalibrationChance = 0.313/√n by chance: the mean of √(2p(1−p)/πn) over p.
	CalibrationError  float64 `json:"calibration_error"`
	CalibrationChance float64 `json:"calibration_chance"`

	Sharpness float64 `json:"sharpness"` // root of the mean predicted variance
	MeanSD    float64 `json:"mean_sd"`   // mean predicted standard deviation
}

// Scores returns the scores of the rows so far; all scores are 0 if there are no rows.
func (r *Regression) Scores() RegressionScores {
	s := RegressionScores{
		Rows: r.ll.n, LL: r.ll.score(), RMSE: r.square.root(), MAE: r.abs.score(), CRPS: r.crps.score(),
		Sharpness: r.variance.root().Value, MeanSD: r.sd.value(),
	}
	for i, level := range levels {
		s.Intervals = append(s.Intervals, r.cover[i].Score(level))
	}
	if r.ll.n == 0 {
		return s
	}
	if v := (r.squares - r.sum*r.sum/r.ll.w) / r.ll.w; v > 0 {
		r2 := 1 - r.square.value()/v
		s.R2 = &r2
	}
	var below float64
	for i, w := range r.pit[:pitBins-1] {
		below += w / r.ll.w
		s.CalibrationError += math.Abs(below-float64(i+1)/pitBins) / (pitBins - 1)
	}
	s.CalibrationChance = math.Sqrt(math.Pi/32) / math.Sqrt(r.ll.rows())
	return s
}

// PIT returns the histogram of the levels CDF(y), the probability integral transform:
// the share of rows in each of equally wide bins between 0 and 1. For calibrated
// predictions it is flat. Its running sum is the calibration curve. The number of bins
// must divide 1,000.
func (r *Regression) PIT(bins int) []float64 {
	if bins < 1 || pitBins%bins != 0 {
		panic("metric: the number of bins must divide 1000")
	}
	h := make([]float64, bins)
	for i, w := range r.pit {
		if w > 0 {
			h[i*bins/pitBins] += w / r.ll.w
		}
	}
	return h
}
