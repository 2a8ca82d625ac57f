package vision

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"utvi/data"
	"utvi/internal/calibrate"
	"utvi/internal/tabular"
	"utvi/internal/widths"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
)

// Data are images with their classes, or with numbers of about mean 0 and standard deviation 1.
type Data struct {
	Images  Images
	Targets int       // numbers of an image, or 1 class
	Y       []float32 // of all images, row by row; a class is its number, from 0
	Classes int       // 0: the targets are numbers

	Known Known // what else is known of the images

	// Maps are the targets of every pixel, in place of Targets and Y: numbers in channels, or classes.
	Maps Images
}

// A Result is what was fitted, and the temperature that held-out images ask for; nil if there were
// too few, or for numbers. Curve corrects the variances of the numbers of pixels.
type Result struct {
	*tabular.Fitted
	Temperature *calibrate.Temperature
	Curve       *widths.Curve
}

// Fit fits networks to images. With a folder it keeps checkpoints there, and the same call
// continues from them, bit for bit. Nothing else may use the folder.
//
// If ctx ends, Fit returns the best model so far, or nil if no member is ready, with ctx's error.
func Fit(ctx context.Context, c Config, d Data, dir string, tell func(tabular.Progress)) (*Result, error) {
	if err := c.check(d.Classes > 0); err != nil {
		return nil, err
	}
	if n := d.Images.Len(); n < tabular.LeastRows {
		return nil, fmt.Errorf("there are %d images to learn from; at least %d are needed", n, tabular.LeastRows)
	}
	if d.Maps != nil {
		d.Targets = d.Maps.Shape().Size()
	}
	r := &run{plan: c.plan(d), data: d, dir: dir, key: rng.New(c.Seed), progress: progress{tell: tell}}
	if c.From != nil {
		var err error
		r.start, err = newStart(d, c.From)
		if err != nil {
			return nil, err
		}
	}
	if err := mark(dir, c, d, r.start); err != nil {
		return nil, err
	}
	r.hold()
	if r.start != nil {
		r.start.choose(&r.data, r.learning, c.Note)
	}
	return r.fit(ctx)
}

// A run is a fit under way.
type run struct {
	plan
	data Data
	dir  string
	key  rng.Key
	progress

	train []int32 // images to learn from
	held  []int32 // images to choose by
	some  []int32 // of the images to learn from, those that ways to augment are tried with

	choosing sample // the images held out
	learning sample // some of the images to learn from

	pace time.Duration // that a step took last; 0: not known
}

// The purposes of random numbers of a fit.
const (
	forHolding = iota
	forTrials
	forMembers
	forNoise
	forWear
)

// hold draws the images that are held out.
func (r *run) hold() {
	order := make([]int32, r.data.Images.Len())
	rng.Perm(r.key.Sub(0, forHolding), order)
	r.held = order[:r.holds]
	r.train = order[r.holds:]
	r.some = r.train[:min(len(r.train), r.trialImages)]
	most := 2000 // images that show what is usual
	if r.data.Maps != nil {
		const numbers = 1 << 22
		most = min(most, max(16, numbers/r.data.Targets))
	}
	r.choosing = r.sample(r.held)
	if r.data.Classes == 0 && r.data.Maps == nil {
		r.choosing.wear(&r.data, r.key.Sub(0, forWear))
	}
	r.learning = r.sample(r.train[:min(len(r.train), most)])
}

