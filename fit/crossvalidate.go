package fit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"utvi/internal/compute"
	"utvi/table"
)

// CrossValidate scores every row by a model that did not see it: the rows are parted into
// folds, and a model is fitted for each fold to the other rows. Scores of a small table
// are much less rough that way. Rows of a group stay together; rows in the order of time
// cannot be cross-validated. tell, if not nil, is called before each fold.
func CrossValidate(ctx context.Context, f *table.Frame, c Config, folds int, o Options, tell func(fold int)) (*Evaluation, error) {
	c = c.complete()
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Time != "" {
		return nil, errors.New("rows in the order of time cannot be cross-validated: a model would be trained with rows of the future")
	}
	rows, missing := f.WithTargets(nil, c.Targets)
	parts, err := f.Folds(rows, folds, c.Seed, c.Group)
	if err != nil {
		return nil, err
	}
	pool := compute.NewPool(compute.Workers(o.Workers))
	defer pool.Close()
	var all *tally
	var last *Model
	o.Schema, o.Warn = nil, nil
	checkpoint := o.Checkpoint
	for i, held := range parts {
		if tell != nil {
			tell(i)
		}
		if checkpoint != "" {
			o.Checkpoint = filepath.Join(checkpoint, fmt.Sprintf("fold-%d", i))
		}
		var train []int
		for j, p := range parts {
			if j != i {
				train = append(train, p...)
			}
		}
		l, err := learn(ctx, f, ascending(train), held, missing, c, o)
		if err != nil {
			return nil, err
		}
		t, err := l.model.tally(ctx, f.Rows(l.held), pool)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = l.model.newTally()
		}
		if last != nil && len(last.Schema.Classes()) != len(l.model.Schema.Classes()) {
			return nil, fmt.Errorf("%s: some classes have too few rows for %d folds", f.Header().File, folds)
		}
		all.merge(t)
		last = l.model
	}
	all.sampled, all.known = 0, 0
	e := all.close(last)
	e.File, e.NoTarget = f.Header().File, missing
	return e, nil
}
