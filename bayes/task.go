package bayes

import (
	"errors"
	"fmt"
	"math"

	"utvi/data"
	"utvi/dist"
	"utvi/fn"
	"utvi/internal/special"
	"utvi/likelihood"
	"utvi/metric"
	"utvi/model"
	"utvi/nn"
)

// A task is what the outputs mean.
type task struct {
	classes    bool
	softmax    bool // the network gives logits: a softmax is added
	log        bool // the network gives logarithms of probabilities: it gets probabilities instead
	likelihood likelihood.Likelihood
}

// taskOf decides what the network predicts: classes, if it has several outputs for one
// target or ends with a softmax, else numbers.
func taskOf(n *model.Model, rows data.Set) (task, error) {
	steps := n.Graph().Steps()
	last := steps[len(steps)-1].Layer
	is := func(l nn.Layer, name string) bool { j, ok := l.(nn.Joint); return ok && j.Map.Name == name }
	k := task{likelihood: likelihood.Normal{}}
	switch {
	case is(last, "softmax"):
		k.classes = true
	case is(last, "log_softmax"):
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
			return k, fmt.Errorf("the class of row %d is %v; the network has the classes 0 to %d", i+1, y, n.Outputs()-1)
		}
	}
	return k, nil
}

// finish changes the end of the imported layers: probabilities for classes, noise for
// numbers.
func (k task) finish(noise bool) func(nn.Chain) nn.Chain {
	return func(l nn.Chain) nn.Chain {
		switch {
		case k.log:
			return append(l[:len(l)-1], nn.Joint{Map: fn.Softmax()})
		case k.softmax:
			return append(l, nn.Joint{Map: fn.Softmax()})
		case !k.classes && noise:
			return append(l, nn.Noise{})
		}
		return l
	}
}

// start sets the noise of the network, its last tensor, to a standard deviation for each
// target, because targets may have different units.
func start(n *model.Model, noise []float64) {
	t := n.Params.Tensors[len(n.Params.Tensors)-1]
	for i, s := range noise {
		t.Mean[i] = float32(special.SoftplusInverse(s))
	}
	n.Changed()
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
	// Noise starts at least at a millionth of the target's size, if the network hits all rows.
	for j := range spread {
		var size float64
		for i := j; i < len(fitted.Y); i += m {
			size = max(size, math.Abs(float64(fitted.Y[i])))
		}
		spread[j] = max(spread[j], 1e-6*size)
	}
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
