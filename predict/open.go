package predict

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"utvi/dist"
	"utvi/engine"
	"utvi/internal/calibrate"
	"utvi/internal/modelfile"
	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/likelihood"
	"utvi/model"
	"utvi/table"
)

// A Model adds to networks the table they were fitted to, so that rows of named values become
// predictions in the units of the targets, and it holds all that its file does. A network without
// a table is a Model too. It does not change, and its fields must not be changed: goroutines may
// share it.
type Model struct {
	Networks *model.Ensemble

	// Net, Schema and Calibration belong to a tabular model; they are nil for a network.
	// Schema is for the packages of this module: Columns, Targets and Classes say what others
	// need. A nil Calibration corrects nothing; otherwise it has an entry for each target.
	Net         *tabular.Fitted
	Schema      *schema.Schema
	Calibration []calibrate.Calibration

	// Histograms count the values of columns among the training rows; files of older
	// versions have none. Facts is what package fit wrote about the training, as JSON, and
	// Sketch some hashes of the training rows.
	Histograms []schema.Histogram
	Facts      json.RawMessage
	Sketch     []uint64

	// Memory is made-up rows that stand for the training rows when package fit updates the
	// model; nil: it cannot be updated.
	Memory *modelfile.Memory

	targets []target
	classes []string
	counts  bool            // targets are counts
	columns []string        // that a row needs
	header  *table.Header   // of rows of named values
	encoder *schema.Encoder // of these
	ready   [len(tiers)]chan *session
	engine  engine.Engine[float32] // of Use; nil: the CPU

	position map[string]int // of the header's columns
	needed   []int          // positions of columns
}

// A target is a number in its own unit: what networks predict times scale, plus shift.
type target struct {
	name         string
	scale, shift float64
	within       *dist.Bounded // the values that are possible; nil: all
}

// Open reads a model of size bytes. Options bring what the file only names.
func Open(r io.ReaderAt, size int64, options ...model.Option) (*Model, error) {
	e, err := model.ReadEnsemble(r, size, options...)
	if err != nil {
		return nil, err
	}
	m, err := FromEnsemble(e)
	if err != nil {
		return nil, fmt.Errorf("cannot load the model: %w", err)
	}
	return m, nil
}

