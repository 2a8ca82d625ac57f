package fit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"utvi/internal/delimited"
	"utvi/internal/schema"
	"utvi/predict"
	"utvi/rng"
	"utvi/table"
)

// UpdateOptions are options of Update. Options.Checkpoint is not used.
type UpdateOptions struct {
	Options
	Forget  float64  // share of what is remembered that no longer counts, 0 to 1
	Holdout float64  // share of the new rows that scores the updated model; 0: a tenth, of 20 rows or more; below 0: none
	Network *Network // nil: that of the fit

	Surprised func(*Surprise) // gets what is odd about the new rows, before training; nil: nobody
}

// An Update is a model that has learned new rows, and what it found about them.
type Update struct {
	*Result
	Surprise *Surprise
	Rows     int     // that are new
	Old      float64 // rows that the remembered ones stand for, after forgetting
	Notes    []string
}

// leastHeldNew is the fewest new rows of which some are held out.
const leastHeldNew = 20

// CheckUpdate reports a model that cannot learn on.
func (m *Model) CheckUpdate() error {
	switch {
	case m.Schema.Pictures():
		return errors.New("a model of images cannot be updated; fit it again with all images")
	case m.Net.Report.Imported || len(m.Facts.Config.Targets) == 0:
		return errors.New("these networks were trained by another program; only a model that utvi fit made can be updated")
	case m.Facts.Config.Time != "":
		return fmt.Errorf("the model was fitted to rows in the order of %s, of which it remembers nothing; fit it again with all rows", m.Facts.Config.Time)
	case m.Memory == nil:
		return errors.New("the model remembers nothing of its rows: it was fitted by an earlier version or without a memory (memory −1); fit it again with all rows")
	}
	return nil
}

// Update learns the rows of a frame on top of what the model remembers of those that it was fitted
// to, and returns the model that results: its columns, scales, networks and noise are chosen anew.
// The model itself stays as it is. A calibration is not carried over.
func (m *Model) Update(ctx context.Context, f *table.Frame, o UpdateOptions) (*Update, error) {
	if err := m.CheckUpdate(); err != nil {
		return nil, err
	}
	if !(o.Forget >= 0 && o.Forget <= 1) {
		return nil, fmt.Errorf("the share to forget is %v; it must be 0 to 1", o.Forget)
	}
	if !(o.Holdout < 1) {
		return nil, fmt.Errorf("the share of new rows to hold out is %v; it must lie between 0 and 1, or be −1 to hold out none", o.Holdout)
	}
	rows, err := m.newRows(f)
	if err != nil {
		return nil, err
	}
	u := &Update{Rows: len(rows), Result: &Result{}}
	u.Surprise, err = m.surprise(ctx, f, rows, o.Workers)
	if err != nil {
		return nil, err
	}
	if o.Surprised != nil {
		o.Surprised(u.Surprise)
	}
	p, err := m.joined(f, rows, o)
	if err != nil {
		return nil, err
	}
	u.Old = p.older.stand
	return u, m.learnOn(ctx, p, u, o)
}

