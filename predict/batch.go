package predict

import (
	"math"

	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/counts"
	"utvi/internal/schema"
	"utvi/table"
)

// A Batch holds the predictions of some rows, to be read row by row without copies. It
// is valid until work returns (see Stream), and belongs to one goroutine.
type Batch struct {
	p       *Predictor
	s       *session
	chunk   *table.Chunk
	encoder *schema.Encoder
	x       gauss.Batch[float32]
	unread  []bool // rows that were set aside; nil: none
	row     int    // whose numbers the session holds, −1: no row
	judged  int    // the row that finite is of, −1: no row
	finite  bool
}

// Number is the prediction of one number, in its unit.
type Number struct {
	Mean, Std float64
	Lo, Hi    float64 // interval of the level of Options; NaN without intervals
	Variance  Parts
}

// Parts say where a predicted variance comes from.
type Parts struct {
	Weights float64 `json:"weights"` // what the model does not know
	Inputs  float64 `json:"inputs"`  // what the uncertainty of the inputs adds
	Noise   float64 `json:"noise"`   // scatter that the inputs do not explain
}

// Use makes the following calls return what another predictor of the same model would
// return: callers with other options can share the work of the networks.
func (b *Batch) Use(p *Predictor) {
	if p.m != b.s.m {
		panic("predict: the predictor belongs to another model")
	}
	b.p, b.row = p, -1
}

// Len is the number of rows.
func (b *Batch) Len() int { return b.x.Rows }

// Chunk is the rows as they were read, nil if they were numbers.
func (b *Batch) Chunk() *table.Chunk { return b.chunk }

// Encoder encoded the rows; nil if they were numbers.
func (b *Batch) Encoder() *schema.Encoder { return b.encoder }

// Inputs are the rows as the networks see them.
func (b *Batch) Inputs() gauss.Batch[float32] { return b.x }

// NoiseInWeights reports whether the model has no part for the noise: if the data were
// noisy, the weights have learned the noise, and Parts.Weights contains both.
func (b *Batch) NoiseInWeights() bool { return b.s.out.NoiseInWeights }

// OOD says how unlike the training rows a row is: 99 of 100 of them are below
// 1. NaN for a network, which does not store statistics of its training rows.
func (b *Batch) OOD(row int) float64 {
	if b.s.strange == nil {
		return math.NaN()
	}
	if b.Unread(row) {
		return math.NaN()
	}
	if !b.Finite(row) {
		return math.Inf(1)
	}
	return float64(b.s.strange[row])
}

// Unread reports whether a row was set aside, because a cell cannot be read.
func (b *Batch) Unread(row int) bool { return b.unread != nil && b.unread[row] }

// Finite reports whether the prediction of a row is made of finite numbers. Inputs far
// beyond all training rows can overflow a network; the numbers are NaN then, and the
// prediction abstains. So it does where the row could not be read.
func (b *Batch) Finite(row int) bool {
	if b.Unread(row) {
		return false
	}
	if b.judged != row { // every target of the row asks
		b.judged = row
		b.finite = b.allFinite(row)
	}
	return b.finite
}

func (b *Batch) allFinite(row int) bool {
	out, k := b.s.out, b.s.out.Width
	for i, m := range out.Mean[row*k : (row+1)*k] {
		if m-m != 0 {
			return false
		}
		if v := out.Var[row*k+i]; b.s.m.classes == nil && (v-v != 0 || v < 0) {
			return false
		}
	}
	return true
}

// Numbers are the predictions of a row's targets. They are valid until the next call.
func (b *Batch) Numbers(row int) []Number {
	if b.row != row {
		for t := range b.s.numbers {
			b.s.numbers[t] = b.number(row, t)
		}
		b.row = row
	}
	return b.s.numbers
}

var none = math.NaN()

func (b *Batch) number(row, target int) (n Number) {
	s, level := b.s, b.p.o.level()
	if !b.Finite(row) {
		return Number{none, none, none, none, Parts{none, none, none}}
	}
	i, t := row*len(s.m.targets)+target, &s.m.targets[target]
	variance := float64(s.out.Var[i])
	n.Mean, n.Std = float64(s.out.Mean[i])*t.scale+t.shift, math.Sqrt(variance)*t.scale
	if s.m.warp(target) != nil || s.m.counts {
		d := b.Raw(row, target)
		n.Mean, n.Std = d.Mean(), d.SD()
	}
	switch c := s.m.calibration(target); {
	case c != nil:
		raw := b.Raw(row, target)
		n.Lo, n.Hi = none, none
		if level > 0 {
			n.Lo, n.Hi = c.Interval(raw, level, &s.scratch)
		}
		d := c.Apply(raw, &s.scratch)
		n.Mean, n.Std = d.Mean(), d.SD()
	case level < 0:
		n.Lo, n.Hi = none, none
	case b.p.half != nil && s.m.warp(target) == nil && !s.m.counts:
		n.Lo, n.Hi = n.Mean-b.p.half[target]*n.Std, n.Mean+b.p.half[target]*n.Std
	case s.m.counts: // below
	default:
		n.Lo, n.Hi = b.interval(row, target, level)
	}
	if s.m.counts && level > 0 {
		n.Lo, n.Hi = b.countInterval(row, target, level)
	}
	if d, ok := s.m.bounds(target); ok {
		n.Mean = d.Clip(n.Mean)
		n.Lo = d.Clip(n.Lo)
		n.Hi = d.Clip(n.Hi)
	}
	n.Variance = b.Parts(row, target, n.Std)
	return n
}

