// Package bayes turns a network that was trained elsewhere into a Bayesian one: a few
// epochs around the trained weights give it error bars. It scores the network before and
// after, on rows that the epochs did not use.
package bayes

import (
	"context"
	"fmt"
	"math"

	"utvi/data"
	"utvi/gauss"
	"utvi/metric"
	"utvi/model"
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
// make its error bars look better than they are. Networks with up to 32 outputs carry
// correlations between their units if all their layers can, others only if the options say
// so.
func Train(ctx context.Context, load Loader, o importer.Options, rows data.Set, test *data.Set, c Config) (*Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c = c.orDefault()
	if err := rows.Check(); err != nil {
		return nil, err
	}
	correlated := o.Correlated
	o.Random = false
	o.Correlated = false
	point, err := load(o)
	if err != nil {
		return nil, err
	}
	if point.Inputs() != rows.X.Width {
		return nil, fmt.Errorf("the rows have %d inputs; the network needs %s", rows.X.Width, needed(point))
	}
	k, err := taskOf(point, rows)
	if err != nil {
		return nil, err
	}
	fitted, held, err := c.part(point, rows, test)
	if err != nil {
		return nil, err
	}
	r := &Result{Trained: fitted.X.Rows, Held: held.X.Rows}
	o.Finish = k.finish(false)
	point, err = load(o)
	if err != nil {
		return nil, err
	}
	spread := k.before(r, point, fitted, held)
	o.Finish = k.finish(true)
	r.Net, err = loadRandom(load, o, correlated, point.Outputs())
	if err != nil {
		return nil, err
	}
	if spread != nil {
		start(r.Net, spread)
	}
	if err := c.train(ctx, r.Net, k, fitted); err != nil {
		return nil, err
	}
	return r, k.after(r, held)
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

// loadRandom loads the network with Normals as weights. It carries correlations if it must, or if
// it can and has few outputs: a layer in the middle may not carry them.
func loadRandom(load Loader, o importer.Options, must bool, outputs int) (*model.Model, error) {
	o.Random = true
	o.Correlated = must || outputs <= mostFollowed
	n, err := load(o)
	if err != nil && !must {
		o.Correlated = false
		return load(o)
	}
	return n, err
}

// needed is the number of a network's inputs, and the size of an image.
func needed(n *model.Model) string {
	if in := n.Config.Input; in.H*in.W > 1 {
		return fmt.Sprintf("%d: images of %v, height × width × channels", n.Inputs(), in)
	}
	return fmt.Sprint(n.Inputs())
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
	opt.Rate = optim.Cosine(c.Rate, steps)
	opt.Decay = 0
	opt.Clip = 10
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
