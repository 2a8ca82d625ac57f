package fit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"utvi/internal/compute"
	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/table"
)

// CrossValidate scores every row by a model that did not see it: the rows are parted into
// folds, and a model is fitted for each fold to the other rows. Scores of a small table
// are much less rough that way. Rows of a group stay together; rows in the order of time
// cannot be cross-validated. tell, if not nil, is called before each fold.
func CrossValidate(ctx context.Context, f *table.Frame, c Config, folds int, o Options, tell func(fold int)) (*Evaluation, error) {
	c = c.complete()
	whole, parts, err := foldsOf(f, c, folds)
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
		l, err := learn(ctx, parted{f, ascending(train), held, whole.missing, whole.columns, nil}, c, o)
		if err == nil {
			err = l.stopped
		}
		if err != nil {
			return nil, err
		}
		t, err := l.model.tallyHeld(ctx, l.held, pool, nil)
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
	e.File, e.NoTarget = f.Header().File, whole.missing
	return e, nil
}

// CheckFolds reports folds that CrossValidate cannot make, before anything is trained.
func (c Config) CheckFolds(f *table.Frame, folds int) error {
	_, _, err := foldsOf(f, c.complete(), folds)
	return err
}

// foldsOf parts the rows that have a target. The whole has all of them to train with.
func foldsOf(f *table.Frame, c Config, folds int) (whole parted, parts [][]int, err error) {
	if err := c.Check(); err != nil {
		return whole, nil, err
	}
	if c.Time != "" {
		return whole, nil, errors.New("rows in the order of time cannot be cross-validated: a model would be trained with rows of the future")
	}
	rows, missing := schema.WithTargets(f, nil, c.Targets)
	split := table.Split{Seed: c.Seed, Group: c.Group}
	s, err := schema.Infer(f.Rows(rows), c.columns())
	if err != nil {
		return whole, nil, err
	}
	whole = parted{frame: f, train: rows, missing: missing, columns: s}
	split.Class = classColumn(s)
	parts, err = f.Folds(rows, folds, split)
	if err != nil {
		return whole, nil, err
	}
	for _, p := range parts {
		if left := len(rows) - len(p); left < tabular.LeastRows {
			more := ""
			if n := c.FewestFolds(len(rows)); c.Group == "" && n > folds {
				more = fmt.Sprintf("; %d folds leave enough", n)
			}
			return whole, nil, fmt.Errorf("%s: with %d folds a model has %d of %d rows to learn from; at least %d are needed%s", f.Header().File, folds, left, len(rows), tabular.LeastRows, more)
		}
	}
	return whole, parts, nil
}

// FewestFolds is the smallest number of folds of so many rows, from 5, that leave enough to learn
// from. It is 0 if there is none: too few rows, an order in time that folds would break, or
// images, whose models are not made in folds.
func (c Config) FewestFolds(rows int) int {
	if c.Time != "" || c.Images.Column != "" {
		return 0
	}
	for n := 5; n <= rows; n++ {
		if rows-(rows+n-1)/n >= tabular.LeastRows {
			return n
		}
	}
	return 0
}
