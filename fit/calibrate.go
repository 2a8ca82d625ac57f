package fit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"utvi/dist"
	"utvi/internal/calibrate"
	"utvi/internal/compute"
	"utvi/internal/schema"
	"utvi/predict"
	"utvi/table"
)

// A Method is a way to correct predictions.
type Method string

// The methods; package calibrate says what each does.
const (
	Scale       Method = "scale"       // one factor for all standard deviations
	Isotonic    Method = "isotonic"    // the shape of the distribution (calibrate.Levels)
	Conformal   Method = "conformal"   // intervals, or sets of classes, that cover as they say
	Asymmetric  Method = "asymmetric"  // conformal intervals, each side separately
	Temperature Method = "temperature" // probabilities of classes made sharper or flatter
)

// methodsFor returns the methods for a task, in the order in which they are applied.
func methodsFor(task schema.Task) []Method {
	if task == schema.Classification {
		return []Method{Temperature, Conformal}
	}
	return []Method{Scale, Isotonic, Conformal, Asymmetric}
}

// DefaultMethods returns the methods for the model's task that need few rows; isotonic needs hundreds.
func (m *Model) DefaultMethods() []Method {
	if m.Schema.Task == schema.Classification {
		return []Method{Temperature}
	}
	return []Method{Scale, Conformal}
}

// CheckMethods reports methods that do not work for the model's task.
func (m *Model) CheckMethods(methods []Method) error { return checkMethods(m.Schema.Task, methods) }

func checkMethods(task schema.Task, methods []Method) error {
	for _, x := range methods {
		if !slices.Contains(methodsFor(task), x) {
			return fmt.Errorf("unknown method %q to calibrate a %s; choose from %s", string(x), task, join(methodsFor(task)))
		}
	}
	if slices.Contains(methods, Conformal) && slices.Contains(methods, Asymmetric) {
		return fmt.Errorf("the methods %s and %s exclude each other: both give conformal intervals", Conformal, Asymmetric)
	}
	if len(methods) == 0 {
		return fmt.Errorf("no calibration method is given; choose from %s", join(methodsFor(task)))
	}
	return nil
}

// mostHeld bounds the rows that a calibration is fitted on; more are thinned out.
const mostHeld = 10_000

// A Correction says how a calibration changed the scores.
type Correction struct {
	Rows, Used    int // rows of the table, and those the calibration was fitted on
	Before, After []Scores

	// Trained is the share of rows that the model was trained with, as far as
	// known. A calibration on such rows gives intervals that are too narrow.
	Trained float64
	Seen    bool // more of these rows were training rows than chance explains

	Dropped  []string // corrections that are left out because they made the scores worse
	Notes    []string // what a reader must know about the rows
	NoTarget int      // rows left out: their targets are missing
}

// Calibrate fits corrections on rows that the model was not trained with, and replaces
// the corrections that the model has. Before are the scores of these rows without
// correction. After are the scores of each half of the rows with the correction fitted
// on the other half: scores of the rows that a correction was fitted on would be too
// good. A correction that makes these worse is left out.
func (m *Model) Calibrate(ctx context.Context, rows table.Source, methods []Method, pool *compute.Pool) (*Correction, error) {
	if err := checkMethods(m.Schema.Task, methods); err != nil {
		return nil, err
	}
	held, err := m.hold(ctx, rows, pool)
	if err != nil {
		return nil, err
	}
	if len(held.items.items) == 0 {
		return nil, fmt.Errorf("%s: there is no row to calibrate by: %s", rows.Header().File, held.leftOut())
	}
	c := &Correction{Rows: held.items.seen, Used: len(held.items.items), NoTarget: held.noTarget,
		Trained: float64(held.known) / float64(max(1, held.sampled)), Seen: m.Facts.seen(held.sampled, held.known)}
	if held.byPosition {
		c.Notes = append(c.Notes, byPosition)
	}
	c.Notes = append(c.Notes, held.notes...)
	if s := held.leftOut(); s != "" {
		c.Notes = append(c.Notes, s+"; they are not used")
	}
	var all []calibrate.Calibration
	for target, column := range m.Schema.Targets() {
		f := fitter{held.items.items, target, methods, m.Schema.Task == schema.Classification, m.Counts()}
		full, err := f.fit(0, 1)
		if err != nil {
			return nil, unfit(rows.Header().File, err)
		}
		none := &calibrate.Calibration{}
		before := f.score(column.Name, none, none)
		c.Before = append(c.Before, before)
		after, worse := f.judge(column.Name, before)
		if len(worse) > 0 {
			for _, w := range worse {
				c.Dropped = append(c.Dropped, w.sentence(column.Name))
				f.methods = slices.DeleteFunc(slices.Clone(f.methods), func(x Method) bool { return x == w.method })
			}
			full, err = f.fit(0, 1)
			if err != nil {
				return nil, unfit(rows.Header().File, err)
			}
		}
		all = append(all, *full)
		if after != nil { // else too few rows for halves: no honest score after
			c.After = append(c.After, *after)
		}
	}
	if !slices.ContainsFunc(all, func(c calibrate.Calibration) bool { return c != (calibrate.Calibration{}) }) {
		all = nil
	}
	p, err := m.WithCalibration(all)
	if err != nil {
		return nil, err
	}
	m.Model = p
	return c, nil
}