// countInterval is the interval of a count: conformal if one was fitted.
func (b *Batch) countInterval(row, target int, level float64) (lo, hi float64) {
	if c := b.s.m.calibration(target); c != nil && c.Conformal != nil {
		lo, hi = c.Conformal.Interval(b.Raw(row, target), level)
		return counts.Bound(lo), counts.Bound(hi)
	}
	return dist.Interval(b.Dist(row, target), level)
}

// Parts says where the variance std² of a prediction comes from. A calibration
// changes all parts in proportion.
func (b *Batch) Parts(row, target int, std float64) Parts {
	out, i := b.s.out, row*len(b.s.m.targets)+target
	if out.Var[i] == 0 {
		return Parts{}
	}
	k := std * std / float64(out.Var[i])
	return Parts{k * float64(out.Weights[i]), k * float64(out.Inputs[i]), k * float64(out.Noise[i])}
}

// Raw is the distribution of a target before any calibration. It is valid until the
// next call. Counts are spread, see dist.Counts.
func (b *Batch) Raw(row, target int) dist.Dist {
	if b.s.m.counts {
		b.s.dists.Counts(row, target, &b.s.counts)
		return &b.s.counts
	}
	b.fill(row, target, &b.s.mixture, &b.s.bent, &b.s.scaled)
	return &b.s.scaled
}

// KeepRaw is Raw as a copy that stays valid.
func (b *Batch) KeepRaw(row, target int) dist.Dist {
	if b.s.m.counts {
		c := new(dist.Counts)
		b.s.dists.Counts(row, target, c)
		return c
	}
	a := new(dist.Affine)
	b.fill(row, target, new(dist.Mixture), new(dist.Warped), a)
	return a
}

func (b *Batch) fill(row, target int, m *dist.Mixture, bent *dist.Warped, a *dist.Affine) {
	t := &b.s.m.targets[target]
	*a = dist.Affine{Dist: m, Scale: t.scale, Shift: t.shift}
	if w := b.s.m.warp(target); w != nil {
		*bent = dist.Warped{Mixture: m, Warp: w}
		a.Dist = bent
	}
	if b.s.net != nil {
		b.s.dists.Dist(row, target, m)
		return
	}
	const least = 1e-30 // of a variance: a Dist needs one
	m.Reset()
	for k := range b.s.out.Members() {
		mean, variance := b.s.out.Member(k, row*b.s.out.Width+target)
		m.Add(1, float64(mean), math.Sqrt(max(float64(variance), least)))
	}
}

// Dist is the distribution of a target, corrected where the model is calibrated. It
// is valid until the next call.
func (b *Batch) Dist(row, target int) dist.Dist {
	d := b.Raw(row, target)
	if c := b.s.m.calibration(target); c != nil {
		d = c.Apply(d, &b.s.scratch)
	}
	if b.s.m.counts {
		b.s.whole = dist.Whole{Dist: d}
		return &b.s.whole
	}
	if within, ok := b.s.m.bounds(target); ok {
		within.Dist = d
		b.s.within = within
		return &b.s.within
	}
	return d
}

// Classes are the probabilities of a row's classes, corrected where the model is
// calibrated. They are valid until the next call.
func (b *Batch) Classes(row int) dist.Categorical {
	class := b.RawClasses(row)
	if c := b.s.m.calibration(0); c != nil && c.Temperature != nil {
		c.Temperature.Apply(class, class)
	}
	return class
}

// RawClasses are Classes before any calibration.
func (b *Batch) RawClasses(row int) dist.Categorical {
	class := b.s.class
	k := len(class)
	var sum float64
	for j, p := range b.s.out.Mean[row*k : (row+1)*k] {
		class[j] = max(float64(p), 0)
		sum += class[j]
	}
	if !b.Finite(row) {
		sum = none
	}
	for j := range class { // softmax's mean is a float32's rounding off 1
		class[j] /= sum
	}
	return class
}

// ClassDoubt is the variance over the weights of the probabilities of a row's classes, summed over
// these, before any calibration, and its share of the most that it could be, Σ p(1−p). Where the
// share is large, the networks disagree; where it is small and the entropy large, they agree that the
// row is ambiguous.
func (b *Batch) ClassDoubt(row int) (variance, share float64) {
	if !b.Finite(row) {
		return math.NaN(), math.NaN()
	}
	class := b.RawClasses(row)
	var most float64
	for k, p := range class {
		variance += float64(b.s.out.Weights[row*len(class)+k])
		most += p * (1 - p)
	}
	const least = 1e-12 // all networks are certain of one class
	return variance, variance / max(most, least)
}

// Set appends the classes of a row's conformal set, of the level of Options; nothing
// without a calibration of sets, or if the prediction is not finite.
func (b *Batch) Set(dst []int, row int) []int {
	c := b.s.m.calibration(0)
	if c == nil || c.Sets == nil || b.p.o.level() < 0 || !b.Finite(row) {
		return dst
	}
	return c.Sets.Set(dst, b.RawClasses(row), b.p.o.level())
}

// Abstain reports whether a row is beyond the bounds of Options, or its prediction is
// not finite.
func (b *Batch) Abstain(row int) bool {
	o := &b.p.o
	if !b.Finite(row) {
		return true
	}
	if o.MaxOOD > 0 && b.OOD(row) > o.MaxOOD {
		return true
	}
	if o.MinProbability > 0 {
		c := b.Classes(row)
		return !(c[c.Argmax()] >= o.MinProbability)
	}
	if o.MaxStd > 0 {
		for _, n := range b.Numbers(row) {
			if !(n.Std <= o.MaxStd) {
				return true
			}
		}
	}
	return false
}
