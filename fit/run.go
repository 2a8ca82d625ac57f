package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"utvi/data"
	"utvi/engine"
	"utvi/internal/compute"
	"utvi/model"
	"utvi/predict"
	"utvi/table"
	"utvi/table/schema"
	"utvi/tabular"
)

// Options are options of Run that do not change its result, but for the time it may take.
type Options struct {
	Checkpoint string               // folder to continue from and to leave checkpoints in; "" keeps no checkpoints
	Schema     func(*schema.Schema) // gets the columns before training
	Warn       func(Warning)        // gets what is odd about the table before training
	Progress   func(tabular.Progress)
	Workers    int // 0: all cores

	// Budget is the time that training may take, after which the best model so far is the
	// result; 0 sets no limit.
	Budget time.Duration

	// Engine trains the networks; nil stands for the CPU. The result depends on it by
	// rounding.
	Engine engine.Engine[float32]
}

// A Result is a fitted model, with its scores on the held-out rows. Without held-out rows
// there is the model only.
type Result struct {
	Model      *Model
	Evaluation *Evaluation
	Insight    *Insight
	Ratio      *model.SigmaRatio // whether its error bars can be believed; nil without held-out rows, or if the fit was stopped
	Warnings   []Warning         // what is odd about the table

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
	rows, missing := schema.WithTargets(f, nil, c.Targets)
	split := table.Split{Seed: c.Seed, Fraction: c.Holdout, Group: c.Group, Time: c.Time}
	if err := enough(f, len(rows), missing, c.Targets, split); err != nil {
		return nil, err
	}
	train := rows
	held := []int{}
	err := error(nil)
	if c.Holdout > 0 {
		train, held, err = f.Split(rows, split)
	}
	if err != nil {
		return nil, err
	}
	l, err := learn(ctx, f, train, held, missing, c, o)
	if err != nil && (l == nil || ctx.Err() == nil) {
		return nil, err
	}
	stopped := err
	pool := compute.NewPool(compute.Workers(o.Workers))
	defer pool.Close()
	// What was found is scored even if the training was stopped, though on fewer rows: the
	// user waits.
	ctx = context.WithoutCancel(ctx)
	m, r := l.model, &Result{Model: l.model, Warnings: l.warnings}
	if c.Holdout < 0 {
		return r, stopped
	}
	held, looked := l.held, l.held
	if stopped != nil {
		held, looked = held[:min(len(held), stoppedRows)], held[:min(len(held), insightRows)]
	}
	r.Evaluation, err = m.evaluate(ctx, f.Rows(held), pool, true)
	if err != nil {
		return nil, err
	}
	if len(held) < len(l.held) {
		r.Evaluation.Notes = append(r.Evaluation.Notes, fmt.Sprintf("the fit was stopped: %d of %d held-out rows are scored", len(held), len(l.held)))
	}
	m.Facts.Held = r.Evaluation.Scores()
	r.Insight, err = m.insight(f.Rows(looked), c.Seed, stopped != nil)
	if err != nil {
		return nil, err
	}
	if stopped != nil {
		return r, stopped
	}
	r.Ratio, err = m.ratio(ctx, f.Rows(held), o.Workers)
	return r, err
}

// enough refuses a table with too few rows, and says how many are needed in all. A target that
// is no column is the greater mistake, which schema.Infer reports.
func enough(f *table.Frame, n, missing int, targets []string, s table.Split) error {
	unknown := slices.ContainsFunc(targets, func(name string) bool { return f.Header().Column(name) < 0 })
	need, how := tabular.LeastRows, " to learn from"
	if s.Fraction > 0 {
		need = sort.Search(math.MaxInt32, func(n int) bool { return n-s.Held(n) >= tabular.LeastRows })
		how = fmt.Sprintf(", %d to learn from and %d to hold out", need-s.Held(need), s.Held(need))
	}
	if n >= need || unknown && n >= 2 {
		return nil
	}
	return fmt.Errorf("%s has too few rows: %s; at least %d are needed%s", f.Header().File, withTargets(n, missing), need, how)
}

