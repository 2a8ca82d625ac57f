package predict

import "utvi/table"

// A cut source yields chunks of at most so many rows.
type cut struct {
	table.Source
	most int
	from *table.Chunk // that is being cut; nil: none
	next int          // its next row
}

// Next implements table.Source.
func (c *cut) Next() (*table.Chunk, error) {
	if c.from == nil {
		var err error
		c.from, err = c.Source.Next()
		c.next = 0
		if err != nil {
			return nil, err
		}
	}
	lo := c.next
	hi := min(lo+c.most, c.from.Rows())
	part := c.from.Keep(func(row int) bool { return row >= lo && row < hi })
	c.next = hi
	if hi == c.from.Rows() {
		c.from = nil
	}
	return part, nil
}

// Done tells the source how many of its rows are predicted, if it wants to know.
func (c *cut) Done(rows int) {
	if s, ok := c.Source.(interface{ Done(rows int) }); ok {
		s.Done(rows)
	}
}
