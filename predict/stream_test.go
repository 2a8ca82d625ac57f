package predict

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"utvi/internal/compute"
	"utvi/table"
)

// Results come in the order of the rows, and those before an error come too.
func TestInOrder(t *testing.T) {
	var b strings.Builder
	b.WriteString("x\n")
	const n = 9 * table.MaxRows
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	r, err := table.NewReader(strings.NewReader(b.String()), "t.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := table.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	var told atomic.Int64
	for _, workers := range []int{1, 3} {
		pool := compute.NewPool(workers)
		boom := errors.New("boom")
		next, stop := 0, n
		run := func() error {
			next = 0
			return inOrder(t.Context(), watched{f.Rows(nil), &told}, pool, func(_ int, c *table.Chunk) (int, error) {
				_, v := c.Cell(0, 0)
				if int(v) >= stop {
					return 0, boom
				}
				return int(v), nil
			}, func(first int) error {
				if first != next {
					t.Fatalf("%d came, %d was next", first, next)
				}
				next += table.MaxRows
				return nil
			})
		}
		told.Store(0)
		if err := run(); err != nil || next != n {
			t.Errorf("%d rows came, %v", next, err)
		}
		if told.Load() != n {
			t.Errorf("the source was told of %d rows, not of %d", told.Load(), n)
		}
		stop = 7 * table.MaxRows
		if err := run(); err != boom || next != stop {
			t.Errorf("%d rows came before %v", next, err)
		}
		read := 0 // chunks, of a table of any length
		err := inOrder(t.Context(), limited{f.Rows(nil), &read}, pool, func(int, *table.Chunk) (int, error) { return 0, boom }, func(int) error { return nil })
		if err != boom || read > 8*pool.Workers() { // a round, and the next one
			t.Errorf("%d chunks were read before the first was looked at, %v", read, err)
		}
		pool.Close()
	}
}

// A limited source counts the chunks that were read.
type limited struct {
	table.Source
	read *int
}

func (l limited) Next() (*table.Chunk, error) {
	*l.read++
	return l.Source.Next()
}

// A watched source counts the rows that are done.
type watched struct {
	table.Source
	rows *atomic.Int64
}

func (w watched) Done(rows int) { w.rows.Add(int64(rows)) }

// Room for the inputs of a full block is made once.
func TestGrowOnce(t *testing.T) {
	s := &session{m: &Model{}, tier: len(tiers) - 1}
	first := s.grow(table.MaxRows, 2, true)
	second := s.grow(table.MaxRows, 2, true)
	if len(second.Var) != 2*table.MaxRows || &first.Mean[0] != &second.Mean[0] || &first.Var[0] != &second.Var[0] {
		t.Error("the inputs of a second block of the same size have room of their own")
	}
	fewer := s.grow(3, 2, false)
	if fewer.Rows != 3 || len(fewer.Mean) != 6 || fewer.Var != nil {
		t.Errorf("3 rows of fixed inputs are %+v", fewer)
	}
}
