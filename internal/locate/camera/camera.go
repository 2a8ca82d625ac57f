// Package camera turns the counts of a camera into photoelectrons and their variance.
package camera

import (
	"fmt"
	"math"
)

// A Camera says what its counts mean. The names are those of ThunderSTORM, Picasso and DECODE:
//
//	photoelectrons = (count − Offset)·Gain/EM
//	photons        = photoelectrons/QE
//
// The noise of a pixel is that of its photoelectrons, a Poisson number, whose variance an EM
// register doubles, and that of the read-out.
type Camera struct {
	Offset float64 `json:"offset"` // counts of a dark pixel: base level, baseline
	Gain   float64 `json:"gain"`   // photoelectrons per count: e/ADU, sensitivity
	// EM is the gain of the EM register; 0 is a camera without one. A register at gain 1 is not none.
	EM   float64 `json:"em_gain,omitempty"`
	QE   float64 `json:"qe"`         // quantum efficiency
	Read float64 `json:"read_noise"` // standard deviation of the read-out, in electrons behind the register
}

// Check says what cannot be.
func (c Camera) Check() error {
	for _, x := range []struct {
		name     string
		value    float64
		ok       bool
		shouldBe string
	}{
		{"Offset", c.Offset, math.Abs(c.Offset) < 1e9, "a finite number of counts"},
		{"Gain", c.Gain, c.Gain > 0 && c.Gain < 1e6, "above 0: photoelectrons for a count"},
		{"EM", c.EM, c.EM == 0 || c.EM >= 1 && c.EM < 1e5, "at least 1, or 0 for a camera without EM register"},
		{"QE", c.QE, c.QE > 0 && c.QE <= 1, "above 0 and at most 1"},
		{"Read", c.Read, c.Read >= 0 && c.Read < 1e6, "a standard deviation in electrons, 0 or more"},
	} {
		if !x.ok {
			return fmt.Errorf("the camera's %s is %g; it must be %s", x.name, x.value, x.shouldBe)
		}
	}
	return nil
}

// excess is by how much an EM register multiplies the variance.
func (c Camera) excess() float64 {
	if c.EM > 0 {
		return 2
	}
	return 1
}

func (c Camera) register() float64 { return max(1, c.EM) }

// Scale is how many quanta a count is. A quantum is a photoelectron, or two behind an EM register:
// there the variance of m photoelectrons is 2m, and that of their half m/2, as of Poisson numbers.
func (c Camera) Scale() float64 { return c.Gain / c.register() / c.excess() }

// ReadVariance is the variance of the read-out in quanta².
func (c Camera) ReadVariance() float64 {
	r := c.Read / c.register() / c.excess()
	return r * r
}

// Photons is how many photons a quantum stands for.
func (c Camera) Photons() float64 { return c.excess() / c.QE }
