package pixelwise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"utvi/engine"
	"utvi/internal/advice"
	"utvi/internal/compute"
	"utvi/internal/pixels"
	"utvi/internal/tabular"
	"utvi/internal/vision"
	"utvi/model"
)

// The tasks that a Config names.
const (
	regression     = "regression"
	classification = "classification"
)

// A Config says what is learned, and how.
type Config struct {
	Column  string         `json:"column"` // with the images
	Target  string         `json:"target"` // with those to predict
	Task    string         `json:"task,omitempty"`
	Size    []int          `json:"size,omitempty"`
	Stretch bool           `json:"stretch,omitempty"`
	Augment string         `json:"augment,omitempty"`
	Holdout float64        `json:"holdout,omitempty"`
	Seed    uint64         `json:"seed,omitempty"`
	Network tabular.Config `json:"network"`
}

// Options do not change the result, but for the time it may take.
type Options struct {
	Checkpoint string
	Workers    int
	Budget     time.Duration
	Engine     engine.Engine[float32]
	Warn       func(advice.Sentence)
	Begin      func(*Model, int) // gets what is known before training, and how many images are held out
	Progress   func(tabular.Progress)
}

// A Result is a model and the scores of the images held out, nil if there are none.
type Result struct {
	Model    *Model
	Scores   *Scores
	Held     Pairs
	Warnings []advice.Sentence
}

// Fit learns to predict the targets of the pixels of images. If ctx ends, it returns the best model so
// far, or nil if no network is ready, with the error of ctx.
func Fit(ctx context.Context, p Pairs, c Config, o Options) (*Result, error) {
	c.Holdout = cmp.Or(c.Holdout, 0.1)
	c.Seed = cmp.Or(c.Seed, 1)
	pool := compute.NewPool(compute.Workers(o.Workers))
	defer pool.Close()
	r := &Result{}
	l, m, err := r.prepare(p, c, pool)
	if err != nil {
		return nil, err
	}
	for _, w := range r.Warnings {
		if o.Warn != nil {
			o.Warn(w)
		}
	}
	if o.Begin != nil {
		o.Begin(m, len(r.Held.Images))
	}
	stopped, err := r.learn(ctx, l, m, o)
	if err != nil {
		return nil, err
	}
	if len(r.Held.Images) > 0 {
		r.Scores, err = m.Evaluate(context.WithoutCancel(ctx), r.Held, pool)
		if err != nil {
			return nil, err
		}
		m.Held = r.Scores
	}
	return r, stopped
}

// prepare reads the images and finds out what their targets are.
func (r *Result) prepare(p Pairs, c Config, pool *compute.Pool) (*loaded, *Model, error) {
	if n := len(p.Images); n < tabular.LeastRows+1 {
		return nil, nil, fmt.Errorf("%s has %d pairs of images; at least %d are needed", p.File, n, tabular.LeastRows+1)
	}
	in, out, changed, err := p.formats(c)
	if err != nil {
		return nil, nil, err
	}
	if changed != "" {
		r.warn("images have %s pixels; they are seen, and predicted, as %d × %d; %v for another size", changed, in.Height, in.Width, advice.Set("Size", ""))
	}
	levels, err := c.settle(p, out, pool)
	if err != nil {
		return nil, nil, err
	}
	learn, held := p.split(c.Holdout, c.Seed)
	l, err := load(learn, in, out, levels, pool)
	if err != nil {
		return nil, nil, err
	}
	r.Held = held
	r.tellFaults(l)
	r.tellCopies(l, held, in, pool)
	m := &Model{Description: Description{Column: c.Column, Target: c.Target, Input: l.images.Format(), Output: out, Levels: levels, Config: c, Rows: len(l.Images)}}
	m.Output.Mean = make([]float64, out.Channels)
	m.Output.SD = make([]float64, out.Channels)
	for i := range m.Output.SD {
		m.Output.SD[i] = 1
	}
	if s, ok := l.maps.(*pixels.Set); ok {
		m.Output = s.Format()
	}
	return l, m, nil
}

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, advice.New(format, args...))
}

// tellFaults warns of pairs that are left out.
func (r *Result) tellFaults(l *loaded) {
	const named = 3
	for _, err := range l.faults[:min(named, len(l.faults))] {
		r.warn("left out: %v", err)
	}
	if more := len(l.faults) - named; more > 0 {
		r.warn("left out: %d more pairs of images that cannot be read", more)
	}
}

// tellCopies warns of images held out that are also learned from.
func (r *Result) tellCopies(l *loaded, held Pairs, in pixels.Format, pool *compute.Pool) {
	known := map[uint64]bool{}
	for _, h := range l.hashes {
		known[h] = true
	}
	n := 0
	for _, h := range pixels.Load(held.Reader, held.Images, in, pool).Hashes {
		if known[h] {
			n++
		}
	}
	if n > 0 {
		r.warn("%d of %d held-out images are also among those learned from, pixel by pixel; the scores may be too good", n, len(held.Images))
	}
}

// learn trains the networks of the model. stopped is the error of ctx if it ended the training.
func (r *Result) learn(ctx context.Context, l *loaded, m *Model, o Options) (stopped, err error) {
	d := vision.Data{Images: l.input(), Maps: l.output(m.Output), Classes: m.Classes()}
	settings := vision.Config{Network: m.Config.Network, Augment: m.Config.Augment, Seed: m.Config.Seed}
	settings.Network.Parallel = o.Workers
	settings.Network.Engine = o.Engine
	limited := ctx
	if o.Budget > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, o.Budget-min(o.Budget/10, 10*time.Second))
		defer cancel()
	}
	fitted, err := vision.Fit(limited, settings, d, o.Checkpoint, o.Progress)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		stopped = ctx.Err()
	case limited.Err() == nil:
		return nil, err
	}
	if fitted == nil {
		return nil, cmp.Or(stopped, errors.New("the time budget ended before the first model was ready; allow more time"))
	}
	for i, n := range fitted.Members.Members {
		n.Facts = model.Facts{Rows: m.Rows, Steps: fitted.Report.Members[i].Steps}
	}
	m.Networks = fitted.Members
	m.Curve = fitted.Curve
	m.Temperature = fitted.Temperature
	m.Report = fitted.Report
	m.Interrupted = fitted.Report.Partial
	r.Model = m
	return stopped, nil
}
