// Package bayes turns a network that was trained elsewhere into a Bayesian one: a few
// epochs around the trained weights give it error bars. Rows that the epochs did not use score the
// network before and after, and say whether it has become worse.
package bayes

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"utvi/data"
	"utvi/gauss"
	"utvi/metric"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
)

// A Config says how a network is trained. The zero value is the default.
type Config struct {
	Scale   float64 // of the priors, beside the size of the weights; 0 means model.DefaultScale
	Last    int     // how many of the last layers with weights get error bars; 0 means all
	Epochs  int     // 0 means 60
	Batch   int     // 0 means 32
	Rate    float64 // learning rate at the start, falling to 0; 0 means 0.01
	Held    float64 // share of the rows that is only scored, unless there are rows of a test; 0 means 0.2
	Seed    uint64
	Workers int // 0 means all cores

	// Correlated carries correlations between units also where that is slow, and refuses
	// networks with layers that cannot. Otherwise networks with few outputs carry them, if
	// their layers can.
	Correlated bool

	// Progress, if set, is called after each step with its score.
	Progress func(step, steps int, nll float64)
}

func (c Config) orDefault() Config {
	c.Scale = cmp.Or(c.Scale, model.DefaultScale)
	c.Epochs = cmp.Or(c.Epochs, 60)
	c.Batch = cmp.Or(c.Batch, 32)
	c.Rate = cmp.Or(c.Rate, 0.01)
	c.Held = cmp.Or(c.Held, 0.2)
	return c
}

// Check reports invalid settings.
func (c Config) Check() error {
	d := c.orDefault()
	switch {
	case !(d.Scale > 0) || math.IsInf(d.Scale, 0):
		return fmt.Errorf("the scale of the priors is %v; it must be a number > 0", d.Scale)
	case d.Last < 0:
		return fmt.Errorf("the last %d layers are asked for; name a number ≥ 1, or 0 for all", d.Last)
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

	// Correlated says whether the network carries correlations between its units.
	Correlated bool

	// Before are the scores of the trained network. Its error bar for numbers is one for
	// all rows: the root mean square error on the rows of the training.
	Before, After               []metric.RegressionScores // one a target
	ClassesBefore, ClassesAfter *metric.ClassificationScores

	// Gain is how much larger the log-likelihood of a held row became, in the mean. The
	// trained network is given the error bar, one a target, or the temperature of its
	// classes that suit these very rows best: more than anyone can know beforehand.
	Gain metric.Score
}

// Worse reports whether the rows that were held out say that the network lost by becoming
// Bayesian: by more than two standard errors, which chance alone hardly explains.
func (r *Result) Worse() bool { return !(r.Gain.Value >= -2*r.Gain.SE) }

// Train makes a network of numbers Bayesian. Rows of numbers have as many targets as the
// network has outputs; classes have one target, the index of the class. test are rows that are
// only scored; if nil, a share of the rows is held out. Rows that the network was trained with
// flatter it: it has learned them by heart.
func Train(ctx context.Context, trained *model.Model, rows data.Set, test *data.Set, c Config) (*Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c = c.orDefault()
	if err := rows.Check(); err != nil {
		return nil, err
	}
	if trained.Inputs() != rows.X.Width {
		return nil, fmt.Errorf("the rows have %d inputs; the network needs %s", rows.X.Width, needed(trained))
	}
	k, err := taskOf(trained, rows)
	if err != nil {
		return nil, err
	}
	fitted, held, err := c.part(trained, rows, test)
	if err != nil {
		return nil, err
	}
	r := &Result{Trained: fitted.X.Rows, Held: held.X.Rows}
	b := k.before(r, trained, fitted, held)
	r.Net, err = c.around(trained, k)
	if err != nil {
		return nil, err
	}
	k.named(r.Net)
	r.Correlated = carries(r.Net)
	if b.start != nil {
		start(r.Net, b.start)
	}
	if err := c.train(ctx, r.Net, k, fitted); err != nil {
		return nil, err
	}
	return r, k.after(r, held, b.best)
}

// around returns the network with Normals as weights. It carries correlations if it must, or if
// it can and has few outputs: a layer in the middle may not carry them.
func (c Config) around(trained *model.Model, k task) (*model.Model, error) {
	a := model.Around{Scale: c.Scale, Last: c.Last, Finish: k.finish}
	a.Correlated = c.Correlated || trained.Outputs() <= mostFollowed
	n, err := trained.Around(a)
	if err != nil && a.Correlated && !c.Correlated {
		a.Correlated = false
		return trained.Around(a)
	}
	return n, err
}

func carries(n *model.Model) bool {
	return nn.Any(n.Config.Layers, func(l nn.Layer) bool { _, ok := l.(nn.Correlated); return ok })
}

// part returns the rows to train with and those to score: the rows of a test, or a share of all.
func (c Config) part(n *model.Model, rows data.Set, test *data.Set) (fitted, held data.Set, err error) {
	if test == nil {
		fitted, held = split(rows, c.Held, c.Seed)
	} else {
		fitted = rows
		held = *test
		if held.X.Width != rows.X.Width || held.Outputs() != rows.Outputs() {
			return fitted, held, fmt.Errorf("the rows of the test have %d inputs and %d targets, the others %d and %d", held.X.Width, held.Outputs(), rows.X.Width, rows.Outputs())
		}
		if _, err := taskOf(n, held); err != nil {
			return fitted, held, fmt.Errorf("the rows of the test: %w", err)
		}
	}
	if fitted.X.Rows < 1 || held.X.Rows < 1 {
		return fitted, held, fmt.Errorf("%d rows; at least a few are needed to train and to score", rows.X.Rows)
	}
	return fitted, held, nil
}

// needed is the number of a network's inputs, and the size of an image.
func needed(n *model.Model) string {
	if in := n.Config.Input; in.H*in.W > 1 {
		return fmt.Sprintf("%d: images of %v, height × width × channels", n.Inputs(), in)
	}
	return fmt.Sprint(n.Inputs())
}

// mostFollowed is the largest number of outputs whose correlations are carried unasked: each
// costs about a backward pass.
const mostFollowed = 4

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