func withTargets(n, missing int) string {
	if missing > 0 {
		return fmt.Sprintf("%d with a target, %d without", n, missing)
	}
	return fmt.Sprint(n)
}

// stoppedRows is how many held-out rows a fit scores that was stopped.
const stoppedRows = 4096

// A lesson is a model with the rows that it did not see.
type lesson struct {
	model    *Model
	held     []int
	warnings []Warning
}

// learn makes a model of some rows. Held-out rows are only checked. A training that was
// stopped returns what it has, and why.
func learn(ctx context.Context, f *table.Frame, train, held []int, missing int, c Config, o Options) (*lesson, error) {
	train, held, s, err := columns(f, train, held, c)
	if err != nil {
		return nil, err
	}
	// Errors in held-out rows must be found before hours of training.
	out := &data.Set{}
	if len(held) > 0 {
		out, err = s.Encode(f.Rows(held))
		if err != nil {
			return nil, err
		}
	}
	d, err := trainingData(f, train, s, c)
	if err != nil {
		return nil, err
	}
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("%s: with %d of %d rows held out, %w", f.Header().File, len(held), len(held)+len(train), err)
	}
	if o.Schema != nil {
		o.Schema(s)
	}
	hashes := hashRows(&d.Set)
	repeated := shared(hashRows(out), hashes)
	l := &lesson{held: held, warnings: survey{schema: s, data: &d, file: f.Header().File,
		held: len(held), repeated: repeated, missing: missing, mark: schema.MarkOfTarget(f, c.Targets)}.warnings()}
	if o.Warn != nil {
		for _, w := range l.warnings {
			o.Warn(w)
		}
	}
	network := c.Network
	network.Seed = c.Seed
	network.Parallel = o.Workers
	network.Engine = o.Engine
	limited, cancel := budget(ctx, o.Budget)
	defer cancel()
	net, stopped := tabular.Fit(limited, network, d, o.Checkpoint, o.Progress)
	if stopped != nil && ctx.Err() != nil { // whoever stopped it also counts once the budget has ended
		stopped = ctx.Err()
	}
	ended := stopped != nil && ctx.Err() == nil && limited.Err() != nil // by its budget
	switch {
	case net == nil && ended:
		return nil, fmt.Errorf("the time budget of %v ended before the first model was ready; allow more time", o.Budget)
	case net == nil || stopped != nil && ctx.Err() == nil && !ended:
		return nil, stopped
	}
	for i, n := range net.Members.Members { // the same whether it was stopped or not
		n.Facts = model.Facts{Rows: len(train), Steps: net.Report.Members[i].Steps}
	}
	p, err := predict.New(net, s, nil)
	if err != nil {
		return nil, err
	}
	p.Histograms, err = s.Histograms(f.Rows(train))
	if err != nil {
		return nil, err
	}
	p.Sketch = newSketch(hashes)
	l.model = &Model{Model: p, Facts: Facts{Config: c, Rows: len(train), Interrupted: stopped != nil,
		SetAside: missing, Repeated: float64(repeated) / float64(max(1, len(held)))}}
	if ended {
		stopped = nil
	}
	return l, stopped
}

// budget ends ctx when the time for training is over, in time for the evaluation.
func budget(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d-min(d/10, 10*time.Second))
}

// columns learns what the columns are. A class, or a value of the target, that only
// held-out rows have is moved to the training rows.
func columns(f *table.Frame, train, held []int, c Config) ([]int, []int, *schema.Schema, error) {
	s, err := schema.Infer(f.Rows(train), c.Spec)
	if same, ok := errors.AsType[*schema.ConstantTarget](err); ok && c.Group == "" && c.Time == "" {
		more, fewer := differing(f, train, held, c.Targets)
		if more == nil {
			return nil, nil, nil, same
		}
		train, held = more, fewer
		s, err = schema.Infer(f.Rows(train), c.Spec)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return seeAllClasses(f, train, held, s, c)
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
	r, err := m.Net.Members.SigmaRatio(ctx, x, model.VerifyConfig{Networks: ratioNetworks, Seed: m.Facts.Config.Seed, Workers: workers})
	if err == nil {
		m.advise(r)
	}
	return r, err
}
