package fit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"

	"utvi/internal/calibrate"
	"utvi/internal/compute"
	"utvi/internal/schema"
	"utvi/metric"
	"utvi/predict"
	"utvi/table"
)

// An Evaluation says how good the predictions of some rows are.
type Evaluation struct {
	File        string
	Rows        int
	Calibrated  bool
	Targets     []TargetEvaluation
	OODAbove1   float64  // share of rows whose ood is above 1
	NotFinite   int      // rows left out of the scores: their predictions are not finite numbers
	NoTarget    int      // rows left out of the scores: their targets are missing
	Unread      int      // rows left out of the scores: a cell cannot be read
	FirstUnread string   // which cell, and why
	Trained     float64  // share of rows that the model was trained with, as far as known
	Notes       []string // what a reader must know about the scores
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
		OODAbove1  float64  `json:"ood_above_1"`
		NotFinite  int      `json:"not_finite,omitempty"`
		NoTarget   int      `json:"no_target,omitempty"`
		Unread     int      `json:"unread,omitempty"`
		Trained    float64  `json:"trained,omitempty"`
		Notes      []string `json:"notes,omitempty"`
	}{e.File, e.Rows, e.Calibrated, all, e.OODAbove1, e.NotFinite, e.NoTarget, e.Unread, e.Trained, e.Notes})
}

// Evaluate scores the predictions of rows that have their targets. Rows whose targets
// are missing, whose predictions are not finite, or of which a cell cannot be read, are left out and
// counted.
func (m *Model) Evaluate(ctx context.Context, rows table.Source, pool *compute.Pool) (*Evaluation, error) {
	t, err := m.tally(ctx, rows, pool)
	if err != nil {
		return nil, err
	}
	return m.evaluation(t, rows.Header().File)
}

// evaluation is what the scores of the rows of a file say.
func (m *Model) evaluation(t *tally, file string) (*Evaluation, error) {
	if t.rows == 0 {
		return nil, fmt.Errorf("%s: no row can be scored: %s", file, t.leftOut())
	}
	e := t.close(m)
	e.File = file
	return e, nil
}

func (m *Model) tally(ctx context.Context, rows table.Source, pool *compute.Pool) (*tally, error) {
	p, err := m.predictor(rows, predict.Options{SetAside: true})
	if err != nil {
		return nil, err
	}
	whole, err := m.complete(rows)
	if err != nil {
		return nil, err
	}
	group := m.groupColumn(rows.Header())
	all := m.newTally()
	var read atomic.Pointer[schema.Encoder]
	err = predict.Stream(ctx, p, whole, pool, func(b *predict.Batch) (*tally, error) {
		read.Store(b.Encoder())
		a, err := answersOf(b, len(m.Schema.Targets()), group)
		if err != nil {
			return nil, err
		}
		t := m.newTally()
		t.add(m, b, a)
		return t, nil
	}, func(t *tally) error {
		all.merge(t)
		return nil
	})
	all.noTarget, all.byPosition = whole.missing, whole.encoder.ByPosition()
	if e := read.Load(); e != nil {
		all.notes = e.Notes()
		_, all.firstUnread = e.SetAside()
	}
	return all, err
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
		for _, level := range conformalLevels {
			err := m.Calibration[i].Enough(level)
			if err != nil && !slices.Contains(all, err.Error()) {
				all = append(all, err.Error())
			}
		}
	}
	return all
}

// describe says in a line what corrects the predictions.
func describe(targets []schema.Column, all []calibrate.Calibration) string {
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
