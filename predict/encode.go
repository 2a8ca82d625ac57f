package predict

import (
	"fmt"

	"utvi/gauss"
	"utvi/table"
)

// Encode returns rows of named values as the networks see them, for Each: whoever
// collects rows of several callers can report wrong rows to the one who sent them. See
// Predictor.Rows for the values.
func (m *Model) Encode(rows []map[string]any) (gauss.Batch[float32], error) {
	if m.Schema == nil {
		return gauss.Batch[float32]{}, m.errNoColumns()
	}
	return m.encode(len(rows), func(b *table.Builder, i int) error { return m.addNamed(b, i, rows[i]) })
}

// EncodeNumbers is Encode of rows of numbers (see Predictor.Numbers).
func (m *Model) EncodeNumbers(rows [][]float64) (gauss.Batch[float32], error) {
	if m.Schema != nil {
		return m.encode(len(rows), func(b *table.Builder, i int) error { return m.addNumbers(b, i, rows[i]) })
	}
	width := m.Inputs()
	x := gauss.Batch[float32]{Rows: len(rows), Width: width, Mean: make([]float32, 0, len(rows)*width)}
	for i, row := range rows {
		if len(row) != width {
			return x, fmt.Errorf("row %d has %d numbers; the network has %d inputs", i+1, len(row), width)
		}
		for _, v := range row {
			x.Mean = append(x.Mean, float32(v))
		}
	}
	return x, m.checkInputs(x)
}

// errNoColumns is the error about named values for a network.
func (m *Model) errNoColumns() error {
	return fmt.Errorf("the model is a network without named columns; give it %d numbers a row", m.Inputs())
}

// encode encodes rows that add puts into a table.
func (m *Model) encode(rows int, add func(b *table.Builder, row int) error) (gauss.Batch[float32], error) {
	x := gauss.New[float32](rows, m.Inputs())
	if !m.Schema.Uncertain() {
		x.Var = nil
	}
	build := table.NewBuilder(m.header)
	for lo := 0; lo < rows; lo += table.MaxRows {
		hi := min(rows, lo+table.MaxRows)
		for i := lo; i < hi; i++ {
			if err := add(build, i); err != nil {
				return x, err
			}
		}
		c, err := build.Chunk()
		if err != nil {
			return x, err
		}
		if err := m.encoder.Inputs(c, x.Slice(lo, hi)); err != nil {
			return x, err
		}
	}
	return x, nil
}
