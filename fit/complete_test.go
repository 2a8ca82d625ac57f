package fit

import (
	"testing"

	"utvi/table"
)

type counted struct {
	table.Source
	rows int
}

func (c *counted) Done(rows int) { c.rows += rows }

// The source of an evaluation learns of the rows that are done, if it asks.
func TestCompletePassesDone(t *testing.T) {
	src := &counted{}
	(&complete{Source: src}).Done(3)
	(&complete{}).Done(3)
	if src.rows != 3 {
		t.Errorf("the source was told of %d rows, not of 3", src.rows)
	}
}
