package fit

import (
	"encoding/json"
	"fmt"
	"strconv"

	"utvi/data"
	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/model"
	"utvi/predict"
)

// MostColumns is how many inputs a network may have to be a model of a table.
const MostColumns = 4096

// A NetworkTable says what the columns of rows are that a network of another program takes as they
// are.
type NetworkTable struct {
	Columns []string // of the table, in its order
	Targets []string // which of them the network predicts
	Named   bool     // columns are found by name, not by position
	Classes int      // of the only target, numbered from 0; 0: the targets are numbers

	Schema *schema.Schema // of images, in place of Columns, Targets and Named; else nil
}

// OfNetwork returns the model of a network that another program trained, with the columns that its
// inputs and targets are; rows are those that it was trained with. Inputs are no larger or smaller
// than the columns' numbers.
func OfNetwork(n *model.Model, rows data.Set, t NetworkTable) (*Model, error) {
	rep := tabular.Report{Rows: rows.X.Rows, Imported: true, Members: []tabular.Member{{Steps: n.Facts.Steps}}}
	var f *tabular.Fitted
	var err error
	if t.Classes > 0 {
		f, err = tabular.OfClasses([]*model.Model{n}, rep, rows.X, nil, t.Classes)
	} else {
		rep.Members[0].Noise = tabular.Learned
		f, err = tabular.OfNumbers([]*model.Model{n}, rep, rows, nil, nil)
	}
	if err != nil {
		return nil, err
	}
	s, err := t.schema(rows)
	if err != nil {
		return nil, err
	}
	p, err := predict.New(f, s, nil)
	if err != nil {
		return nil, err
	}
	p.Sketch = newSketch(hashRows(&rows))
	return &Model{Model: p, Facts: Facts{Rows: rows.X.Rows}}, nil
}

// schema takes every number as it is.
func (t NetworkTable) schema(rows data.Set) (*schema.Schema, error) {
	if t.Schema != nil {
		return t.Schema, nil
	}
	s := &schema.Schema{Task: schema.Regression, Named: t.Named, Rows: rows.X.Rows}
	if t.Classes > 0 {
		s.Task = schema.Classification
	}
	targets := map[string]int{}
	for i, name := range t.Targets {
		targets[name] = i
	}
	input := 0
	for _, name := range t.Columns {
		c := schema.Column{Name: name, Role: schema.Input, Type: schema.Numeric, Stats: schema.Stats{SD: 1}}
		if at, is := targets[name]; is {
			c.Role = schema.Target
			t.describe(&c, rows, at)
		} else {
			c.Min, c.Max = extremes(rows.X.Mean, input, rows.X.Width)
			input++
		}
		s.Columns = append(s.Columns, c)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	s, err = schema.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the columns cannot be stored with the network: %w", err)
	}
	return s, nil
}

// describe sets what is known of a target.
func (t NetworkTable) describe(c *schema.Column, rows data.Set, at int) {
	if t.Classes == 0 {
		c.Min, c.Max = extremes(rows.Y, at, rows.Targets)
		return
	}
	c.Type = schema.Categorical
	c.Counts = make([]int, t.Classes)
	for k := range t.Classes {
		c.Levels = append(c.Levels, strconv.Itoa(k))
	}
	for _, y := range rows.Y {
		c.Counts[int(y)]++
	}
}

// extremes are the smallest and the largest number of a column.
func extremes(x []float32, at, width int) (low, high float64) {
	for i := at; i < len(x); i += width {
		v := float64(x[i])
		if i == at {
			low = v
			high = v
		}
		low = min(low, v)
		high = max(high, v)
	}
	return low, high
}
