package schema

import (
	"fmt"
	"slices"

	"utvi/data"
	"utvi/gauss"
	"utvi/table"
)

// Encode encodes all rows of a source, with their targets. The inputs have variances if
// the schema is Uncertain.
func (s *Schema) Encode(rows table.Source) (*data.Set, error) {
	e, err := s.Bind(rows.Header())
	if err != nil {
		return nil, err
	}
	set := &data.Set{X: gauss.Batch[float32]{Width: e.width}, Targets: len(e.targets)}
	err = table.Each(rows, func(c *table.Chunk) error { return e.add(set, c) })
	if err == nil && set.X.Rows == 0 {
		err = fmt.Errorf("%s: no rows to encode", e.head.File)
	}
	return set, err
}

// add encodes the rows of a chunk and appends them to a set.
func (e *Encoder) add(t *data.Set, c *table.Chunk) error {
	n := t.X.Rows
	k := len(e.targets)
	t.X.Rows += c.Rows()
	t.X.Mean = slices.Grow(t.X.Mean, c.Rows()*e.width)[:t.X.Rows*e.width]
	if e.schema.Uncertain() {
		t.X.Var = slices.Grow(t.X.Var, c.Rows()*e.width)[:t.X.Rows*e.width]
	}
	t.Y = slices.Grow(t.Y, c.Rows()*k)[:t.X.Rows*k]
	if err := e.Inputs(c, t.X.Slice(n, t.X.Rows)); err != nil {
		return err
	}
	if e.weight >= 0 {
		t.Weights = slices.Grow(t.Weights, c.Rows())[:t.X.Rows]
		if err := e.Weights(c, t.Weights[n:]); err != nil {
			return err
		}
	}
	return e.Targets(c, t.Y[n*k:])
}
