package fit

import (
	"context"
	"fmt"

	"utvi/internal/compute"
	"utvi/model"
	"utvi/predict"
	"utvi/table"
	"utvi/tabular"
)

// Options are options of Run that do not change its result.
type Options struct {
	Checkpoint string              // folder to continue from and to leave checkpoints in; "" keeps no checkpoints
	Schema     func(*table.Schema) // gets the columns before training
	Progress   func(tabular.Progress)
	Workers    int // 0: all cores
}

// A Result is a fitted model, with its scores on the held-out rows. Without held-out rows
// there is the model only.
type Result struct {
	Model      *Model
	Evaluation *Evaluation
	Insight    *Insight
	Ratio      *model.SigmaRatio // whether its error bars can be believed
}

// Run holds out rows, learns the columns and the network from the other rows, and scores
// the network on the held-out rows. If ctx is cancelled, Run returns the context's error
// and the best model so far, or nil if no model is ready.
func Run(ctx context.Context, f *table.Frame, c Config, o Options) (*Result, error) {
	c = c.complete()
	if err := c.Check(); err != nil {
		return nil, err
	}
	if n := f.Len(); n < 2 {
		return nil, fmt.Errorf("%s has too few rows: %d; at least 2 are needed", f.Header().File, n)
	}
	train, held, schema, err := hold(f, c)
	if err != nil {
		return nil, err
	}
	d, err := trainingData(f, train, schema, c)
	if err != nil {
		return nil, err
	}
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("%s: with %d of %d rows held out, %w", f.Header().File, len(held), f.Len(), err)
	}
	if o.Schema != nil {
		o.Schema(schema)
	}
	network := c.Network
	network.Seed, network.Parallel = c.Seed, o.Workers
	net, stopped := tabular.Fit(ctx, network, d, o.Checkpoint, o.Progress)
	if net == nil || stopped != nil && ctx.Err() == nil {
		return nil, stopped
	}
	for i, n := range net.Members.Members { // the same whether it was stopped or not
		n.Facts = model.Facts{Rows: d.X.Rows, Steps: net.Report.Members[i].Steps}
	}
	p, err := predict.New(net, schema, nil)
	if err != nil {
		return nil, err
	}
	if p.Histograms, err = schema.Histograms(f.Rows(train)); err != nil {
		return nil, err
	}
	m := &Model{Model: p, Facts: Facts{Config: c, Rows: d.X.Rows, Interrupted: stopped != nil}, trained: newSketch(d)}
	pool := compute.NewPool(compute.Workers(o.Workers))
	defer pool.Close()
	r := &Result{Model: m}
	if held == nil {
		return r, stopped
	}
	// What was found is scored even if the training was stopped.
	if r.Evaluation, err = m.Evaluate(context.WithoutCancel(ctx), f.Rows(held), pool); err != nil {
		return nil, err
	}
	m.Facts.Held = r.Evaluation.Scores()
	if r.Insight, err = m.insight(f.Rows(held), c.Seed); err != nil {
		return nil, err
	}
	r.Ratio, err = m.ratio(context.WithoutCancel(ctx), f.Rows(held), o.Workers)
	if err != nil {
		return nil, err
	}
	return r, stopped
}

// hold draws the rows to hold out, nil if there are to be none, and learns the columns
// from the others.
func hold(f *table.Frame, c Config) (train, held []int, schema *table.Schema, err error) {
	if c.Holdout < 0 {
		schema, err = table.Infer(f.Rows(nil), c.Spec)
		return nil, nil, schema, err
	}
	train, held, err = f.Split(nil, table.Split{Seed: c.Seed, Fraction: c.Holdout, Group: c.Group, Time: c.Time})
	if err != nil {
		return nil, nil, nil, err
	}
	if schema, err = table.Infer(f.Rows(train), c.Spec); err != nil {
		return nil, nil, nil, err
	}
	if train, held, schema, err = seeAllClasses(f, train, held, schema, c); err != nil {
		return nil, nil, nil, err
	}
	// Errors in held-out rows must be found before hours of training.
	_, err = schema.Encode(f.Rows(held))
	return train, held, schema, err
}

// The held-out rows that the outputs of drawn networks are compared on, and how many
// are drawn from each member.
const (
	ratioRows     = 64
	ratioNetworks = 300
)

// ratio compares the propagated variance with that of networks drawn from the weights.
func (m *Model) ratio(ctx context.Context, rows table.Source, workers int) (*model.SigmaRatio, error) {
	x, err := m.ReadInputs(rows, ratioRows)
	if err != nil || x.Rows == 0 {
		return nil, err
	}
	return m.Net.Members.SigmaRatio(ctx, x, model.VerifyConfig{Networks: ratioNetworks, Seed: m.Facts.Config.Seed, Workers: workers})
}
