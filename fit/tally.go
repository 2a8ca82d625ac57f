package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"utvi/dist"
	"utvi/internal/calibrate"
	"utvi/internal/counts"
	"utvi/internal/schema"
	"utvi/metric"
	"utvi/predict"
	"utvi/table"
)

// A tally gathers the scores of rows.
type tally struct {
	rows           int // scored
	strange        int
	notFinite      int
	noTarget       int
	unread         int
	firstUnread    string // what the first row shows that cannot be read
	first          string // where the first row stands whose prediction is not finite
	sampled, known int    // rows that were looked up among those trained with, and found
	byPosition     bool
	pictures       bool     // rows are images
	notes          []string // on how the table was read
	targets        []targetTally
}

// leftOut says why rows are not scored, "" if all are.
func (t *tally) leftOut() string {
	var why []string
	if t.noTarget > 0 {
		why = append(why, fmt.Sprintf("%s no target", have(t.noTarget)))
	}
	if t.unread > 0 {
		why = append(why, fmt.Sprintf("%s a cell that cannot be read (the first: %s)", have(t.unread), t.firstUnread))
	}
	if t.notFinite > 0 && t.pictures {
		why = append(why, fmt.Sprintf("%s no prediction, because an image cannot be read (the first at %s)", have(t.notFinite), t.first))
	} else if t.notFinite > 0 {
		why = append(why, fmt.Sprintf("%s a prediction that is not finite, far outside the training data (the first at %s)", have(t.notFinite), t.first))
	}
	return strings.Join(why, ", ")
}

func have(n int) string {
	if n == 1 {
		return "1 row has"
	}
	return fmt.Sprintf("%d rows have", n)
}

type targetTally struct {
	numbers   metric.Regression
	classes   metric.Classification
	gain      gainTally             // over what follows
	plain     metric.Regression     // without a network
	shares    metric.Classification // likewise
	sets      setTally
	parts     predict.Parts
	conformal [len(conformalLevels)]metric.Coverage
	confusion [][]int
	sample    thin[Observation]
}

var conformalLevels = [...]float64{0.5, 0.9, 0.95} // as in metric.RegressionScores

func (m *Model) newTally() *tally {
	t := &tally{pictures: m.Schema.Pictures(), targets: make([]targetTally, len(m.Schema.Targets()))}
	for i := range t.targets {
		t.targets[i].sample.most = mostShown
		for range m.Schema.Classes() {
			t.targets[i].confusion = append(t.targets[i].confusion, make([]int, len(m.Schema.Classes())))
		}
	}
	return t
}

// answers are what the rows of a batch should have been predicted as.
type answers struct {
	y      []float32                  // encoded targets, row-major
	weight func(row int) float64      // of a row
	group  func(row int) metric.Group // that a row belongs to
	where  func(row int) string       // a row stands
}

// add scores the rows of a batch.
func (t *tally) add(m *Model, b *predict.Batch, a answers) {
	targets := m.Schema.Targets()
	y := a.y
	x, k := b.Inputs(), len(targets)
	var base dist.Categorical
	var plain []dist.Dist
	for i := range targets {
		if m.Classes() != nil {
			base = shares(&targets[i])
		} else {
			plain = append(plain, m.without(&targets[i]))
		}
	}
	for row := range b.Len() {
		if b.Unread(row) {
			t.unread++
			continue
		}
		sample, known := sketch(m.Sketch).samples(hashRow(x.Mean[row*x.Width:(row+1)*x.Width], y[row*k:(row+1)*k]), m.Facts.Rows)
		t.sampled += one(sample)
		t.known += one(known)
		if !b.Finite(row) {
			if t.notFinite == 0 {
				t.first = a.where(row)
			}
			t.notFinite++
			continue
		}
		t.rows++
		if b.OOD(row) > 1 {
			t.strange++
		}
		weight, g := a.weight(row), a.group(row)
		if m.Classes() != nil {
			t.targets[0].addClass(m, b, row, int(y[row]), weight, g)
			if base != nil {
				t.targets[0].shares.Add(int(y[row]), base, weight)
				t.targets[0].gain.add(logClass(b.Classes(row), int(y[row]))-logClass(base, int(y[row])), weight)
			}
			continue
		}
		for j, c := range targets {
			actual := m.actual(y[row*len(targets)+j], &c)
			t.targets[j].addNumber(m, b, row, j, actual, weight, g)
			t.targets[j].plain.Add(actual, plain[j], weight)
			t.targets[j].gain.add(b.Dist(row, j).LogPDF(actual)-plain[j].LogPDF(actual), weight)
		}
	}
}

