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
	case nn.Dense, nn.Conv2D, nn.Conv1D, nn.ConvTranspose2D, nn.ConvTranspose1D:
		return true
	}
	return false
}