// fit chooses the way to augment, trains members and joins them.
func (r *run) fit(ctx context.Context) (*Result, error) {
	rep := tabular.Report{Rows: r.data.Images.Len(), Held: len(r.held), Members: []tabular.Member{}}
	r.foresee()
	var err error
	rep.Trials, err = r.choose(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.probe(ctx); err != nil {
		return nil, err
	}
	if err := r.allot(ctx); err != nil {
		return nil, err
	}
	rep.Config = r.Network
	members, err := r.members(ctx)
	if len(members) == 0 {
		return nil, err
	}
	rep.Partial = err != nil
	var nets []*model.Model
	for _, m := range members {
		nets = append(nets, m.net)
		rep.Members = append(rep.Members, tabular.Member{Candidate: r.candidate, Curve: m.curve, Steps: m.step})
	}
	out, failed := r.join(nets, rep)
	return out, errors.Join(err, failed)
}

// join makes a model of members.
func (r *run) join(nets []*model.Model, rep tabular.Report) (*Result, error) {
	for _, n := range nets {
		r.boundNoise(n)
	}
	s, err := r.score(nets, r.choosing)
	if err != nil {
		return nil, err
	}
	rep.Score = -s.nll
	rep.SE = s.se
	if rep.Trials == nil { // nothing was to be chosen
		rep.Trials = []tabular.Trial{{Candidate: r.candidate, Score: rep.Score, SE: rep.SE}}
	}
	f, err := r.fitted(nets, rep, s)
	if err != nil {
		return nil, err
	}
	return &Result{Fitted: f, Temperature: s.temperature, Curve: s.curve}, nil
}

// fitted adds to networks what the images show.
func (r *run) fitted(nets []*model.Model, rep tabular.Report, s scored) (*tabular.Fitted, error) {
	if r.data.Maps != nil {
		e, err := model.NewEnsemble(nets...)
		return &tabular.Fitted{Inputs: r.learning.x.Width, Targets: r.data.Targets, Classes: r.data.Classes, Report: rep, Members: e}, err
	}
	levels := r.data.Known.levels(r.data.Images.Shape().Size())
	if r.data.Classes > 0 {
		return tabular.OfClasses(nets, rep, r.learning.x, levels, r.data.Classes)
	}
	return tabular.OfNumbers(nets, rep, data.Set{X: r.learning.x, Targets: r.data.Targets, Y: r.learning.y}, levels, s.residuals)
}

// choose trains a network for each way to augment, if there are several, and keeps the best way.
func (r *run) choose(ctx context.Context) (trials []tabular.Trial, err error) {
	if len(r.ways) == 1 {
		r.candidate.Augment = r.ways[0]
		return nil, nil
	}
	best := math.Inf(1)
	r.begin("choosing", len(r.ways))
	for i, way := range r.ways {
		c := r.candidate
		c.Augment = way
		j := job{run: r, candidate: c, name: fmt.Sprintf("trial-0-%d", i), images: r.some, steps: r.trialSteps, seed: rng.Uint64(r.key.Sub(uint64(i), forTrials), 0)}
		m, err := j.train(ctx)
		if err != nil {
			return trials, err
		}
		trials = append(trials, tabular.Trial{Candidate: c, Score: -m.nll, SE: m.se, Curve: m.curve})
		if m.nll < best {
			best = m.nll
			r.candidate.Augment = way
		}
	}
	return trials, nil
}

// members trains the networks of the ensemble. If ctx ends, it returns those that are ready, or the
// one that has come some way.
func (r *run) members(ctx context.Context) (all []*trained, err error) {
	r.begin("training", r.Network.Ensemble)
	for i := range r.Network.Ensemble {
		j := job{run: r, candidate: r.candidate, name: fmt.Sprintf("member-%d", i), images: r.train, steps: r.Network.Steps, seed: rng.Uint64(r.key.Sub(uint64(i), forMembers), 0)}
		m, err := j.train(ctx)
		if err != nil && (m == nil || i > 0 || m.step < r.Network.Steps/4) {
			return all, err
		}
		all = append(all, m)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// some are some of other images.
type some struct {
	of   Images
	rows []int32
}

func (s some) Len() int                       { return len(s.rows) }
func (s some) Shape() nn.Shape                { return s.of.Shape() }
func (s some) Read(i int, dst []float32)      { s.of.Read(int(s.rows[i]), dst) }
func (s some) Spans() (least, most []float32) { return s.of.Spans() }
func (s some) Err() error                     { return s.of.Err() }
