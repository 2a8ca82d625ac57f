package fit

import (
	"context"
	"fmt"
	"time"

	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/model"
	"utvi/predict"
)

// A lesson is what a model is learned from, and the model.
type lesson struct {
	parted
	config   Config
	schema   *schema.Schema
	data     tabular.Data // the training rows
	held     *holdout
	hashes   []uint64 // of the training rows
	repeated int      // held-out rows that are also training rows
	warnings []Warning

	model   *Model
	stopped error // who called stopped the training: the model is the best so far
}

// learn makes a model of the rows to train with. A training that was stopped gives the best model
// that it has, or an error if it has none.
func learn(ctx context.Context, p parted, c Config, o Options) (*lesson, error) {
	if o.begun.IsZero() {
		o.begun = time.Now()
	}
	l, err := prepare(p, c)
	if err != nil {
		return nil, err
	}
	if o.Schema != nil {
		o.Schema(l.schema)
	}
	l.warnings = l.survey().warnings()
	if o.Warn != nil {
		for _, w := range l.warnings {
			o.Warn(w)
		}
	}
	net, early, err := l.fit(ctx, o)
	if err != nil {
		return nil, err
	}
	m, err := predict.New(net, l.schema, nil)
	if err != nil {
		return nil, err
	}
	m.Histograms, err = l.schema.Histograms(l.frame.Rows(l.train))
	if err != nil {
		return nil, err
	}
	m.Sketch = newSketch(l.hashes)
	m.Memory, err = l.remember(l.train, l.schema, net, l.config)
	if err != nil {
		return nil, err
	}
	l.model = &Model{Model: m, Facts: Facts{Config: c, Rows: len(l.train), Interrupted: early,
		SetAside: l.missing, Repeated: float64(l.repeated) / float64(max(1, len(l.held.rows)))}}
	return l, nil
}

// prepare learns what the columns are and encodes all rows, once. Errors in held-out rows must be
// found before hours of training.
func prepare(p parted, c Config) (*lesson, error) {
	p, s, err := p.learnColumns(c.columns())
	if err != nil {
		return nil, err
	}
	l := &lesson{parted: p, config: c, schema: s}
	l.held, err = encode(p.frame, p.heldOut, s)
	if err != nil {
		return nil, err
	}
	l.data, err = p.trainingData(p.train, s, c)
	if err != nil {
		return nil, err
	}
	if err := l.data.Check(); err != nil {
		return nil, fmt.Errorf("%s: with %d of %d rows held out, %w", p.frame.Header().File, len(p.heldOut), len(p.heldOut)+len(p.train), err)
	}
	l.hashes = hashRows(&l.data.Set)
	l.repeated = shared(hashRows(l.held.set), l.hashes)
	return l, nil
}

// survey is where warnings are found.
func (l *lesson) survey() survey {
	return survey{schema: l.schema, data: &l.data, file: l.frame.Header().File,
		held: len(l.heldOut), repeated: l.repeated, missing: l.missing, mark: schema.MarkOfTarget(l.frame, l.config.Targets)}
}

// fit trains networks. It reports whether the training ended early: its time was over, or whoever
// called stopped it.
func (l *lesson) fit(ctx context.Context, o Options) (net *tabular.Fitted, early bool, err error) {
	c := l.config.Network
	c.Seed = l.config.Seed
	c.Parallel = o.Workers
	c.Engine = o.Engine
	c.Again = o.again
	limited, cancel := budget(ctx, o.Budget, o.begun)
	defer cancel()
	net, err = tabular.Fit(limited, c, l.data, o.Checkpoint, o.Progress)
	switch {
	case err == nil:
	case ctx.Err() != nil: // whoever stopped it also counts once the budget has ended
		l.stopped = ctx.Err()
	case limited.Err() == nil:
		return nil, false, err
	}
	if net == nil && l.stopped != nil {
		return nil, true, l.stopped
	}
	if net == nil {
		return nil, true, fmt.Errorf("the time budget of %v ended before the first model was ready; allow more time", o.Budget)
	}
	for i, n := range net.Members.Members { // the same whether it was stopped or not
		n.Facts = model.Facts{Rows: len(l.train), Steps: net.Report.Members[i].Steps}
	}
	return net, err != nil, nil
}

// budget ends ctx when the time for training, from a time on, is over, in time for the evaluation.
func budget(ctx context.Context, d time.Duration, from time.Time) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, from.Add(d-min(d/10, 10*time.Second)))
}
