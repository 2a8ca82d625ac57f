package fit

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"utvi/internal/tabular"
	"utvi/model"
	"utvi/predict"
)

// Whether networks are trained again with all rows, once those held out have been scored; "" stands
// for tables of fewer than refitRows.
const (
	refitAlways = "always"
	refitNever  = "never"
)

// refitRows is the size of a table from which a tenth more rows gain too little for the time.
const refitRows = 2000

func checkRefit(r string) error {
	if r == "" || r == refitAlways || r == refitNever {
		return nil
	}
	return fmt.Errorf("refit is %q; choose auto, %s or %s", r, refitAlways, refitNever)
}

// refits reports whether the networks of a table with so many rows are trained again.
func (c Config) refits(rows int) bool {
	if c.Holdout <= 0 || c.Images.Column != "" {
		return false
	}
	return c.Refit == refitAlways || c.Refit == "" && rows < refitRows
}

// refit trains the networks again with all rows. The scores stay those of the rows held out, and so
// does the model if there is no time left, or whoever called stops it.
func (l *lesson) refit(ctx context.Context, o Options) error {
	left := time.Duration(0)
	if o.Budget > 0 {
		left = o.Budget - time.Since(o.begun)
		if left <= 0 {
			return nil
		}
	}
	rows := ascending(slices.Concat(l.train, l.heldOut))
	d, err := l.trainingData(rows, l.schema, l.config)
	if err != nil {
		return err
	}
	if d.Check() != nil { // a row held out is unlike all others: 2.5 among counts
		return nil
	}
	checkpoint := o.Checkpoint
	if checkpoint != "" {
		checkpoint = filepath.Join(checkpoint, "again")
	}
	limited, cancel := budget(ctx, left, time.Now())
	defer cancel()
	net, err := l.model.Net.Refit(limited, d, checkpoint, o.Progress)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		l.stopped = ctx.Err()
		return nil
	case limited.Err() != nil:
		return nil
	default:
		return err
	}
	return l.replace(net, d, rows)
}

// replace makes the model one of networks that learned from all rows.
func (l *lesson) replace(net *tabular.Fitted, d tabular.Data, rows []int) error {
	for i, n := range net.Members.Members {
		n.Facts = model.Facts{Rows: len(rows), Steps: net.Report.Members[i].Steps}
	}
	m, err := predict.New(net, l.schema, nil)
	if err != nil {
		return err
	}
	m.Histograms = l.model.Histograms // their bins end where the rows end that the columns were learned from
	m.Sketch = newSketch(hashRows(&d.Set))
	m.Memory, err = l.remember(rows, l.schema, net, l.config)
	if err != nil {
		return err
	}
	facts := l.model.Facts
	facts.Rows = len(rows)
	facts.Refitted = len(l.heldOut)
	l.model = &Model{Model: m, Facts: facts}
	return nil
}
