package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"utvi/internal/modelfile"
	"utvi/internal/schema"
	"utvi/internal/strictjson"
	"utvi/internal/tabular"
	"utvi/model"
	"utvi/predict"
	"utvi/table"
)

// A Model adds to a model that predicts what is known of its training, so that it can be evaluated
// and calibrated. Goroutines may share it while nobody calibrates it.
type Model struct {
	*predict.Model
	Facts Facts
}

// Facts say how a model was made.
type Facts struct {
	Config      Config   `json:"config"`
	Rows        int      `json:"rows"`                  // training rows
	Refitted    int      `json:"refitted,omitempty"`    // of them, held out at first: the scores are those of the networks before
	Held        []Scores `json:"held"`                  // on the rows held out, before any calibration
	Interrupted bool     `json:"interrupted,omitempty"` // the best of a training that was stopped
	SetAside    int      `json:"set_aside,omitempty"`   // rows without a target
	Repeated    float64  `json:"repeated,omitempty"`    // share of the rows held out that are also training rows

	Updates []UpdateFacts `json:"updates,omitempty"` // in their order
}

// UpdateFacts say what an update did.
type UpdateFacts struct {
	Rows   int     `json:"rows"`             // that were new
	Forgot float64 `json:"forgot,omitempty"` // rows that no longer count
}

// Save writes the model to a file, whole or not at all.
func (m *Model) Save(path string) error {
	facts, err := json.Marshal(m.Facts)
	if err != nil {
		return err
	}
	p := *m.Model
	p.Facts = facts
	return p.Save(path)
}

// Load reads what Save wrote. Options bring what the file only names.
func Load(path string, options ...model.Option) (*Model, error) {
	if err := modelfile.Check(path); err != nil {
		return nil, err
	}
	e, err := model.LoadEnsemble(path, options...)
	if err != nil {
		return nil, err
	}
	m, err := FromEnsemble(e)
	if err != nil {
		return nil, fmt.Errorf("cannot load the model %s: %w", path, err)
	}
	return m, nil
}

// ErrNotTabular is the error about a network that was not fitted to a table.
var ErrNotTabular = tabular.ErrNotTabular

// FromEnsemble returns the tabular model of a file that has been read. The error is
// ErrNotTabular if the file holds another network.
func FromEnsemble(e *model.Ensemble) (*Model, error) {
	p, err := predict.FromEnsemble(e)
	if err != nil {
		return nil, err
	}
	if p.Net == nil {
		return nil, ErrNotTabular
	}
	m := &Model{Model: p}
	if p.Facts != nil {
		if err := strictjson.Unmarshal(p.Facts, &m.Facts); err != nil {
			return nil, err
		}
	}
	if !slices.IsSorted(p.Sketch) || len(p.Sketch) > sketchSize {
		return nil, errors.New("the hashes of the training rows are out of order")
	}
	for i := range m.Facts.Held {
		if err := m.Facts.Held[i].check(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// predictor returns a predictor for the rows of a table, which must have targets.
func (m *Model) predictor(rows table.Source, o predict.Options) (*predict.Predictor, error) {
	e, err := m.Schema.Bind(rows.Header())
	if err != nil {
		return nil, err
	}
	if !e.HasTargets() {
		for _, t := range m.Schema.Targets() {
			if rows.Header().Column(t.Name) < 0 {
				return nil, fmt.Errorf("%s lacks the target %s, which predictions are compared with", rows.Header().File, t.Name)
			}
		}
	}
	o.Interval = -1
	return m.NewPredictor(o)
}

// Uncalibrate removes the calibration from the model.
func (m *Model) Uncalibrate() error {
	p, err := m.WithCalibration(nil)
	if err == nil {
		m.Model = p
	}
	return err
}

// NoiseInWeights reports whether the networks have no part for the noise, so that their
// weights have learned it.
func (m *Model) NoiseInWeights() bool {
	return m.Schema.Task == schema.Regression && len(m.Net.Report.Members) > 0 && m.Net.Report.Members[0].Noise == tabular.Embedded
}