// groupColumn is the column of the groups that the model was fitted by, −1 if there is none:
// the errors of their rows go together.
func (m *Model) groupColumn(h *table.Header) int {
	if m.Facts.Config.Group == "" {
		return -1
	}
	return h.Column(m.Facts.Config.Group)
}

// answersOf are the answers to rows of a table; group is the column of their groups, −1 if there
// are none.
func answersOf(b *predict.Batch, targets, group int) (answers, error) {
	y, w, err := actual(b, targets)
	a := answers{
		y:      y,
		weight: func(row int) float64 { return float64(w[row]) },
		group:  func(int) metric.Group { return 0 },
		where:  b.Chunk().Where,
	}
	if group >= 0 {
		a.group = func(row int) metric.Group { return metric.GroupOf(level(b.Chunk(), row, group)) }
	}
	return a, err
}

// actual is a target in its unit.
func (m *Model) actual(y float32, c *schema.Column) float64 {
	v := float64(y)*c.SD + c.Mean
	if m.Counts() {
		v = math.Round(v)
	}
	return v
}

// without is what every row gets without a network: the Normal with the moments of the
// training rows, or of counts the negative binomial, so that both are probabilities.
func (m *Model) without(c *schema.Column) dist.Dist {
	if !m.Counts() {
		return dist.Normal{Mu: c.Mean, Sigma: c.SD}
	}
	counts := new(dist.Counts)
	counts.Add(1, c.Mean, c.SD*c.SD)
	return dist.Whole{Dist: counts}
}

// shares are the shares of the classes among the training rows, nil if they are not
// known.
func shares(c *schema.Column) dist.Categorical {
	sum := 0
	for _, n := range c.Counts {
		sum += n
	}
	if sum == 0 {
		return nil
	}
	p := make(dist.Categorical, len(c.Counts))
	for i, n := range c.Counts {
		p[i] = float64(n) / float64(sum)
	}
	return p
}

func (t *targetTally) addClass(m *Model, b *predict.Batch, row, class int, weight float64, g metric.Group) {
	p := b.Classes(row)
	t.classes.AddIn(g, class, p, weight)
	t.confusion[class][p.Argmax()]++
	if c := m.calibration(0); c != nil && c.Sets != nil {
		t.sets.add(c.Sets, b.RawClasses(row), class, weight, g)
	}
}

// A setTally counts how often conformal sets contain their class, and how large they
// are.
type setTally [len(conformalLevels)]metric.Coverage

func (t *setTally) add(s *calibrate.Sets, p dist.Categorical, class int, weight float64, g metric.Group) {
	for i, level := range conformalLevels {
		set := s.Set(nil, p, level)
		size, target := float64(len(set)), math.Inf(1)
		if slices.Contains(set, class) {
			target = 0
		}
		t[i].AddIn(g, target, 0, size, weight)
	}
}

func (t *setTally) scores() (all []metric.CoverageScore) {
	for i, level := range conformalLevels {
		all = append(all, t[i].Score(level))
	}
	return all
}

func (t *setTally) merge(o *setTally) {
	for i := range t {
		t[i].Merge(&o[i])
	}
}

func (t *targetTally) addNumber(m *Model, b *predict.Batch, row, target int, y, weight float64, g metric.Group) {
	d := b.Dist(row, target)
	t.numbers.AddIn(g, y, d, weight)
	o := Observation{y, d.Mean(), d.SD(), d.CDF(y)}
	if w, ok := d.(*dist.Whole); ok { // the middle of the levels that the count takes
		o.Level = (w.Below(y) + w.CDF(math.Round(y))) / 2
	}
	p := b.Parts(row, target, o.SD)
	t.parts.Weights += p.Weights
	t.parts.Inputs += p.Inputs
	t.parts.Noise += p.Noise
	if t.sample.next() {
		t.sample.keep(o)
	}
	if c := m.calibration(target); c != nil && c.Conformal != nil {
		raw := b.Raw(row, target)
		for i, level := range conformalLevels {
			lo, hi := c.Conformal.Interval(raw, level)
			if m.Counts() {
				lo, hi = counts.Bound(lo), counts.Bound(hi)
			}
			t.conformal[i].AddIn(g, y, lo, hi, weight)
		}
	}
}

