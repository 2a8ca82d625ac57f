package fit

import (
	"context"
	"fmt"
	"time"

	"utvi/engine"
	"utvi/gauss"
	"utvi/internal/advice"
	"utvi/internal/compute"
	"utvi/internal/schema"
	"utvi/model"
	"utvi/table"
)

// Options are options of Run that do not change its result, but for the time it may take.
type Options struct {
	Checkpoint string               // folder to continue from and to leave checkpoints in; "" keeps no checkpoints
	Schema     func(*schema.Schema) // gets the columns before training
	Warn       func(Warning)        // gets what is odd about the table before training
	Progress   func(Progress)
	Workers    int // 0: all cores

	// Scoring gets how many of the held-out rows are scored, after the training. Goroutines call it.
	Scoring func(done, total int)

	// Budget is the time that training may take, after which the best model so far is the
	// result; 0 sets no limit.
	Budget time.Duration

	// Engine trains the networks; nil stands for the CPU. The result depends on it by
	// rounding.
	Engine engine.Engine[float32]

	begun time.Time // when the budget began; zero: with the training
	again bool      // the networks will be trained again with all rows
}

// A Result is a fitted model, with its scores on the held-out rows. Without held-out rows
// there is the model only.
type Result struct {
	Model      *Model
	Evaluation *Evaluation
	Insight    *Insight
	Ratio      *model.SigmaRatio // whether its error bars can be believed; nil without held-out rows, or if the fit was stopped
	Warnings   []Warning         // what is odd about the table
	Losing     string            // that the model is worse than the mean alone; "": it is not

	CrossValidation *Evaluation // of all rows, if there was one (see CrossValidate)
}

// Run holds out rows, learns the columns and the network from the other rows, and scores
// the network on the held-out rows. Rows without a target are set aside. If ctx is
// cancelled, Run returns the context's error and the best model so far, or nil if no
// model is ready.
func Run(ctx context.Context, f *table.Frame, c Config, o Options) (*Result, error) {
	c = c.complete()
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Images.Column != "" {
		return runImages(ctx, f, c, o)
	}
	o.begun = time.Now()
	p, err := part(f, c)
	if err != nil {
		return nil, err
	}
	o.again = c.refits(len(p.train) + len(p.heldOut))
	l, err := learn(ctx, p, c, o)
	if err != nil {
		return nil, err
	}
	r := &Result{Model: l.model, Warnings: l.warnings}
	if c.Holdout > 0 {
		// What was found is scored even if the training was stopped.
		err = l.judge(context.WithoutCancel(ctx), r, o)
	}
	if err == nil && o.again && !l.model.Facts.Interrupted {
		err = l.refit(ctx, o)
		r.Model = l.model
	}
	if err != nil {
		return nil, err
	}
	return r, l.stopped
}

// late reports whether the time is over.
func (o Options) late() bool { return o.Budget > 0 && time.Since(o.begun) > o.Budget }

// stoppedRows is how many held-out rows a fit scores that was stopped: the user waits.
const stoppedRows = 4096

// judge scores the model on the rows held out, says what it depends on, and whether its error bars
// can be believed.
func (l *lesson) judge(ctx context.Context, r *Result, o Options) error {
	pool := compute.NewPool(compute.Workers(o.Workers))
	defer pool.Close()
	scored := l.held
	looked := l.held.first(table.MaxRows)
	if l.stopped != nil {
		scored = l.held.first(stoppedRows)
		looked = l.held.first(hurriedRows)
	}
	t, err := l.model.tallyHeld(ctx, scored, pool, o.Scoring)
	if err != nil {
		return err
	}
	r.Evaluation, err = l.model.evaluation(t, scored.frame.Header().File)
	if err != nil {
		return err
	}
	l.model.Facts.Held = r.Evaluation.Scores()
	r.Losing = losing(l.model.Facts.Held)
	if r.Losing != "" {
		r.Warnings = append([]Warning{advice.New("%s", r.Losing)}, r.Warnings...)
	}
	if n := len(scored.rows); n < len(l.held.rows) {
		r.Evaluation.Notes = append(r.Evaluation.Notes, fmt.Sprintf("the fit was stopped: %d of %d held-out rows are scored", n, len(l.held.rows)))
	}
	late := o.late()
	if late {
		looked = l.held.first(hurriedRows)
		r.Evaluation.Notes = append(r.Evaluation.Notes, "the time was over: what is said of columns is rough, and the error bars are not compared with drawn networks")
	}
	r.Insight, err = l.model.insight(looked.set, l.config.Seed, l.stopped != nil || late)
	if err != nil || l.stopped != nil || late {
		return err
	}
	r.Ratio, err = l.model.ratio(ctx, l.held.first(ratioRows).set.X, o.Workers)
	return err
}

// The held-out rows that the outputs of drawn networks are compared on, and how many
// are drawn from each member.
const (
	ratioRows     = 64
	ratioNetworks = 300
)

// ratio compares the propagated variance with that of networks drawn from the weights.
func (m *Model) ratio(ctx context.Context, x gauss.Batch[float32], workers int) (*model.SigmaRatio, error) {
	if x.Rows == 0 {
		return nil, nil
	}
	r, err := m.Net.Members.SigmaRatio(ctx, x, model.VerifyConfig{Networks: ratioNetworks, Seed: m.Facts.Config.Seed, Workers: workers})
	if err == nil {
		m.advise(r)
	}
	return r, err
}