// OpenFile is Open of the file at path.
func OpenFile(path string, options ...model.Option) (*Model, error) {
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

// FromEnsemble returns the model of networks that are loaded or trained: with the
// documents of a table beside them it is a tabular model.
func FromEnsemble(e *model.Ensemble) (*Model, error) {
	net, err := tabular.FromEnsemble(e)
	if errors.Is(err, tabular.ErrNotTabular) {
		return fromNetworks(e)
	}
	if err != nil {
		return nil, err
	}
	var doc modelfile.Table
	found, err := e.Documents.Get(&doc)
	if err != nil {
		return nil, err
	}
	if !found { // rows of numbers that no table was encoded to
		return fromNetworks(net.Members)
	}
	columns, err := schema.Parse(doc.Schema)
	if err != nil {
		return nil, err
	}
	calibration, err := readCalibration(e.Documents)
	if err != nil {
		return nil, err
	}
	m, err := New(net, columns, calibration)
	if err != nil {
		return nil, err
	}
	m.Facts = doc.Facts
	m.Sketch = doc.Sketch
	m.Histograms, err = readHistograms(e.Documents, columns)
	if err != nil {
		return nil, err
	}
	m.Memory, err = readMemory(e.Documents)
	return m, err
}

// New returns the model of a fitted network and the table that it was fitted to.
func New(net *tabular.Fitted, s *schema.Schema, calibration []calibrate.Calibration) (*Model, error) {
	m := &Model{Networks: net.Members, Net: net, Schema: s, Calibration: calibration, classes: s.Classes()}
	if in := len(s.Inputs()); in != net.Inputs {
		return nil, fmt.Errorf("the table has %d inputs, the network %d", in, net.Inputs)
	}
	columns := s.Targets()
	if len(m.classes) != net.Classes || net.Classes == 0 && len(columns) != net.Targets {
		return nil, errors.New("the table and the network have different targets")
	}
	if calibration != nil && len(calibration) != len(columns) {
		return nil, fmt.Errorf("there are %d calibrations for %d targets", len(calibration), len(columns))
	}
	for _, c := range columns {
		m.targets = append(m.targets, target{c.Name, c.SD, c.Mean, boundsOf(&c)})
	}
	m.header, m.position = &table.Header{Named: true}, map[string]int{}
	for i, c := range s.Columns {
		m.header.Columns = append(m.header.Columns, c.Name)
		m.position[c.Name] = i
		if c.Role == schema.Input || c.Role == schema.Std {
			m.columns = append(m.columns, c.Name)
			m.needed = append(m.needed, i)
		}
	}
	var err error
	m.encoder, err = s.Bind(m.header)
	if err != nil {
		return nil, err
	}
	m.counts = m.Net.Counts()
	m.keepReady()
	return m, nil
}

// fromNetworks returns the model of networks, whose likelihood says what they predict.
func fromNetworks(e *model.Ensemble) (*Model, error) {
	m := &Model{Networks: &model.Ensemble{Members: e.Members}}
	h, err := e.NewHead(1)
	if err != nil {
		return nil, err
	}
	width, classes := h.Targets()
	switch {
	case classes:
		m.targets = []target{{"y", 1, 0, nil}}
		for i := range width {
			m.classes = append(m.classes, strconv.Itoa(i))
		}
	case width == 1:
		m.targets = []target{{"y", 1, 0, nil}}
	default:
		for i := range width {
			m.targets = append(m.targets, target{"y" + strconv.Itoa(i+1), 1, 0, nil})
		}
	}
	m.keepReady()
	return m, nil
}

// WithCalibration returns the same model with another calibration, nil removes it.
func (m *Model) WithCalibration(c []calibrate.Calibration) (*Model, error) {
	if m.Net == nil {
		return nil, errors.New("only a tabular model can be calibrated")
	}
	out, err := New(m.Net, m.Schema, c)
	if err == nil {
		out.Histograms = m.Histograms
		out.Facts = m.Facts
		out.Sketch = m.Sketch
		out.Memory = m.Memory
	}
	return out, err
}

// Columns names the columns that a row needs, in the order of the table: inputs, and
// their standard deviations where the table has such columns. A network has no
// named columns.
func (m *Model) Columns() []string { return m.columns }

// Inputs is how many numbers a row of the networks has.
func (m *Model) Inputs() int { return m.Networks.Inputs() }

// Targets names what is predicted: y, or y1, y2 … for a network.
func (m *Model) Targets() []string {
	var names []string
	for _, t := range m.targets {
		names = append(names, t.name)
	}
	return names
}

// Classes names the classes of the one target, nil where targets are numbers. Those of
// a network are 0, 1 …
func (m *Model) Classes() []string { return m.classes }

// Likelihood is what the networks were trained with, nil if the file does not say.
func (m *Model) Likelihood() likelihood.Likelihood { return m.Networks.Members[0].Likelihood }

// Counts reports whether the model predicts counts: quantiles and the ends of intervals are
// whole numbers then.
func (m *Model) Counts() bool { return m.counts }

// warp returns the transform of a target, nil without one.
func (m *Model) warp(target int) *dist.Warp {
	if m.Net == nil {
		return nil
	}
	return m.Net.Warp(target)
}

// bounds returns between which values a target lies; ok is false if it has no bounds.
func (m *Model) bounds(target int) (d dist.Bounded, ok bool) {
	within := m.targets[target].within
	if within != nil {
		return *within, true
	}
	w := m.warp(target)
	return dist.Bounded{Max: math.Inf(1)}, w != nil && w.Positive
}

// boundsOf are the bounds that a column has, nil without any.
func boundsOf(c *schema.Column) *dist.Bounded {
	low, high, ok := c.Bounds()
	if !ok {
		return nil
	}
	return &dist.Bounded{Min: low, Max: high}
}

// calibration returns the calibration of a target, nil without one.
func (m *Model) calibration(target int) *calibrate.Calibration {
	if m.Calibration == nil {
		return nil
	}
	return &m.Calibration[target]
}
