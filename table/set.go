package table

import (
	"fmt"
	"slices"

	"utvi/gauss"
)

// A Set is encoded rows in memory.
type Set struct {
	X      gauss.Batch[float32] // Var is nil unless the schema is Uncertain
	Y      []float32            // row-major, one column per target
	Weight []float32            // nil: all 1
}

// Encode encodes all rows of a source, with their targets.
func (s *Schema) Encode(rows Source) (*Set, error) {
	e, err := s.Bind(rows.Header())
	if err != nil {
		return nil, err
	}
	set := &Set{X: gauss.Batch[float32]{Width: e.width}}
	err = each(rows, func(c *Chunk) error { return set.add(e, c) })
	if err == nil && set.X.Rows == 0 {
		err = fmt.Errorf("%s: there are no rows to encode", e.head.File)
	}
	return set, err
}

func (t *Set) add(e *Encoder, c *Chunk) error {
	n, k := t.X.Rows, len(e.targets)
	t.X.Rows += c.rows
	t.X.Mean = slices.Grow(t.X.Mean, c.rows*e.width)[:t.X.Rows*e.width]
	if e.schema.Uncertain() {
		t.X.Var = slices.Grow(t.X.Var, c.rows*e.width)[:t.X.Rows*e.width]
	}
	t.Y = slices.Grow(t.Y, c.rows*k)[:t.X.Rows*k]
	if err := e.Inputs(c, t.X.Slice(n, t.X.Rows)); err != nil {
		return err
	}
	if e.weight >= 0 {
		t.Weight = slices.Grow(t.Weight, c.rows)[:t.X.Rows]
		if err := e.Weights(c, t.Weight[n:]); err != nil {
			return err
		}
	}
	return e.Targets(c, t.Y[n*k:])
}
