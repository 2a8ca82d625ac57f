package experiment

import (
	"cmp"

	"utvi/fn"
	"utvi/internal/localization"
	"utvi/moment"
	"utvi/nn"
)

// The outputs of the localisation network.
const (
	// locPhysics ends in the paper's chains: with g = Φ⁻¹∘sigmoid and a learned
	// scale a each, positions are 2·g(x/a), quantiles of their prior, and the
	// photon count is N_i + √N_i·g(x/a), N_i the count expected at the predicted
	// position.
	locPhysics = "physics"
	// locPlain ends in the last dense layer, as in the paper's comparison.
	locPlain = "plain"
	// locScaled is locPlain with photons counted in hundreds, so that all three
	// targets are of order one: what the plain network could do.
	locScaled = "scaled"
)

// net is the paper's network: a convolution of 3×3 with 8 features, 128 units,
// and three outputs x, y and photons. Trained by draws it has three more, the
// logarithms of the noise variances, which the chains carry along.
func (s LocalizationSpec) net() nn.Chain {
	rule, err := moment.Parse(s.Rule)
	outputs, outputsErr := moment.Parse(cmp.Or(s.OutputRule, s.Rule))
	if err != nil || outputsErr != nil {
		panic("experiment: a specification was not checked")
	}
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: rule}
	units := []float64{1, 1, 1}
	switch s.Outputs {
	case locPhysics:
		units[0], units[1] = emitterSpread, emitterSpread
	case locScaled:
		units[2] = emitterPhotons
	}
	if s.Draws > 0 {
		units = append(units, 2, 2, 2) // g alone is slow to reach ln 0.01
	}
	net := nn.Chain{nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, act, nn.Dense{Out: 128}, act, nn.Dense{Out: len(units)}}
	if s.Outputs == locPhysics {
		net = append(net, nn.Scale{}, nn.Apply{F: fn.NormalInverse(), Rule: outputs})
	}
	if s.Outputs != locPlain {
		net = append(net, nn.Multiply{By: units})
	}
	if s.Outputs == locPhysics {
		net = append(net, nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(emitterPhotons, emitterBlur, emitterSide), Joint: s.Joint})
	}
	if s.Correlated {
		return nn.Correlate(net)
	}
	return net
}