// newRows are the rows that have a target, if the model can read them and has not seen them all.
func (m *Model) newRows(f *table.Frame) ([]int, error) {
	head := f.Header()
	e, err := m.Schema.Bind(head)
	if err != nil {
		return nil, err
	}
	if !e.HasTargets() {
		for _, t := range m.Schema.Targets() {
			if head.Column(t.Name) < 0 {
				return nil, fmt.Errorf("%s lacks the target %s, which the model learns", head.File, t.Name)
			}
		}
	}
	var rows []int
	for i := range f.Len() {
		c, at := f.At(i)
		if e.Complete(c, at) {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: no row has a target; there is nothing to learn", head.File)
	}
	set, err := m.Schema.Encode(f.Rows(rows))
	if err != nil {
		return nil, err
	}
	known := shared(hashRows(set), m.Sketch)
	if len(m.Sketch) > 0 && known == len(rows) {
		return nil, fmt.Errorf("%s: the model was fitted to all of these %d rows already; there is nothing to learn", head.File, known)
	}
	return rows, nil
}

// joined is a table of what the model remembers and of new rows, some of them held out.
func (m *Model) joined(f *table.Frame, rows []int, o UpdateOptions) (p parted, err error) {
	lines := &delimited.Lines{Digits: 17}
	for i := range m.Schema.Columns {
		lines.Text(m.Schema.Columns[i].Name)
	}
	lines.End()
	var text bytes.Buffer
	if err := lines.Flush(&text); err != nil {
		return p, err
	}
	old := 0
	if o.Forget < 1 {
		old = strings.Count(m.Memory.Cells, "\n")
		text.WriteString(m.Memory.Cells)
	}
	fresh := newTelling(f, m.Schema, m.Net)
	for _, row := range rows {
		fresh.write(lines, row, nil, 0)
	}
	if err := lines.Flush(&text); err != nil {
		return p, err
	}
	r, err := table.NewReader(&text, f.Header().File, table.Options{Header: table.WithHeader, Delimiter: ',', Decimal: '.'})
	if err != nil {
		return p, err
	}
	defer r.Close()
	p.frame, err = table.Load(r)
	if err != nil {
		return p, err
	}
	if p.frame.Len() != old+len(rows) || m.Memory.Weights != nil && old > 0 && len(m.Memory.Weights) != old {
		return p, errors.New("the memory of training rows is damaged")
	}
	p.older = &older{rows: old}
	for i := range p.frame.Len() {
		w := float32(1)
		if i < old {
			if m.Memory.Weights != nil {
				w = m.Memory.Weights[i]
			}
			w *= float32(1 - o.Forget)
			p.older.stand += float64(w)
		} else if at := f.Header().Column(m.Facts.Config.Weight); m.Facts.Config.Weight != "" && at >= 0 {
			c, row := f.At(rows[i-old])
			_, v := c.Cell(row, at)
			w = float32(v)
		}
		p.older.weights = append(p.older.weights, w)
	}
	p.deal(o, m.Facts.Config.Seed)
	return p, nil
}

// deal holds out some of the new rows.
func (p *parted) deal(o UpdateOptions, seed uint64) {
	n := p.frame.Len() - p.older.rows
	held := 0
	switch {
	case o.Holdout > 0:
		held = min(n-1, int(math.Ceil(o.Holdout*float64(n))))
	case o.Holdout == 0 && n >= leastHeldNew:
		held = max(2, n/10)
	}
	order := make([]int, n)
	rng.Perm(rng.New(seed).Sub(uint64(n), memoryKey), order)
	for i := range p.frame.Len() {
		if i >= p.older.rows && order[i-p.older.rows] < held {
			p.heldOut = append(p.heldOut, i)
		} else {
			p.train = append(p.train, i)
		}
	}
}

// continued is the configuration of the model with its columns named: the table that it is fitted to
// now has these columns and no other.
func (m *Model) continued() Config {
	c := m.Facts.Config
	c.Task = string(m.Schema.Task)
	c.Impute = m.Schema.Impute
	c.Group = ""
	c.Weight = ""
	c.Inputs = nil
	c.Ignore = nil
	c.Categorical = nil
	for i := range m.Schema.Columns {
		x := &m.Schema.Columns[i]
		if x.Role != schema.Input && x.Role != schema.Std {
			continue
		}
		c.Inputs = append(c.Inputs, x.Name)
		if x.Type == schema.Categorical {
			c.Categorical = append(c.Categorical, x.Name)
		}
	}
	return c
}

// learnOn fits the joined rows.
func (m *Model) learnOn(ctx context.Context, p parted, u *Update, o UpdateOptions) error {
	c := m.continued()
	if o.Network != nil {
		c.Network = *o.Network
	}
	c.Holdout = 0.1
	o.Checkpoint = ""
	o.begun = time.Now()
	o.again = len(p.heldOut) > 0 && c.refits(p.frame.Len())
	l, err := learn(ctx, p, c, o.Options)
	if err != nil {
		return err
	}
	u.Warnings = l.warnings
	if len(p.heldOut) > 0 {
		if err := l.judge(context.WithoutCancel(ctx), u.Result, o.Options); err != nil {
			return err
		}
	}
	if o.again && !l.model.Facts.Interrupted {
		if err := l.refit(ctx, o.Options); err != nil {
			return err
		}
	}
	u.Model, err = m.succeeded(l, u, len(p.heldOut))
	if err != nil {
		return err
	}
	return l.stopped
}

// succeeded is the model that learned on, as the user knows it: with the roles, and the way of
// writing numbers, of the first table.
func (m *Model) succeeded(l *lesson, u *Update, held int) (*Model, error) {
	s := l.schema
	s.Named = m.Schema.Named
	for i := range s.Columns {
		c := &s.Columns[i]
		j := slices.IndexFunc(m.Schema.Columns, func(x schema.Column) bool { return x.Name == c.Name })
		if j < 0 {
			continue
		}
		was := &m.Schema.Columns[j]
		if c.Type == was.Type {
			c.Reading = was.Reading
		}
		if c.Role == schema.Dropped {
			c.Note = was.Note
		}
	}
	p, err := predict.New(l.model.Net, s, nil)
	if err != nil {
		return nil, err
	}
	p.Histograms = l.model.Histograms
	p.Sketch = l.model.Sketch
	p.Memory = l.model.Memory
	facts := l.model.Facts
	network := m.Facts.Config.Network
	facts.Config = m.Facts.Config
	facts.Config.Network = network
	facts.Rows = int(math.Round(u.Old)) + u.Rows
	if facts.Refitted == 0 {
		facts.Rows -= held
	}
	facts.Updates = append(slices.Clone(m.Facts.Updates), UpdateFacts{Rows: u.Rows, Forgot: m.Memory.Rows - u.Old})
	if m.Calibration != nil {
		u.Notes = append(u.Notes, "the calibration belonged to the networks before and is not carried over; utvi calibrate makes one from rows that the model has not learned")
	}
	if m.Facts.Config.Group != "" {
		u.Notes = append(u.Notes, fmt.Sprintf("groups of %s are not remembered: new rows are held out one by one", m.Facts.Config.Group))
	}
	return &Model{Model: p, Facts: facts}, nil
}
