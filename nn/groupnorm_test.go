package nn_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

func TestGroupNorms(t *testing.T) {
	in, o := nn.Shape{H: 2, W: 3, C: 4}, nntest.Options{Mean: 0.5, Entries: 12}
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	for _, l := range []nn.Layer{nn.GroupNorm{Groups: 2}, nn.InstanceNorm{Eps: 0.1}, nn.RMSNorm{Eps: 0.01}} {
		nntest.Layer(t, l, in, o)
		nntest.Layer(t, correlated(act, l, act, nn.Dense{Out: 2}), in, nntest.Options{Entries: 6})
	}
	nntest.Refuses(t, nn.GroupNorm{Groups: 3}, in, "3 groups of 4 channels; the number of channels must be a multiple of the number of groups")
	nntest.Refuses(t, nn.InstanceNorm{}, nn.Vec(4), "a group of the input 4 has one unit, which would become zero; a group needs at least 2")
	nntest.Refuses(t, nn.RMSNorm{Eps: -1}, in, "Eps is -1; it must be a number > 0, or 0 for 1e-5")
}

// A group is normalised like a row of its own.
func TestGroupNormByHand(t *testing.T) {
	x, v := []float64{1, 10, 100, 2, 30, 400, 4, 20, 500, 7, 70, 900}, make([]float64, 12)
	for i := range v {
		v[i] = 0.1 * float64(i+1)
	}
	out := pushShape(nn.GroupNorm{Groups: 3}, nn.Shape{H: 2, W: 2, C: 3}, x, v)
	for c := range 3 {
		var m, s []float64
		for i := c; i < 12; i += 3 {
			m, s = append(m, x[i]), append(s, v[i])
		}
		want := pushShape(nn.LayerNorm{}, nn.Vec(4), m, s)
		for i := range 4 {
			if at := 3*i + c; math.Abs(out.Mean[at]-want.Mean[i])+math.Abs(out.Var[at]-want.Var[i]) > 1e-12 {
				t.Errorf("channel %d, place %d: %v ± %v, want %v ± %v", c, i, out.Mean[at], out.Var[at], want.Mean[i], want.Var[i])
			}
		}
	}
	rms := pushShape(nn.RMSNorm{Eps: 1e-9}, nn.Vec(2), []float64{3, -1}, []float64{5, 1}) // τ² = (9 + 5 + 1 + 1)/2
	if math.Abs(rms.Mean[0]-3/math.Sqrt(8)) > 1e-8 || math.Abs(rms.Var[0]-5.0/8) > 1e-8 {
		t.Errorf("RMSNorm gives %v ± %v", rms.Mean, rms.Var)
	}
}

// With little variance first order is exact.
func TestGroupNormsAgainstDrawn(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	in := nn.Shape{H: 2, W: 2, C: 2}
	mean, variance := waves(8, 0.0004)
	for _, l := range []nn.Layer{nn.GroupNorm{Groups: 2}, nn.RMSNorm{}} {
		beatsIndependence(t, nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{2, 1}}, l, act, nn.Dense{Out: 2}}, in, 0.02, 0.02, mean, variance)
	}
}
