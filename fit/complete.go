package fit

import (
	"utvi/internal/schema"
	"utvi/table"
)

// byPosition is said where a table without names is read.
const byPosition = "the table or the training table has no column names: columns are matched by their position"

// complete leaves out the rows of a source whose targets are missing.
func (m *Model) complete(rows table.Source) (*complete, error) {
	e, err := m.Schema.Bind(rows.Header())
	return &complete{Source: rows, encoder: e}, err
}

type complete struct {
	table.Source
	encoder *schema.Encoder
	missing int
}

// Next implements table.Source.
func (c *complete) Next() (*table.Chunk, error) {
	for {
		chunk, err := c.Source.Next()
		if err != nil {
			return nil, err
		}
		kept := chunk.Keep(func(row int) bool { return c.encoder.Complete(chunk, row) })
		c.missing += chunk.Rows() - kept.Rows()
		if kept.Rows() > 0 {
			return kept, nil
		}
	}
}

// Done tells the source how many of its rows are predicted, if it wants to know.
func (c *complete) Done(rows int) {
	if s, ok := c.Source.(interface{ Done(rows int) }); ok {
		s.Done(rows)
	}
}