func (t *tally) merge(o *tally) {
	if t.notFinite == 0 {
		t.first = o.first
	}
	t.rows += o.rows
	t.strange += o.strange
	t.notFinite += o.notFinite
	t.noTarget += o.noTarget
	t.unread += o.unread
	t.sampled += o.sampled
	t.known += o.known
	t.byPosition = t.byPosition || o.byPosition
	for i := range t.targets {
		a, b := &t.targets[i], &o.targets[i]
		a.numbers.Merge(&b.numbers)
		a.classes.Merge(&b.classes)
		a.plain.Merge(&b.plain)
		a.gain.merge(b.gain)
		a.shares.Merge(&b.shares)
		a.sets.merge(&b.sets)
		a.parts.Weights += b.parts.Weights
		a.parts.Inputs += b.parts.Inputs
		a.parts.Noise += b.parts.Noise
		for j := range a.conformal {
			a.conformal[j].Merge(&b.conformal[j])
		}
		for j, row := range b.confusion {
			for k, n := range row {
				a.confusion[j][k] += n
			}
		}
		for _, x := range b.sample.items {
			if a.sample.next() {
				a.sample.keep(x)
			}
		}
	}
}

func (t *tally) close(m *Model) *Evaluation {
	n := float64(max(t.rows, 1))
	e := &Evaluation{Rows: t.rows, Calibrated: m.Calibration != nil, OODAbove1: float64(t.strange) / n, NotFinite: t.notFinite, NoTarget: t.noTarget, Unread: t.unread, FirstUnread: t.firstUnread,
		Trained: float64(t.known) / float64(max(1, t.sampled)), Notes: m.Shortfalls()}
	if t.byPosition {
		e.Notes = append(e.Notes, byPosition)
	}
	e.Notes = append(e.Notes, t.notes...)
	if s := t.leftOut(); s != "" {
		e.Notes = append(e.Notes, s+"; they are left out of the scores")
	}
	if m.Facts.seen(t.sampled, t.known) {
		e.Notes = append(e.Notes, fmt.Sprintf("the model was trained with about %.0f %% of these rows; the scores are too good for new rows", 100*e.Trained))
	}
	for i, column := range m.Schema.Targets() {
		x := &t.targets[i]
		r := TargetEvaluation{Scores: Scores{Target: column.Name}}
		if m.Schema.Task == schema.Classification {
			s := x.classes.Scores()
			r.Classes = &s
			r.Confusion = x.confusion
			r.Bins = x.classes.Reliability()
			r.Names = column.Levels
			if b := x.shares.Scores(); b.Rows > 0 {
				r.Baseline = &Baseline{LL: b.LL.Value, Accuracy: b.Accuracy.Value, Gain: x.gain.gain()}
			}
			if c := m.calibration(i); c != nil && c.Sets != nil {
				r.Sets = x.sets.scores()
			}
			if note := unscored(r.Names, x.confusion); note != "" {
				e.Notes = append(e.Notes, note)
			}
		} else {
			s := x.numbers.Scores()
			if c := m.calibration(i); c != nil && c.Conformal != nil {
				for j, level := range conformalLevels {
					s.Intervals[j] = x.conformal[j].Score(level)
				}
			}
			b := x.plain.Scores()
			r.Baseline = &Baseline{LL: b.LL.Value, RMSE: b.RMSE.Value, Counts: m.Counts(), Gain: x.gain.gain()}
			r.Numbers = &s
			r.Sample = x.sample.items
			r.PIT = x.numbers.PIT(1000)
			if note := misfit(column.Name, s, m.Counts()); note != "" {
				e.Notes = append(e.Notes, note)
			}
			r.Variance = predict.Parts{Weights: x.parts.Weights / n, Inputs: x.parts.Inputs / n, Noise: x.parts.Noise / n}
		}
		e.Targets = append(e.Targets, r)
	}
	return e
}
