package predict

import (
	"encoding/json"
	"errors"
	"fmt"

	"utvi/internal/calibrate"
	"utvi/internal/modelfile"
	"utvi/internal/schema"
)

func readHistograms(docs modelfile.Documents, s *schema.Schema) ([]schema.Histogram, error) {
	var all modelfile.Histograms[schema.Histogram]
	if _, err := docs.Get(&all); err != nil {
		return nil, err
	}
	for i := range all {
		if err := all[i].Check(s); err != nil {
			return nil, fmt.Errorf("the histogram of column %.40q: %w", all[i].Column, err)
		}
	}
	return all, nil
}

func readCalibration(docs modelfile.Documents) (all []calibrate.Calibration, err error) {
	var parts modelfile.Calibration[json.RawMessage]
	if _, err := docs.Get(&parts); err != nil {
		return nil, err
	}
	for _, p := range parts {
		c, err := calibrate.Decode(p)
		if err != nil {
			return nil, err
		}
		all = append(all, *c)
	}
	return all, nil
}

func readMemory(docs modelfile.Documents) (*modelfile.Memory, error) {
	m := new(modelfile.Memory)
	found, err := docs.Get(m)
	if err != nil || !found {
		return nil, err
	}
	if !(m.Rows >= 0) || m.Columns == nil {
		return nil, errors.New("the memory of training rows is damaged")
	}
	return m, nil
}

// Save writes a tabular model to a file, whole or not at all.
func (m *Model) Save(path string) error {
	if m.Net == nil {
		return errors.New("only a tabular model is saved with its table; save a network itself")
	}
	e, err := m.Net.Ensemble()
	if err != nil {
		return err
	}
	columns, err := json.Marshal(m.Schema)
	if err != nil {
		return err
	}
	docs := []modelfile.Document{&modelfile.Table{Schema: columns, Facts: m.Facts, Sketch: m.Sketch}}
	if m.Calibration != nil {
		c := modelfile.Calibration[calibrate.Calibration](m.Calibration)
		docs = append(docs, &c)
	}
	if m.Histograms != nil {
		h := modelfile.Histograms[schema.Histogram](m.Histograms)
		docs = append(docs, &h)
	}
	if m.Memory != nil {
		memory := *m.Memory
		docs = append(docs, &memory)
	}
	for _, d := range docs {
		if err := e.Documents.Put(d); err != nil {
			return err
		}
	}
	return e.Save(path)
}
