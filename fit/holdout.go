package fit

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/schema"
	"utvi/metric"
	"utvi/predict"
	"utvi/table"
)

// A holdout is the rows that a fit holds out, encoded once: before the training, and for all that
// is found out about the model after it.
type holdout struct {
	frame *table.Frame
	rows  []int // of the frame
	set   *data.Set
}

func encode(f *table.Frame, rows []int, s *schema.Schema) (*holdout, error) {
	h := &holdout{frame: f, rows: rows, set: &data.Set{}}
	if len(rows) == 0 {
		return h, nil
	}
	var err error
	h.set, err = s.Encode(f.Rows(rows))
	return h, err
}

// first are the first rows, at most n.
func (h *holdout) first(n int) *holdout {
	if n >= len(h.rows) {
		return h
	}
	set := *h.set
	set.X = gauss.Batch[float32]{Rows: n, Width: set.X.Width, Mean: set.X.Mean[:n*set.X.Width]}
	if h.set.X.Var != nil {
		set.X.Var = h.set.X.Var[:n*set.X.Width]
	}
	set.Y = set.Y[:n*set.Outputs()]
	if set.Weights != nil {
		set.Weights = set.Weights[:n]
	}
	return &holdout{h.frame, h.rows[:n], &set}
}

// answers are what rows from one on should have been predicted as; group is the column of the
// groups, −1 if there are none.
func (h *holdout) answers(from, group int) answers {
	cell := func(row int) (*table.Chunk, int) { return h.frame.At(h.rows[from+row]) }
	a := answers{
		y:      h.set.Y[from*h.set.Outputs():],
		weight: func(int) float64 { return 1 },
		group:  func(int) metric.Group { return 0 },
		where: func(row int) string {
			c, at := cell(row)
			return c.Where(at)
		},
	}
	if h.set.Weights != nil {
		a.weight = func(row int) float64 { return float64(h.set.Weights[from+row]) }
	}
	if group >= 0 {
		a.group = func(row int) metric.Group {
			c, at := cell(row)
			return metric.GroupOf(level(c, at, group))
		}
	}
	return a
}

// tallyHeld scores the rows held out. The tallies of parts are merged in the order of the rows, so
// that the sums do not depend on the workers. tell, if not nil, gets how many are scored.
func (m *Model) tallyHeld(ctx context.Context, h *holdout, pool *compute.Pool, tell func(done, total int)) (*tally, error) {
	p, err := m.NewPredictor(predict.Options{Interval: -1})
	if err != nil {
		return nil, err
	}
	group := m.groupColumn(h.frame.Header())
	type part struct {
		first int
		*tally
	}
	var parts []part
	var mu sync.Mutex
	var done atomic.Int64
	err = p.EachOn(ctx, h.set.X, pool, func(b *predict.Batch, first int) error {
		t := m.newTally()
		t.add(m, b, h.answers(first, group))
		mu.Lock()
		parts = append(parts, part{first, t})
		mu.Unlock()
		if tell != nil {
			tell(int(done.Add(int64(b.Len()))), len(h.rows))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(parts, func(a, b part) int { return a.first - b.first })
	all := m.newTally()
	for _, t := range parts {
		all.merge(t.tally)
	}
	return all, nil
}
