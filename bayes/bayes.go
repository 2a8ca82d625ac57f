// Package bayes turns a network that was trained elsewhere into a Bayesian one: a few
// epochs around the trained weights give it error bars. It scores the network before and
// after, on rows that the epochs did not use.
package bayes

import (
	"context"
	"errors"
	"fmt"
	"math"

	"utvi/data"
	"utvi/dist"
	"utvi/fn"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/metric"
	"utvi/model"
	"utvi/nn"
	"utvi/onnx/importer"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
)

// A Config says how a network is trained. The zero value is the default.
type Config struct {
	Epochs  int     // 0 means 60
	Batch   int     // 0 means 32
	Rate    float64 // learning rate at the start, falling to 0; 0 means 0.01
	Held    float64 // share of the rows that is only scored, unless there are rows of a test; 0 means 0.2
	Seed    uint64
	Workers int // 0 means all cores

	// Progress, if set, is called after each epoch with the mean score of its last batch.
	Progress func(epoch, epochs int, nll float64)
}

func (c Config) orDefault() Config {
	set := func(x *float64, standard float64) {
		if *x == 0 {
			*x = standard
		}
	}
	set(&c.Rate, 0.01)
	set(&c.Held, 0.2)
	if c.Epochs == 0 {
		c.Epochs = 60
	}
	if c.Batch == 0 {
		c.Batch = 32
	}
	return c
}

// Check reports invalid settings.
func (c Config) Check() error {
	d := c.orDefault()
	switch {
	case d.Epochs < 1 || d.Batch < 1:
		return fmt.Errorf("%d epochs in batches of %d; both must be at least 1", d.Epochs, d.Batch)
	case !(d.Rate > 0) || math.IsInf(d.Rate, 0):
		return fmt.Errorf("the learning rate is %v; it must be a number > 0", d.Rate)
	case !(d.Held > 0 && d.Held < 1):
		return fmt.Errorf("%v of the rows are held out; it must be a share between 0 and 1", d.Held)
	}
	return nil
}

// A Result is a Bayesian network with its scores. Those of numbers or those of classes are
// set.
type Result struct {
	Net           *model.Model
	Trained, Held int // rows

	// Before are the scores of the trained network. Its error bar for numbers is one for
	// all rows: the root mean square error on the rows of the training.
	Before, After               []metric.RegressionScores // one a target
	ClassesBefore, ClassesAfter *metric.ClassificationScores
}

// A Loader imports the network with the given options; it is called twice, for numbers and
// for Normals.
type Loader func(o importer.Options) (*model.Model, error)

// Train makes a network Bayesian. Rows of numbers have as many targets as the network has
// outputs; classes have one target, the index of the class. test are rows that are only
// scored; if nil, a share of the rows is held out. Rows that the network was trained with
// make its error bars look better than they are.
func Train(ctx context.Context, load Loader, o importer.Options, rows data.Set, test *data.Set, c Config) (*Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c = c.orDefault()
	if err := rows.Check(); err != nil {
		return nil, err
	}
	o.Random = false
	point, err := load(o)
	if err != nil {
		return nil, err
	}
	if point.Inputs() != rows.X.Width {
		return nil, fmt.Errorf("the rows have %d inputs; the network needs %d", rows.X.Width, point.Inputs())
	}
	k, err := taskOf(point, rows)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	fitted, held := rows, data.Set{}
	if test == nil {
		fitted, held = split(rows, c.Held, c.Seed)
	} else if held = *test; held.X.Width != rows.X.Width || held.Outputs() != rows.Outputs() {
		return nil, fmt.Errorf("the rows of the test have %d inputs and %d targets, the others %d and %d", held.X.Width, held.Outputs(), rows.X.Width, rows.Outputs())
	} else if _, err := taskOf(point, held); err != nil {
		return nil, fmt.Errorf("the rows of the test: %w", err)
	}
	r.Trained, r.Held = fitted.X.Rows, held.X.Rows
	if r.Trained < 1 || r.Held < 1 {
		return nil, fmt.Errorf("%d rows; at least a few are needed to train and to score", rows.X.Rows)
	}
	o.Finish = k.finish(nil)
	if point, err = load(o); err != nil {
		return nil, err
	}
	spread := k.before(r, point, fitted, held)
	o.Random, o.Correlated, o.Finish = true, point.Outputs() <= mostFollowed, k.finish(spread)
	if r.Net, err = load(o); err != nil {
		return nil, err
	}
	if err := c.train(ctx, r.Net, k, fitted); err != nil {
		return nil, err
	}
	return r, k.after(r, held)
}

// mostFollowed is the largest number of outputs whose correlations are carried: each costs
// about a backward pass.
const mostFollowed = 32

// split sets rows aside, drawn by the seed.
func split(rows data.Set, share float64, seed uint64) (fitted, held data.Set) {
	n := rows.X.Rows
	perm := make([]int32, n)
	rng.Perm(rng.New(seed).Sub(1, 7), perm)
	cut := max(1, int(math.Round(share*float64(n))))
	return pick(rows, perm[cut:]), pick(rows, perm[:cut])
}

func pick(s data.Set, rows []int32) data.Set {
	w, k := s.X.Width, s.Outputs()
	p := data.Set{X: gauss.Batch[float32]{Rows: len(rows), Width: w}, Targets: k}
	for _, r := range rows {
		p.X.Mean = append(p.X.Mean, s.X.Mean[int(r)*w:][:w]...)
		if s.X.Var != nil {
			p.X.Var = append(p.X.Var, s.X.Var[int(r)*w:][:w]...)
		}
		p.Y = append(p.Y, s.Y[int(r)*k:][:k]...)
	}
	return p
}

