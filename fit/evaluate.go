package fit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"utvi/calibrate"
	"utvi/internal/compute"
	"utvi/metric"
	"utvi/table"
)

// An Evaluation is how good predictions of some rows are.
type Evaluation struct {
	File       string
	Rows       int
	Calibrated bool
	Targets    []TargetEvaluation
	Unfamiliar float64  // share of rows beyond what 99 of 100 training rows are
	Notes      []string // what a reader must know of the scores
}

// A TargetEvaluation is an Evaluation of one target.
type TargetEvaluation struct {
	Scores
	Budget    Budget        // means over the rows; of numbers
	Confusion [][]int       // by true class, then by predicted class
	Bins      []metric.Bin  // of the reliability of classes
	Sample    []Observation // of numbers, evenly spaced over the rows
	levels    []float64     // histogram of the levels CDF(y), 1,000 bins
}

// A Budget tells where a predicted variance comes from.
type Budget struct {
	Weights float64 `json:"weights"` // what the network does not know
	Inputs  float64 `json:"inputs"`  // what the inputs' own uncertainty adds
	Noise   float64 `json:"noise"`   // what cannot be known
}

// An Observation is a row's target beside its prediction.
type Observation struct{ Actual, Mean, SD, Level float64 }

// mostShown is how many rows of an evaluation figures show.
const mostShown = 20_000

// Scores are those of all targets.
func (e *Evaluation) Scores() []Scores {
	var all []Scores
	for _, t := range e.Targets {
		all = append(all, t.Scores)
	}
	return all
}

// MarshalJSON gives what a script wants of an evaluation.
func (e *Evaluation) MarshalJSON() ([]byte, error) {
	type target struct {
		Scores
		Budget    *Budget `json:"variance,omitempty"`
		Confusion [][]int `json:"confusion,omitempty"`
	}
	var all []target
	for _, t := range e.Targets {
		x := target{Scores: t.Scores, Confusion: t.Confusion}
		if t.Numbers != nil {
			x.Budget = &t.Budget
		}
		all = append(all, x)
	}
	return json.Marshal(struct {
		File       string   `json:"file"`
		Rows       int      `json:"rows"`
		Calibrated bool     `json:"calibrated"`
		Targets    []target `json:"targets"`
		Unfamiliar float64  `json:"unfamiliar"`
		Notes      []string `json:"notes,omitempty"`
	}{e.File, e.Rows, e.Calibrated, all, e.Unfamiliar, e.Notes})
}

