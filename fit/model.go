package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"utvi/calibrate"
	"utvi/internal/strictjson"
	"utvi/model"
	"utvi/table"
	"utvi/tabular"
)

// A Model is a network with the table it was made for.
type Model struct {
	Net    *tabular.Fitted
	Schema *table.Schema
	Facts  Facts

	// Calibration corrects predictions, target by target; nil: not calibrated.
	Calibration []calibrate.Calibration

	trained sketch // of the rows it was trained with
}

// Facts are how a model came about.
type Facts struct {
	Config      Config   `json:"config"`
	Rows        int      `json:"rows"`                  // it was trained with
	Held        []Scores `json:"held"`                  // on the rows held out, before any calibration
	Interrupted bool     `json:"interrupted,omitempty"` // the best of a training that was stopped
}

// The documents of a model file that this package owns. fileFormat is raised when
// an older program could misread a newer file.
const (
	tableKey       = "table"
	calibrationKey = "calibration"
	fileFormat     = 1
)

type tableDocument struct {
	Format int             `json:"format"`
	Schema json.RawMessage `json:"schema"`
	Facts  Facts           `json:"facts"`
	Sketch sketch          `json:"sketch,omitempty"`
}

// Save writes the model to a file, whole or not at all.
func (m *Model) Save(path string) error {
	schema, err := json.Marshal(m.Schema)
	if err != nil {
		return err
	}
	docs := map[string]any{tableKey: tableDocument{fileFormat, schema, m.Facts, m.trained}}
	if m.Calibration != nil {
		docs[calibrationKey] = m.Calibration
	}
	m.Net.Extra = map[string]json.RawMessage{}
	for key, d := range docs {
		if m.Net.Extra[key], err = json.Marshal(d); err != nil {
			return err
		}
	}
	return m.Net.Save(path)
}

// Load reads what Save wrote.
func Load(path string) (*Model, error) {
	if err := CheckFile(path); err != nil {
		return nil, err
	}
	net, err := tabular.Load(path)
	if err != nil {
		return nil, err
	}
	m, err := decode(net)
	if err != nil {
		return nil, fmt.Errorf("cannot load the model %s: %w", path, err)
	}
	return m, nil
}

// CheckFile reports a file that cannot be a model of any kind, such as a table. A model
// begins with eight bytes that tell the length of a header in JSON.
func CheckFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // which reading it will tell
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	var head [9]byte
	if _, err := io.ReadFull(f, head[:]); err != nil || head[8] != '{' {
		return fmt.Errorf("%s is not a model that utvi wrote; utvi fit makes one of a table", path)
	}
	return nil
}

// Of is the table's model in a file that is read already, nil if it is another
// network.
func Of(path string, e *model.Ensemble) (*Model, error) {
	if e.Documents[tableKey] == nil {
		return nil, nil
	}
	return Load(path)
}

var errNoTable = errors.New("it is no model of a table; utvi fit makes one")

func decode(net *tabular.Fitted) (*Model, error) {
	m := &Model{Net: net}
	text, ok := net.Extra[tableKey]
	if !ok {
		return nil, errNoTable
	}
	var version struct{ Format int }
	if err := json.Unmarshal(text, &version); err != nil || version.Format != fileFormat {
		return nil, fmt.Errorf("its table has format %d; this version reads %d", version.Format, fileFormat)
	}
	var doc tableDocument
	if err := strictjson.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	var err error
	if m.Schema, err = table.ParseSchema(doc.Schema); err != nil {
		return nil, err
	}
	m.Facts, m.trained = doc.Facts, doc.Sketch
	if !slices.IsSorted(m.trained) || len(m.trained) > sketchSize {
		return nil, errors.New("the hashes of its training rows are out of order")
	}
	if in := len(m.Schema.Inputs()); in != net.Inputs {
		return nil, fmt.Errorf("its table has %d inputs, its network %d", in, net.Inputs)
	}
	if len(m.Schema.Classes()) != net.Classes || net.Classes == 0 && len(m.Schema.Targets()) != net.Targets {
		return nil, errors.New("its table and its network have different targets")
	}
	return m, m.decodeCalibration(net.Extra[calibrationKey])
}

func (m *Model) decodeCalibration(text json.RawMessage) error {
	if text == nil {
		return nil
	}
	var parts []json.RawMessage
	if err := strictjson.Unmarshal(text, &parts); err != nil {
		return fmt.Errorf("calibration: %w", err)
	}
	if len(parts) != len(m.Schema.Targets()) {
		return fmt.Errorf("there are %d calibrations for %d targets", len(parts), len(m.Schema.Targets()))
	}
	for _, p := range parts {
		c, err := calibrate.Decode(p)
		if err != nil {
			return err
		}
		m.Calibration = append(m.Calibration, *c)
	}
	return nil
}

// calibration is that of a target, nil where there is none.
func (m *Model) calibration(target int) *calibrate.Calibration {
	if m.Calibration == nil {
		return nil
	}
	return &m.Calibration[target]
}

// bind ties the model to a table's columns.
func (m *Model) bind(rows table.Source, targets bool) (*table.Encoder, error) {
	e, err := m.Schema.Bind(rows.Header())
	if err != nil {
		return nil, err
	}
	if targets && !e.HasTargets() {
		for _, t := range m.Schema.Targets() {
			if rows.Header().Column(t.Name) < 0 {
				return nil, fmt.Errorf("%s lacks the target %s, which predictions are compared with", rows.Header().File, t.Name)
			}
		}
	}
	return e, nil
}