func (c Config) train(ctx context.Context, n *model.Model, k task, rows data.Set) error {
	source, err := data.NewTable(rows.X, rows.Outputs(), rows.Y)
	if err != nil {
		return err
	}
	batch := min(c.Batch, rows.X.Rows)
	epoch := (rows.X.Rows + batch - 1) / batch
	steps := c.Epochs * epoch
	opt := optim.Paper()
	opt.Rate, opt.Decay, opt.Clip = optim.Cosine(c.Rate, steps), 0, 10
	t, err := train.New(n, train.Config{Data: source, Likelihood: k.likelihood, Optimizer: opt, Batch: batch, Steps: steps, Seed: c.Seed, Workers: c.Workers})
	if err != nil {
		return err
	}
	defer t.Close()
	for s, err := range t.Steps(ctx) {
		if err != nil {
			return err
		}
		if s.Step%epoch == 0 && c.Progress != nil {
			c.Progress(s.Step/epoch, c.Epochs, s.NLL)
		}
	}
	return nil
}

// A task is what the outputs mean.
type task struct {
	classes    bool
	softmax    bool // the network gives logits: a softmax is added
	log        bool // the network gives logarithms of probabilities: the logarithm is taken off
	likelihood likelihood.Likelihood
}

// taskOf decides what the network predicts: classes, if it has several outputs for one
// target or ends with a softmax, else numbers.
func taskOf(n *model.Model, rows data.Set) (task, error) {
	steps := n.Graph().Steps()
	last := steps[len(steps)-1].Layer
	isSoftmax := func(l nn.Layer) bool { j, ok := l.(nn.Joint); return ok && j.Map.Name == "softmax" }
	k := task{likelihood: likelihood.Normal{}}
	switch {
	case isSoftmax(last):
		k.classes = true
	case len(steps) > 1 && isSoftmax(steps[len(steps)-2].Layer):
		k.classes, k.log = true, true
	case n.Outputs() > 1 && rows.Outputs() == 1:
		k.classes, k.softmax = true, true
	case n.Outputs() != rows.Outputs():
		return k, fmt.Errorf("the rows have %d targets; the network has %d outputs", rows.Outputs(), n.Outputs())
	}
	if !k.classes {
		return k, nil
	}
	k.likelihood = likelihood.Categorical{}
	if rows.Outputs() != 1 {
		return k, errors.New("classes need one target, the index of the class")
	}
	for i, y := range rows.Y {
		if y < 0 || int(y) >= n.Outputs() || y != float32(int(y)) {
			return k, fmt.Errorf("the class of row %d is %v; the network has the classes 0 to %d", i, y, n.Outputs()-1)
		}
	}
	return k, nil
}

// finish changes the end of the imported layers: probabilities for classes, noise that
// starts at the given standard deviations for numbers.
func (k task) finish(noise []float64) func(nn.Chain) nn.Chain {
	return func(l nn.Chain) nn.Chain {
		switch {
		case k.log:
			return l[:len(l)-1]
		case k.softmax:
			return append(l, nn.Joint{Map: fn.Softmax()})
		case !k.classes && noise != nil:
			var mean float64
			for _, s := range noise {
				mean += s / float64(len(noise))
			}
			return append(l, nn.Noise{Start: max(mean, 1e-6)})
		}
		return l
	}
}

// before scores the trained network, and returns the standard deviation of its errors on
// the rows of the training, one a target.
func (k task) before(r *Result, n *model.Model, fitted, held data.Set) []float64 {
	exact := func(s data.Set) []float32 {
		x := s.X
		x.Var = nil
		return append([]float32(nil), n.NewPredictor(x.Rows).Predict(x).Mean...)
	}
	if k.classes {
		r.ClassesBefore = classes(exact(held), n.Outputs(), held.Y)
		return nil
	}
	m, mean := n.Outputs(), exact(fitted)
	spread := make([]float64, m)
	for i, y := range fitted.Y {
		e := float64(y - mean[i])
		spread[i%m] += e * e / float64(fitted.X.Rows)
	}
	for j := range spread {
		spread[j] = max(math.Sqrt(spread[j]), 1e-12)
	}
	r.Before = numbers(exact(held), func(i int) float64 { return spread[i%m] }, m, held.Y)
	return spread
}

// after scores the Bayesian network.
func (k task) after(r *Result, held data.Set) error {
	e, err := model.NewEnsemble(r.Net)
	if err != nil {
		return err
	}
	h, err := e.NewHead(held.X.Rows)
	if err != nil {
		return err
	}
	p, err := h.TryPredict(held.X)
	if err != nil {
		return err
	}
	if k.classes {
		r.ClassesAfter = classes(p.Mean, p.Width, held.Y)
		return nil
	}
	r.After = numbers(p.Mean, func(i int) float64 { return math.Sqrt(float64(p.Var[i])) }, p.Width, held.Y)
	return nil
}

func numbers(mean []float32, sd func(i int) float64, width int, y []float32) []metric.RegressionScores {
	all := make([]metric.Regression, width)
	for i, m := range mean {
		all[i%width].Add(float64(y[i]), dist.Normal{Mu: float64(m), Sigma: max(sd(i), 1e-12)}, 1)
	}
	scores := make([]metric.RegressionScores, width)
	for i := range all {
		scores[i] = all[i].Scores()
	}
	return scores
}

func classes(p []float32, width int, y []float32) *metric.ClassificationScores {
	var all metric.Classification
	for i, class := range y {
		d := make(dist.Categorical, width)
		for j := range d {
			d[j] = float64(p[i*width+j])
		}
		all.Add(int(class), d, 1)
	}
	s := all.Scores()
	return &s
}