// Evaluate scores the predictions of rows that have their targets.
func (m *Model) Evaluate(ctx context.Context, rows table.Source, pool *compute.Pool) (*Evaluation, error) {
	enc, err := m.bind(rows, true)
	if err != nil {
		return nil, err
	}
	lanes := m.lanes(enc, pool.Workers())
	all := m.newTally()
	err = stream(ctx, rows, pool, func(worker int, c *table.Chunk) (*tally, error) {
		t := m.newTally()
		return t, t.add(lanes[worker], c)
	}, func(t *tally) error {
		all.merge(t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	e := all.close(m)
	e.File = rows.Header().File
	return e, nil
}

// A tally gathers the scores of rows.
type tally struct {
	rows    int
	strange int
	targets []targetTally
}

type targetTally struct {
	numbers   metric.Regression
	classes   metric.Classification
	budget    Budget
	conformal [len(conformalLevels)]metric.Coverage
	confusion [][]int
	sample    thin[Observation]
}

var conformalLevels = [...]float64{0.5, 0.9, 0.95} // as in metric.RegressionScores

func (m *Model) newTally() *tally {
	t := &tally{targets: make([]targetTally, len(m.Schema.Targets()))}
	for i := range t.targets {
		t.targets[i].sample.most = mostShown
		for range m.Schema.Classes() {
			t.targets[i].confusion = append(t.targets[i].confusion, make([]int, len(m.Schema.Classes())))
		}
	}
	return t
}

func (t *tally) add(l *lane, c *table.Chunk) error {
	n, k := c.Rows(), len(l.targets)
	y, w := make([]float32, n*k), make([]float32, n)
	if err := l.enc.Targets(c, y); err != nil {
		return err
	}
	if err := l.enc.Weights(c, w); err != nil {
		return err
	}
	if err := l.predict(c); err != nil {
		return err
	}
	for row := range n {
		t.rows++
		if l.unfamiliar(row) > 1 {
			t.strange++
		}
		weight := float64(w[row])
		if len(l.class) > 0 {
			t.targets[0].addClass(l, row, int(y[row]), weight)
			continue
		}
		for j := range k {
			actual := float64(y[row*k+j])*l.targets[j].SD + l.targets[j].Mean
			t.targets[j].addNumber(l, row, j, actual, weight)
		}
	}
	return nil
}

func (t *targetTally) addClass(l *lane, row, class int, weight float64) {
	p := l.classes(row, true)
	t.classes.Add(class, p, weight)
	t.confusion[class][p.Argmax()]++
}

func (t *targetTally) addNumber(l *lane, row, target int, y, weight float64) {
	d := l.dist(row, target)
	t.numbers.Add(y, d, weight)
	o := Observation{y, d.Mean(), d.SD(), d.CDF(y)}
	b := l.budget(row, target, o.SD)
	t.budget.Weights += b.Weights
	t.budget.Inputs += b.Inputs
	t.budget.Noise += b.Noise
	if t.sample.next() {
		t.sample.keep(o)
	}
	if c := l.m.calibration(target); c != nil && c.Conformal != nil {
		raw := l.raw(row, target)
		for i, level := range conformalLevels {
			lo, hi := c.Conformal.Interval(raw, level)
			t.conformal[i].Add(y, lo, hi, weight)
		}
	}
}

func (t *tally) merge(o *tally) {
	t.rows += o.rows
	t.strange += o.strange
	for i := range t.targets {
		a, b := &t.targets[i], &o.targets[i]
		a.numbers.Merge(&b.numbers)
		a.classes.Merge(&b.classes)
		a.budget.Weights += b.budget.Weights
		a.budget.Inputs += b.budget.Inputs
		a.budget.Noise += b.budget.Noise
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
	e := &Evaluation{Rows: t.rows, Calibrated: m.Calibration != nil, Unfamiliar: float64(t.strange) / n, Notes: m.Shortfalls()}
	for i, column := range m.Schema.Targets() {
		x := &t.targets[i]
		r := TargetEvaluation{Scores: Scores{Target: column.Name}}
		if m.Schema.Task == table.Classification {
			s := x.classes.Scores()
			r.Classes, r.Confusion, r.Bins = &s, x.confusion, x.classes.Reliability()
		} else {
			s := x.numbers.Scores()
			if c := m.calibration(i); c != nil && c.Conformal != nil {
				for j, level := range conformalLevels {
					s.Intervals[j] = x.conformal[j].Score(level)
				}
			}
			r.Numbers, r.Sample, r.levels = &s, x.sample.items, x.numbers.PIT(1000)
			r.Budget = Budget{x.budget.Weights / n, x.budget.Inputs / n, x.budget.Noise / n}
		}
		e.Targets = append(e.Targets, r)
	}
	return e
}

// Shortfalls say of which levels the model's conformal intervals are infinite, and how
// many rows to calibrate by would bound them.
func (m *Model) Shortfalls() (all []string) {
	for i := range m.Calibration {
		c := m.Calibration[i].Conformal
		for _, level := range conformalLevels {
			if c == nil {
				continue
			}
			if err := c.Enough(level); err != nil && !slices.Contains(all, err.Error()) {
				all = append(all, err.Error())
			}
		}
	}
	return all
}

// describe says in a line what corrects the predictions.
func describe(targets []table.Column, all []calibrate.Calibration) string {
	s := ""
	for i := range all {
		if i > 0 {
			s += "; "
		}
		if len(all) > 1 {
			s += targets[i].Name + ": "
		}
		s += all[i].String()
	}
	return s
}

// CalibrationText says what corrects the model's predictions, "" if nothing does.
func (m *Model) CalibrationText() string {
	if m.Calibration == nil {
		return ""
	}
	return fmt.Sprint(describe(m.Schema.Targets(), m.Calibration))
}
