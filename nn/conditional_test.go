package nn_test

import (
	"fmt"
	"math"
	"testing"

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
	photon := nn.PhotonNode(3, 1.05, 3)
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
	l := nn.Conditional{Target: 2, Given: []int{0, 1}, Location: nn.PhotonNode(100, 1.05, 8), Joint: true, Rule: moment.JointGH(9)}
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

// TestPhotonNode: N_i as in the table of Cramér–Rao bounds, σ²/N_i.
func TestPhotonNode(t *testing.T) {
	node := nn.PhotonNode(100, 1.05, 8)
	y := make([]float64, 2)
	for at, want := range map[[2]float64]float64{{0, 0}: 0.01103, {2, 0}: 0.01135, {3.5, 0.5}: 0.01615, {-3.5, 3.5}: 0.02363} {
		node.F(at[:], y)
		if got := 1.05 * 1.05 / y[0]; math.Abs(got-want) > 6e-6 || y[1] != math.Sqrt(y[0]) {
			t.Errorf("at %v the bound is %.5f, want %.5f", at, got, want)
		}
	}
	dx := []float64{1, 1}
	node.F([]float64{30, 0}, y)
	node.VJP([]float64{30, 0}, []float64{1, 1}, dx)
	if y[0] != 1e-3 || dx[0] != 0 || dx[1] != 0 {
		t.Errorf("far outside: %v, gradient %v", y, dx)
	}
}

func TestNamedLocation(t *testing.T) {
	want := nn.PhotonNode(100, 1.0/3, 8e-7)
	if got, err := nn.NamedLocation(want.Name); err != nil || got.Name != want.Name {
		t.Errorf("%q was found as %v, %v", want.Name, got, err)
	}
	for _, name := range []string{"", "photon-node", "photon-node(1,2)", "photon-node(1,2,3", "photon-node(1,-2,3)", "photon-node(1,2,3,4)", "photon-node(1,2,NaN)"} {
		if _, err := nn.NamedLocation(name); err == nil {
			t.Errorf("%q was found", name)
		}
	}
}

// A node that could be saved but not loaded is not made.
func TestPhotonNodeRefuses(t *testing.T) {
	for _, x := range [][3]float64{{-1, 1, 8}, {100, 0, 8}, {100, 1, math.NaN()}, {math.Inf(1), 1, 8}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was taken", x)
				}
			}()
			nn.PhotonNode(x[0], x[1], x[2])
		}()
	}
}

func TestConditionalRefuses(t *testing.T) {
	photon := nn.PhotonNode(100, 1, 8)
	nntest.Refuses(t, nn.Conditional{Target: 2, Given: []int{0, 1}}, nn.Vec(3), "no Location; set nn.Conditional.Location")
	nntest.Refuses(t, nn.Conditional{Target: 2, Location: photon}, nn.Vec(3), "no Given units; name at least one unit that the target depends on")
	nntest.Refuses(t, nn.Conditional{Target: 2, Given: []int{0}, Location: photon}, nn.Vec(3), "photon-node(100,1,8) takes 2 inputs, not 1")
	nntest.Refuses(t, nn.Conditional{Target: 3, Given: []int{0, 1}, Location: photon}, nn.Vec(3), "there is no unit 3; the input has units 0 to 2")
	nntest.Refuses(t, nn.Conditional{Target: 1, Given: []int{0, 1}, Location: photon}, nn.Vec(3), "unit 1 is used twice; the target and the given units must all be different")
	one := &moment.Map{Out: 1, F: func(x, y []float64) {}}
	nntest.Refuses(t, nn.Conditional{Target: 1, Given: []int{0}, Location: one}, nn.Vec(3), "the Location returns 1 numbers; it must return 2, a location and a scale")
}

func ExamplePhotonNode() {
	l := nn.Conditional{Target: 2, Given: []int{0, 1}, Location: nn.PhotonNode(100, 1.05, 8)}
	out := pushRow(l, []float64{3.5, 0.5, 0}, []float64{0.02, 0.02, 1})
	fmt.Printf("%.1f ± %.1f photons\n", out.Mean[2], math.Sqrt(out.Var[2]))
	l.Joint = true
	out = pushRow(l, []float64{3.5, 0.5, 0}, []float64{0.02, 0.02, 1})
	fmt.Printf("%.1f ± %.1f photons\n", out.Mean[2], math.Sqrt(out.Var[2]))
	// Output:
	// 68.3 ± 8.3 photons
	// 68.1 ± 9.5 photons
}
