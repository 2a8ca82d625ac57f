package train

import (
	"errors"
	"fmt"

	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
)

// checkOutputs refuses networks whose outputs a likelihood would misread: every
// number of theirs can be scored, so nothing else would tell.
func checkOutputs(m *model.Model, l likelihood.Likelihood) error {
	switch l := l.(type) {
	case likelihood.Weighted:
		return checkOutputs(m, l.Of)
	case likelihood.Categorical:
		if endsLinear(m.Config.Layers) {
			return fmt.Errorf("train: likelihood %v takes outputs for probabilities: end the network in nn.Joint{Map: fn.Softmax()}", l)
		}
	case likelihood.Bernoulli:
		if endsLinear(m.Config.Layers) {
			return fmt.Errorf("train: likelihood %v takes outputs for probabilities: end the network in nn.Apply{F: fn.Sigmoid()}", l)
		}
	case likelihood.ExpectedNormal:
		if nn.Any(m.Config.Layers, isNoise) {
			return errors.New("train: likelihood expected normal has noise of its own: take nn.Noise out of the network, or score with likelihood.Normal")
		}
	}
	return nil
}

func isNoise(l nn.Layer) bool {
	n, ok := l.(nn.Noise)
	return ok && !n.Off
}

// endsLinear reports whether the outputs are weighted sums, which may be any
// number.
func endsLinear(l nn.Layer) bool {
	switch l := l.(type) {
	case nn.Chain:
		return endsLinear(l[len(l)-1])
	case nn.Dense, nn.Conv2D, nn.Conv1D:
		return true
	}
	return false
}
