package camera

import (
	"math"
	"testing"
)

func TestCheck(t *testing.T) {
	good := Camera{Offset: 100, Gain: 45, EM: 300, QE: 0.9, Read: 74.4}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for i, change := range []func(*Camera){
		func(c *Camera) { c.Gain = 0 }, func(c *Camera) { c.EM = 0.5 }, func(c *Camera) { c.QE = 1.1 },
		func(c *Camera) { c.Read = -1 }, func(c *Camera) { c.Offset = math.NaN() },
	} {
		c := good
		change(&c)
		if c.Check() == nil {
			t.Errorf("change %d is accepted", i)
		}
	}
}

// The numbers of the 2016 challenge: 45 e/ADU at EM gain 300 are 0.15 photoelectrons a count, the
// read noise 0.248 e; quanta are half of that.
func TestQuanta(t *testing.T) {
	c := Camera{Offset: 100, Gain: 45, EM: 300, QE: 0.9, Read: 74.4}
	frame := []float32{100, 300}
	c.Alike().Quanta(frame)
	if frame[0] != 0 || math.Abs(float64(frame[1])-15) > 1e-5 {
		t.Errorf("quanta %v, want 0 and 15", frame)
	}
	if got := math.Sqrt(c.ReadVariance()); math.Abs(got-0.124) > 1e-12 {
		t.Errorf("read noise %v quanta, want 0.124", got)
	}
	if got := float64(frame[1]) * c.Photons(); math.Abs(got-200*0.15/0.9) > 1e-4 {
		t.Errorf("%v photons, want %v", got, 200*0.15/0.9)
	}
	c.EM = 0
	if c.Scale() != 45 || c.Photons() != 1/0.9 {
		t.Errorf("without a register a count is %v quanta of %v photons", c.Scale(), c.Photons())
	}
}
