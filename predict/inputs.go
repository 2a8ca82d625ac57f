package predict

import (
	"fmt"
	"io"
	"math"

	"utvi/gauss"
	"utvi/internal/schema"
	"utvi/table"
)

// A reader turns chunks of a table into inputs of the networks.
type reader struct {
	encoder *schema.Encoder // nil: numbers as they are
	head    *table.Header
}

// reader ties the model to the columns of a table: by name, or, with a network, all
// columns in their order.
func (m *Model) reader(h *table.Header) (reader, error) {
	if m.Schema != nil {
		e, err := m.Schema.Bind(h)
		return reader{e, h}, err
	}
	if len(h.Columns) != m.Inputs() {
		return reader{}, fmt.Errorf("%s has %d columns; the network has %d inputs", h.File, len(h.Columns), m.Inputs())
	}
	return reader{nil, h}, nil
}

func (r reader) inputs(c *table.Chunk, x gauss.Batch[float32]) error {
	if r.encoder != nil {
		return r.encoder.Inputs(c, x)
	}
	for row := range c.Rows() {
		for col, name := range r.head.Columns {
			_, v := c.Cell(row, col)
			f := float32(v)
			if f-f != 0 { // a text, or missing, is NaN
				return fmt.Errorf("%s, column %s: %.40q is not a finite number", c.Where(row), name, c.Text(row, col))
			}
			x.Mean[row*x.Width+col] = f
		}
	}
	return nil
}

// ReadInputs reads at most the given number of rows of a table (0: all) as the networks
// see them.
func (m *Model) ReadInputs(rows table.Source, most int) (gauss.Batch[float32], error) {
	r, err := m.reader(rows.Header())
	if err != nil {
		return gauss.Batch[float32]{}, err
	}
	if most == 0 {
		most = math.MaxInt
	}
	all := gauss.Batch[float32]{Width: m.Inputs()}
	for all.Rows < most {
		c, err := rows.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return all, err
		}
		x := gauss.New[float32](c.Rows(), all.Width)
		if m.Schema == nil || !m.Schema.Uncertain() {
			x.Var = nil
		}
		if err := r.inputs(c, x); err != nil {
			return all, err
		}
		all.Rows += c.Rows()
		all.Mean, all.Var = append(all.Mean, x.Mean...), append(all.Var, x.Var...)
	}
	return all.Slice(0, min(most, all.Rows)), nil
}
