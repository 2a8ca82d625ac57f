package fit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"utvi/calibrate"
	"utvi/internal/compute"
	"utvi/metric"
	"utvi/predict"
	"utvi/table"
)

// An Evaluation says how good the predictions of some rows are.
type Evaluation struct {
	File       string
	Rows       int
	Calibrated bool
	Targets    []TargetEvaluation
	Unfamiliar float64  // share of rows less familiar than 99 of 100 training rows
	Notes      []string // what a reader must know about the scores
}

// A TargetEvaluation is an Evaluation of one target.
type TargetEvaluation struct {
	Scores
	Variance  predict.Parts // means over the rows; of numbers
	Confusion [][]int       // by true class, then by predicted class
	Bins      []metric.Bin  // of the reliability of classes
	Sample    []Observation // of numbers, evenly spaced over the rows
	PIT       []float64     // of numbers, histogram of the levels CDF(y): 1,000 bins
}

// An Observation is a row's target beside its prediction.
type Observation struct{ Actual, Mean, SD, Level float64 }

// mostShown is how many rows of an evaluation figures show.
const mostShown = 20_000

// Scores returns the scores of all targets.
func (e *Evaluation) Scores() []Scores {
	var all []Scores
	for _, t := range e.Targets {
		all = append(all, t.Scores)
	}
	return all
}

// MarshalJSON writes the parts of an evaluation that scripts need.
func (e *Evaluation) MarshalJSON() ([]byte, error) {
	type target struct {
		Scores
		Variance  *predict.Parts `json:"variance,omitempty"`
		Confusion [][]int        `json:"confusion,omitempty"`
	}
	var all []target
	for _, t := range e.Targets {
		x := target{Scores: t.Scores, Confusion: t.Confusion}
		if t.Numbers != nil {
			x.Variance = &t.Variance
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
	p, err := m.predictor(rows)
	if err != nil {
		return nil, err
	}
	all := m.newTally()
	err = predict.Stream(ctx, p, rows, pool, func(b *predict.Batch) (*tally, error) {
		t := m.newTally()
		return t, t.add(m, b)
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
	parts     predict.Parts
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

func (t *tally) add(m *Model, b *predict.Batch) error {
	targets := m.Schema.Targets()
	y, w, err := actual(b, len(targets))
	if err != nil {
		return err
	}
	for row := range b.Len() {
		t.rows++
		if b.Unfamiliar(row) > 1 {
			t.strange++
		}
		weight := float64(w[row])
		if m.Classes() != nil {
			t.targets[0].addClass(b, row, int(y[row]), weight)
			continue
		}
		for j, c := range targets {
			t.targets[j].addNumber(m, b, row, j, float64(y[row*len(targets)+j])*c.SD+c.Mean, weight)
		}
	}
	return nil
}

func (t *targetTally) addClass(b *predict.Batch, row, class int, weight float64) {
	p := b.Classes(row)
	t.classes.Add(class, p, weight)
	t.confusion[class][p.Argmax()]++
}

func (t *targetTally) addNumber(m *Model, b *predict.Batch, row, target int, y, weight float64) {
	d := b.Dist(row, target)
	t.numbers.Add(y, d, weight)
	o := Observation{y, d.Mean(), d.SD(), d.CDF(y)}
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
			r.Numbers, r.Sample, r.PIT = &s, x.sample.items, x.numbers.PIT(1000)
			r.Variance = predict.Parts{Weights: x.parts.Weights / n, Inputs: x.parts.Inputs / n, Noise: x.parts.Noise / n}
		}
		e.Targets = append(e.Targets, r)
	}
	return e
}

// calibration returns the calibration of a target, nil without one.
func (m *Model) calibration(target int) *calibrate.Calibration {
	if m.Calibration == nil {
		return nil
	}
	return &m.Calibration[target]
}

// Shortfalls lists the levels at which the model's conformal intervals are infinite, and
// how many calibration rows would make them finite.
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
