package bayes

import (
	"errors"
	"fmt"
	"maps"

	"utvi/data"
	"utvi/fn"
	"utvi/internal/onnx"
	"utvi/internal/special"
	"utvi/likelihood"
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

// finish changes the end of the trained layers: probabilities for classes, noise for
// numbers.
func (k task) finish(l nn.Chain) nn.Chain {
	switch {
	case k.log:
		return append(l[:len(l)-1:len(l)-1], nn.Joint{Map: fn.Softmax()})
	case k.softmax:
		return append(l[:len(l):len(l)], nn.Joint{Map: fn.Softmax()})
	case !k.classes:
		return append(l[:len(l):len(l)], nn.Noise{})
	}
	return l
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

// named says that the outputs of an imported network have become probabilities, if they have.
func (k task) named(n *model.Model) {
	s := onnx.ParseSignature(n.Facts.More[onnx.SignatureFact])
	if s == nil || !k.softmax && !k.log {
		return
	}
	s.Outputs[0].Name = "probabilities"
	n.Facts.More = maps.Clone(n.Facts.More)
	n.Facts.More[onnx.SignatureFact] = s.Text()
}