// unfit says that the rows of a file do not suffice for a correction.
func unfit(file string, err error) error {
	return fmt.Errorf("%s cannot calibrate the model: %s", file, strings.TrimPrefix(err.Error(), "calibration: "))
}

func join(all []Method) string {
	var s []string
	for _, m := range all {
		s = append(s, string(m))
	}
	return strings.Join(s, ", ")
}

// An outcome is a held-out row: for each target what was, and what was predicted.
type outcome struct {
	y      []float64
	d      []dist.Dist
	class  int
	p      dist.Categorical
	weight float64
	hash   uint64

	notFinite string // where the row stands, if its prediction is not finite
}

type heldRows struct {
	items thin[outcome]
	tally // what is known of the rows, without scores
}

// hold predicts rows and keeps them. A calibration that the model has is not applied.
func (m *Model) hold(ctx context.Context, rows table.Source, pool *compute.Pool) (*heldRows, error) {
	p, err := m.predictor(rows, predict.Options{})
	if err != nil {
		return nil, err
	}
	whole, err := m.complete(rows)
	if err != nil {
		return nil, err
	}
	all := &heldRows{items: thin[outcome]{most: mostHeld}}
	var read atomic.Pointer[schema.Encoder]
	err = predict.Stream(ctx, p, whole, pool, func(b *predict.Batch) ([]outcome, error) {
		read.Store(b.Encoder())
		return m.outcomes(b)
	}, func(some []outcome) error {
		for _, o := range some {
			sample, known := sketch(m.Sketch).samples(o.hash, m.Facts.Rows)
			all.sampled += one(sample)
			all.known += one(known)
			if o.notFinite != "" {
				if all.notFinite == 0 {
					all.first = o.notFinite
				}
				all.notFinite++
				continue
			}
			if all.items.next() {
				all.items.keep(o)
			}
		}
		return nil
	})
	all.noTarget, all.byPosition = whole.missing, whole.encoder.ByPosition()
	if e := read.Load(); e != nil {
		all.notes = e.Notes()
	}
	return all, err
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *Model) outcomes(b *predict.Batch) ([]outcome, error) {
	targets := m.Schema.Targets()
	y, w, err := actual(b, len(targets))
	if err != nil {
		return nil, err
	}
	x, k := b.Inputs(), len(targets)
	all := make([]outcome, b.Len())
	for row := range all {
		o := &all[row]
		o.weight = float64(w[row])
		o.hash = hashRow(x.Mean[row*x.Width:(row+1)*x.Width], y[row*k:(row+1)*k])
		if !b.Finite(row) {
			o.notFinite = b.Chunk().Where(row)
			continue
		}
		if m.Classes() != nil {
			o.class, o.p = int(y[row]), slices.Clone(b.RawClasses(row))
			continue
		}
		for j, t := range targets {
			o.y = append(o.y, m.actual(y[row*k+j], &t))
			o.d = append(o.d, b.KeepRaw(row, j))
		}
	}
	return all, nil
}

// actual are the encoded targets of a batch, and the weights of its rows.
func actual(b *predict.Batch, targets int) (y, weights []float32, err error) {
	y, weights = make([]float32, b.Len()*targets), make([]float32, b.Len())
	err = b.Encoder().Targets(b.Chunk(), y)
	if err == nil {
		err = b.Encoder().Weights(b.Chunk(), weights)
	}
	return y, weights, err
}
