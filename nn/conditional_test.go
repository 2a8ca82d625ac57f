package nn_test

import (
	"math"
	"testing"

	"utvi/internal/localization"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

func blindLocation() *moment.Map {
	return &moment.Map{Name: "wave", In: 1, Out: 2, F: func(x, y []float64) {
		y[0], y[1] = math.Sin(x[0]), math.Exp(0.4*x[0])
	}}
}

func TestConditional(t *testing.T) {
	photon := localization.PhotonNode(3, 1.05, 3)
	for name, l := range map[string]nn.Conditional{
		"photon":       {Target: 2, Given: []int{0, 1}, Location: photon},
		"photon joint": {Target: 2, Given: []int{3, 0}, Location: photon, Joint: true},
		"no VJP":       {Target: 0, Given: []int{2}, Location: blindLocation()},
		"no VJP joint": {Target: 0, Given: []int{2}, Location: blindLocation(), Joint: true, Rule: moment.JointGH(5)},
		"joint draws":  {Target: 1, Given: []int{3}, Location: blindLocation(), Joint: true, Rule: moment.JointMC(8)},
	} {
		t.Run(name, func(t *testing.T) { nntest.Layer(t, l, nn.Vec(4), nntest.Options{}) })
	}
	t.Run("in a chain", func(t *testing.T) {
		nntest.Layer(t, nn.Chain{nn.Dense{Out: 3}, nn.Conditional{Target: 2, Given: []int{0, 1}, Location: photon}}, nn.Vec(2), nntest.Options{})
	})
}

// TestConditionalMoments: Joint carries the variance of the position into the
// count, and agrees with sampling; the plain form holds for a known position.
func TestConditionalMoments(t *testing.T) {
	l := nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8), Joint: true, Rule: moment.JointGH(9)}
	count := func(x []float64, _ float64, y []float64) {
		var at [2]float64
		l.Location.F(x[:2], at[:])
		y[0] = at[0] + at[1]*x[2]
	}
	mean, variance := []float64{3.1, -2.7, 0.2}, []float64{0.2, 0.35, 0.8}
	m, v := sampleRow(mean, variance, 1, count)
	out := pushRow(l, mean, variance)
	agrees(t, "joint, 9³ points", out.Mean[2], out.Var[2], m[0], v[0], 0)
	if out.Mean[0] != 3.1 || out.Var[1] != 0.35 {
		t.Errorf("the position became %v", out)
	}
	l.Rule = nil
	out = pushRow(l, mean, variance)
	agrees(t, "joint, default", out.Mean[2], out.Var[2], m[0], v[0], 0.03)

	l.Joint = false
	plain := pushRow(l, mean, variance)
	if plain.Var[2] > v[0]/2 {
		t.Errorf("the plain variance %v is not below the true %v, which knows the position's", plain.Var[2], v[0])
	}
	variance[0], variance[1] = 0, 0
	m, v = sampleRow(mean, variance, 1, count)
	agrees(t, "known position", plain.Mean[2], plain.Var[2], m[0], v[0], 0)
}

func TestConditionalRefuses(t *testing.T) {
	photon := localization.PhotonNode(100, 1, 8)
	nntest.Refuses(t, nn.Conditional{Target: 2, Given: []int{0, 1}}, nn.Vec(3), "no Location; set nn.Conditional.Location")
	nntest.Refuses(t, nn.Conditional{Target: 2, Location: photon}, nn.Vec(3), "no Given units; name at least one unit that the target depends on")
	nntest.Refuses(t, nn.Conditional{Target: 2, Given: []int{0}, Location: photon}, nn.Vec(3), "photon-node(100,1,8) takes 2 inputs, not 1")
	nntest.Refuses(t, nn.Conditional{Target: 3, Given: []int{0, 1}, Location: photon}, nn.Vec(3), "there is no unit 3; the input has units 0 to 2")
	nntest.Refuses(t, nn.Conditional{Target: 1, Given: []int{0, 1}, Location: photon}, nn.Vec(3), "unit 1 is used twice; the target and the given units must all be different")
	one := &moment.Map{Out: 1, F: func(x, y []float64) {}}
	nntest.Refuses(t, nn.Conditional{Target: 1, Given: []int{0}, Location: one}, nn.Vec(3), "the Location returns 1 numbers; it must return 2, a location and a scale")
}
