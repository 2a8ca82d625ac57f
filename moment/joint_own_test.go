package moment_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/moment"
	"utvi/rng"
)

// sums is the map y = Σ x with its own moments, which count their calls.
type sums struct{ pushed, pulled int }

func (s *sums) Push(mean, variance, outMean, outVar []float64) {
	s.pushed++
	outMean[0], outVar[0] = 0, 0
	for i, m := range mean {
		outMean[0] += m
		outVar[0] += variance[i]
	}
}

func (s *sums) Pull(_, _, gm, gv, dm, dv []float64) {
	s.pulled++
	for i := range dm {
		dm[i], dv[i] = gm[0], gv[0]
	}
}

func sumMap(own *sums) *moment.Map {
	m := &moment.Map{Name: "sum", Out: 1, F: func(x, y []float64) {
		y[0] = 0
		for _, x := range x {
			y[0] += x
		}
	}}
	if own != nil {
		m.ClosedForm = func(int) moment.ClosedForm { return own }
	}
	return m
}

// A map's own moments are taken where they are asked for, and by default.
func TestJointOwn(t *testing.T) {
	own := new(sums)
	m := sumMap(own)
	rule := moment.DefaultJoint(m, 3)
	if rule.String() != "own" || rule.Draws() || rule.Check(m, 3) != nil {
		t.Fatalf("%v: %v", rule, rule.Check(m, 3))
	}
	tile := moment.NewJointTile(m, rule, 3)
	om := make([]float64, 1)
	ov := make([]float64, 1)
	dm := make([]float64, 3)
	dv := make([]float64, 3)
	tile.Push([]float64{1, 2, 3}, []float64{4, 5, 6}, om, ov)
	tile.Pull([]float64{1, 2, 3}, []float64{4, 5, 6}, []float64{7}, []float64{8}, dm, dv)
	if om[0] != 6 || ov[0] != 15 || dm[2] != 7 || dv[0] != 8 || own.pushed != 1 || own.pulled != 1 {
		t.Errorf("%v ± %v, gradients %v %v, %+v", om, ov, dm, dv, own)
	}
	if parsed, err := moment.ParseJoint("own"); err != nil || parsed != rule {
		t.Errorf("own is parsed as %v, %v", parsed, err)
	}
	if err := rule.Check(sumMap(own), 0); err == nil {
		t.Error("no inputs were accepted")
	}
	if _, _, err := moment.JointAt(m, rule, []float64{1}, []float64{1}, rng.Key{}); err == nil || !strings.Contains(err.Error(), "gives variances and no covariances") {
		t.Errorf("covariances by own moments: %v", err)
	}
}

func TestDefaultJoint(t *testing.T) {
	for d, want := range map[int]string{1: "fifth", 10: "fifth", 11: "axes(3)"} {
		if got := moment.DefaultJoint(sumMap(nil), d).String(); got != want {
			t.Errorf("%d inputs: %s, want %s", d, got, want)
		}
	}
	if moment.DefaultJoint(nil, 3).Check(nil, 3) == nil {
		t.Error("no map was accepted")
	}
}

// Fixed inputs give F, and the gradient by its slopes.
func TestJointFixed(t *testing.T) {
	for _, vjp := range []bool{true, false} {
		m := bump()
		if !vjp {
			m.VJP = nil
		}
		tile := moment.NewJointTile(m, moment.JointFifth(), 3)
		x := []float64{0.4, -0.7, 0.3}
		y := make([]float64, 2)
		want := make([]float64, 2)
		dx := make([]float64, 3)
		slopes := make([]float64, 3)
		dy := []float64{0.7, -1.1}
		m.F(x, want)
		bump().VJP(x, dy, slopes)
		tile.Fixed(x, y, nil, nil)
		if !slices.Equal(y, want) {
			t.Errorf("%v, want %v", y, want)
		}
		tile.Fixed(x, y, dy, dx)
		for i := range dx {
			closeTo(t, "slope", dx[i], slopes[i], 1e-9)
		}
		if !slices.Equal(x, []float64{0.4, -0.7, 0.3}) {
			t.Errorf("the inputs became %v", x)
		}
	}
}

func TestMapCheck(t *testing.T) {
	f := func(x, y []float64) {}
	for want, c := range map[string]struct {
		m *moment.Map
		d int
	}{
		"the map has -1 inputs and 0 outputs": {&moment.Map{In: -1, F: f}, 3},
		"pair has 0 inputs and -2 outputs":    {&moment.Map{Name: "pair", Out: -2, F: f}, 3},
		"the map takes 1 inputs, not 0":       {&moment.Map{F: f}, 0},
		"pair takes 2 inputs, not ":           {&moment.Map{Name: "pair", In: 2, F: f}, 1},
	} {
		if err := c.m.Check(c.d); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if m := (&moment.Map{F: f}); m.Outputs(7) != 7 || m.Check(1) != nil {
		t.Errorf("%d outputs of 7 inputs, %v", m.Outputs(7), m.Check(1))
	}
	if m := (&moment.Map{F: f, Out: 2}); m.Outputs(7) != 2 {
		t.Errorf("%d outputs, want 2", m.Outputs(7))
	}
}

// A negative variance, which weights of both signs can give, takes its covariances
// with it.
func TestJointNegativeCovariance(t *testing.T) {
	const d = 12
	m := &moment.Map{Out: 2, F: func(x, y []float64) {
		y[0], y[1] = 0, x[0]
		for _, x := range x {
			y[0] += math.Abs(x)
		}
	}}
	mean, v := make([]float64, d), make([]float64, d)
	for i := range v {
		mean[i], v[i] = 0.1, 1
	}
	_, cov, err := moment.JointAt(m, moment.JointUTGauss(), mean, v, rng.Key{})
	if err != nil || cov[0] != 0 || cov[1] != 0 || cov[2] != 0 || math.Abs(cov[3]-1) > 1e-12 {
		t.Errorf("the covariance is %v, %v", cov, err)
	}
	_, cov, _ = moment.JointAt(m, moment.JointAxes(3), mean, v, rng.Key{})
	if !(cov[0] > 0) || math.Abs(cov[1]-0.1/math.Sqrt(3)) > 1e-12 || math.Abs(cov[1]-cov[2]) > 1e-15 {
		t.Errorf("the covariance by axes is %v", cov)
	}
}
