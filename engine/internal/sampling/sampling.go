// Package sampling is what engines agree on when they train with drawn weights, so that the same seed
// draws the same networks on each.
package sampling

import (
	"errors"
	"fmt"

	"utvi/likelihood"
	"utvi/nn"
	"utvi/vi"
)

// Layer is the first number of the streams for draws, above those of the layers.
const Layer = 1 << 31

// Piece is how many weights of a tensor are drawn together: the ε of a weight depends on it.
const Piece = 4096

// Check reports why a network with numbers for weights, whose parameters are drawn and
// whose outputs have the given form, cannot stand for one with the parameters p.
func Check(drawn, p *vi.Params[float32], form nn.Form, l likelihood.Likelihood) error {
	if l.NeedsVariance() && form == nn.Fixed {
		return fmt.Errorf("a network with drawn weights predicts numbers, but the %v likelihood needs a variance: end the network with nn.Noise, or learn the noise with likelihood.Heteroscedastic", l)
	}
	if len(drawn.Tensors) != len(p.Tensors) {
		return errors.New("the weights cannot be drawn: with fixed weights, the network has other parameters")
	}
	for i, x := range p.Tensors {
		if d := drawn.Tensors[i]; d.Random || d.Name != x.Name || d.Len() != x.Len() {
			return fmt.Errorf("the weights cannot be drawn: with fixed weights, the network has no tensor in place of %s", x.Name)
		}
	}
	return nil
}
