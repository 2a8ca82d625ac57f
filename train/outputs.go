package train

import (
	"fmt"

	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
)

// checkOutputs refuses networks whose outputs the likelihood would misread. Such
// outputs can be scored without any error, so nothing else would notice.
func checkOutputs(m *model.Model, l likelihood.Likelihood) error {
	reads := likelihood.Describe(l)
	switch inner := likelihood.Inner(l); {
	case reads.Ends != "" && endsLinear(m.Config.Layers):
		return fmt.Errorf("train: likelihood %v needs probabilities as outputs: end the network with %s", inner, reads.Ends)
	case reads.NoNoiseLayer && nn.Any(m.Config.Layers, isNoise):
		return fmt.Errorf("train: likelihood %v already contains the noise: remove nn.Noise from the network, or use likelihood.Normal", inner)
	}
	return checkPlaces(m.Graph().Out, l)
}

// checkPlaces refuses images of several channels whose outputs the likelihood takes together:
// it reads a row as one list, where the channels of a place follow each other.
func checkPlaces(out nn.Shape, l likelihood.Likelihood) error {
	targets, err := l.Targets(out.Size())
	if err != nil || targets == out.Size() || out.H*out.W == 1 || out.C == 1 {
		return nil // other messages are about wrong numbers of outputs
	}
	return fmt.Errorf("train: likelihood %v reads the outputs of a row as one list, but the network ends with %d×%d places of %d channels, which alternate in it: end it with a vector, such as nn.Dense makes, or with nn.Flatten if the order is meant",
		likelihood.Inner(l), out.H, out.W, out.C)
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
	case nn.Dense, nn.Conv2D, nn.Conv1D, nn.ConvTranspose2D, nn.ConvTranspose1D:
		return true
	}
	return false
}
