package moment_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/moment"
	"utvi/rng"
)

// bump couples three inputs to two outputs.
func bump() *moment.Map {
	return &moment.Map{Name: "bump", In: 3, Out: 2, F: func(x, y []float64) {
		y[0] = math.Tanh(x[0]*x[1] + x[2])
		y[1] = math.Exp(0.3*x[0]) + x[1]*x[2]
	}, VJP: func(x, dy, dx []float64) {
		t := math.Tanh(x[0]*x[1] + x[2])
		s := dy[0] * (1 - t*t)
		dx[0] = s*x[1] + dy[1]*0.3*math.Exp(0.3*x[0])
		dx[1] = s*x[0] + dy[1]*x[2]
		dx[2] = s + dy[1]*x[1]
	}}
}

func jointRules() []moment.JointRule {
	return []moment.JointRule{
		moment.JointUT(0), moment.JointUT(2), moment.JointUTGauss(), moment.JointAxes(3), moment.JointAxes(7),
		moment.JointGH(4), moment.JointFifth(), moment.JointMC(7),
	}
}

// TestJointNodes: weights, means and covariances of the points are those of the
// standard Normal, and fourth moments too where the rule promises it.
func TestJointNodes(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5} {
		z := make([]float64, d)
		for _, rule := range jointRules() {
			if rule.Draws() {
				continue
			}
			var first, second, fourth, mixed float64
			for p := range rule.Points(d) {
				w := rule.Node(d, p, z)
				a, b := z[0], z[d-1]
				first += w * (a + b)
				second += w * a * a
				fourth += w * a * a * a * a
				mixed += w * a * a * b * b
			}
			what := fmt.Sprintf("%v in %d dimensions: ", rule, d)
			closeTo(t, what+"mean", first, 0, 1e-13)
			closeTo(t, what+"variance", second, 1, 1e-13)
			switch rule.String() {
			case "joint-ut(3-d)", "axes(3)", "axes(7)", "fifth", "joint-gh(4)":
				closeTo(t, what+"fourth moment", fourth, 3, 1e-12)
			case "joint-ut(2)":
				closeTo(t, what+"fourth moment", fourth, float64(d)+2, 1e-12)
			}
			if s := rule.String(); d > 1 && (s == "fifth" || s == "joint-gh(4)") {
				closeTo(t, what+"mixed moment", mixed, 1, 1e-12)
			}
		}
	}
}

func closeTo(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s is %.15g, want %.15g", what, got, want)
	}
}

// TestJointMoments compares with joint sampling: 4·10⁵ draws, 5 standard errors
// and, for the rules that are not exact, the error stated here.
func TestJointMoments(t *testing.T) {
	m := bump()
	mean, cov := []float64{0.4, -0.7, 0.3}, []float64{0.09, 0.06, 0.3}
	truth, truthCov, err := moment.JointAt(m, moment.JointMC(400_000), mean, cov, rng.New(3))
	if err != nil {
		t.Fatal(err)
	}
	for name, tol := range map[string][2]float64{
		"joint-gh(7)": {0, 0.004}, "fifth": {0.001, 0.05}, "axes(5)": {0.01, 0.12}, "joint-ut(3-d)": {0.01, 0.12}, "joint-ut(2)": {0.012, 0.16},
	} {
		rule, err := moment.ParseJoint(name)
		if err != nil || rule.String() != name {
			t.Fatal(rule, err)
		}
		got, gotCov, _ := moment.JointAt(m, rule, mean, cov, rng.Key{})
		for j := range got {
			se := 5 * math.Sqrt(truthCov[3*j]/400_000)
			closeTo(t, fmt.Sprint(name, ": mean ", j), got[j], truth[j], tol[0]+se)
			if e := math.Abs(gotCov[3*j]/truthCov[3*j] - 1); e > tol[1]+0.011 {
				t.Errorf("%s: variance %d is %g, sampling gives %g (off by %.2g)", name, j, gotCov[3*j], truthCov[3*j], e)
			}
		}
	}
}

// TestJointLinear: every rule of points is exact for a linear map of correlated
// inputs, whose covariance is A·C·Aᵀ.
func TestJointLinear(t *testing.T) {
	m := &moment.Map{In: 3, Out: 2, F: func(x, y []float64) {
		y[0], y[1] = 1+2*x[0]-x[1], 0.5*x[1]+3*x[2]
	}}
	cov := []float64{2, 0.6, -0.3, 0.6, 1, 0.2, -0.3, 0.2, 0.5}
	for _, rule := range jointRules() {
		if rule.Draws() {
			continue
		}
		mean, out, err := moment.JointAt(m, rule, []float64{1, -2, 0.5}, cov, rng.Key{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{5, 0.5} {
			closeTo(t, fmt.Sprint(rule, " mean"), mean[i], want, 1e-13)
		}
		// Var y₀ = 4·2 + 1 − 4·0.6; Cov = 0.6 − 1.8 − 0.5 − 0.6; Var y₁ = 0.25 + 4.5 + 0.6.
		for i, want := range []float64{6.6, -2.3, -2.3, 5.35} {
			closeTo(t, fmt.Sprint(rule, " covariance"), out[i], want, 1e-13)
		}
	}
}

// TestJointGradients compares Pull with differences of Push.
func TestJointGradients(t *testing.T) {
	smooth := bump()
	blind := bump()
	blind.VJP = nil
	for _, m := range []*moment.Map{smooth, blind} {
		for _, rule := range jointRules() {
			tile := moment.NewJointTile(m, rule, 3)
			mean, v := []float64{0.4, -0.7, 0.3}, []float64{0.5, 0.2, 0.8}
			gm, gv := []float64{0.7, -1.1}, []float64{1.3, 0.4}
			dm, dv := make([]float64, 3), make([]float64, 3)
			tile.Pull(mean, v, gm, gv, dm, dv)
			om, ov := make([]float64, 2), make([]float64, 2)
			loss := func() float64 {
				tile.Push(mean, v, om, ov)
				return gm[0]*om[0] + gm[1]*om[1] + gv[0]*ov[0] + gv[1]*ov[1]
			}
			check := func(what string, x, g []float64) {
				for i, x0 := range x {
					h := 1e-5
					x[i] = x0 + h
					hi := loss()
					x[i] = x0 - h
					lo := loss()
					x[i] = x0
					closeTo(t, fmt.Sprintf("%v ∂/∂%s[%d]", rule, what, i), g[i], (hi-lo)/(2*h), 2e-8)
				}
			}
			check("mean", mean, dm)
			check("variance", v, dv)
		}
	}
}

// TestJointZeroVariance: where an input is certain, its variance gradient is
// the limit, with and without a VJP; all certain, the result is F.
func TestJointZeroVariance(t *testing.T) {
	square := func(vjp bool) *moment.Map {
		m := &moment.Map{In: 2, Out: 1, F: func(x, y []float64) { y[0] = x[0]*x[0] + x[0]*x[1] }}
		if vjp {
			m.VJP = func(x, dy, dx []float64) { dx[0], dx[1] = dy[0]*(2*x[0]+x[1]), dy[0]*x[0] }
		}
		return m
	}
	for _, vjp := range []bool{true, false} {
		for _, rule := range jointRules() {
			tile := moment.NewJointTile(square(vjp), rule, 2)
			om, ov := []float64{0}, []float64{0}
			x := []float64{1.5, -0.5}
			tile.Push(x, []float64{0, 0}, om, ov)
			if om[0] != 1.5 || ov[0] != 0 {
				t.Errorf("%v: certain inputs give %v, %v", rule, om, ov)
			}
			dm, dv := make([]float64, 2), make([]float64, 2)
			tile.Pull(x, []float64{0, 0}, []float64{1}, []float64{1}, dm, dv)
			closeTo(t, fmt.Sprint(rule, " ∂/∂m"), dm[0], 2.5, 1e-5)
			if rule.Draws() {
				closeTo(t, fmt.Sprint(rule, " ∂/∂v"), dv[0], 0, 0)
				continue
			}
			closeTo(t, fmt.Sprint(rule, " ∂/∂v₀"), dv[0], 1+2.5*2.5, 1e-4)
			closeTo(t, fmt.Sprint(rule, " ∂/∂v₁"), dv[1], 1.5*1.5, 1e-4)
		}
	}
}

// TestJointSmallVariance: the gradient by a variance of zero comes from differences
// of slopes. They are narrow where the map has slopes of its own, and wider where
// those are differences too.
func TestJointSmallVariance(t *testing.T) {
	worst := func(m *moment.Map, want func(x float64) float64) (e float64) {
		tile := moment.NewJointTile(m, moment.JointUTGauss(), 1)
		dm, dv := make([]float64, 1), make([]float64, 1)
		for x := 0.1; x < 2; x += 0.01 {
			tile.Pull([]float64{x}, []float64{0}, []float64{1}, []float64{0}, dm, dv)
			e = max(e, math.Abs(dv[0]-want(x)))
		}
		return e
	}
	wave := &moment.Map{In: 1, Out: 1, F: func(x, y []float64) { y[0] = math.Sin(30 * x[0]) },
		VJP: func(x, dy, dx []float64) { dx[0] = 30 * dy[0] * math.Cos(30*x[0]) }}
	if e := worst(wave, func(x float64) float64 { return -450 * math.Sin(30*x) }); !(e < 1e-3) {
		t.Errorf("½∂² of a map with slopes is off by %g", e)
	}
	blind := &moment.Map{In: 1, Out: 1, F: func(x, y []float64) { y[0] = 100 + x[0]*x[0] }}
	if e := worst(blind, func(float64) float64 { return 1 }); !(e < 4e-6) {
		t.Errorf("½∂² of a map without slopes is off by %g", e)
	}
}

// TestJointNegative: κ = 3−d finds a negative variance for Σ|x| of many inputs; it
// is 0 with no gradient.
func TestJointNegative(t *testing.T) {
	m := &moment.Map{Out: 1, F: func(x, y []float64) {
		y[0] = 0
		for _, x := range x {
			y[0] += math.Abs(x)
		}
	}}
	const d = 12
	mean := make([]float64, d)
	v := make([]float64, d)
	dm := make([]float64, d)
	dv := make([]float64, d)
	for i := range v {
		v[i] = 1
	}
	om, ov := []float64{0}, []float64{0}
	tile := moment.NewJointTile(m, moment.JointUTGauss(), d)
	tile.Push(mean, v, om, ov)
	tile.Pull(mean, v, []float64{0}, []float64{1}, dm, dv)
	if ov[0] != 0 || dv[3] != 0 {
		t.Errorf("the variance is %v with gradient %v", ov[0], dv[3])
	}
	moment.NewJointTile(m, moment.JointAxes(3), d).Push(mean, v, om, ov)
	// Each |x| has e = √3 at both outer points: 1 − 1/3.
	closeTo(t, "axes variance", ov[0], d*2.0/3, 1e-13)
}

// TestJointManyInputs holds rules to closed forms where their points are too
// many to be kept: f = Σ i·x_i², of mean Σ i(m²+v) and variance Σ i²(4m²v+2v²).
func TestJointManyInputs(t *testing.T) {
	m := &moment.Map{Out: 1, F: func(x, y []float64) {
		y[0] = 0
		for i, x := range x {
			y[0] += float64(i) * x * x
		}
	}, VJP: func(x, dy, dx []float64) {
		for i, x := range x {
			dx[i] = 2 * float64(i) * x * dy[0]
		}
	}}
	const d = 40
	mean := make([]float64, d)
	v := make([]float64, d)
	dm := make([]float64, d)
	dv := make([]float64, d)
	var wantM, wantV float64
	for i := range mean {
		mean[i], v[i] = math.Sin(float64(i)), 0.1+0.02*float64(i)
		k := float64(i)
		wantM += k * (mean[i]*mean[i] + v[i])
		wantV += k * k * (4*mean[i]*mean[i]*v[i] + 2*v[i]*v[i])
	}
	for _, rule := range []moment.JointRule{moment.JointAxes(3), moment.JointFifth()} {
		tile := moment.NewJointTile(m, rule, d)
		om, ov := []float64{0}, []float64{0}
		tile.Push(mean, v, om, ov)
		closeTo(t, fmt.Sprint(rule, " mean"), om[0], wantM, 1e-9) // weights of both signs cancel
		closeTo(t, fmt.Sprint(rule, " variance"), ov[0], wantV, 1e-8)
		tile.Pull(mean, v, []float64{2}, []float64{3}, dm, dv)
		for i, k := 0, 0.0; i < d; i, k = i+1, k+1 {
			closeTo(t, fmt.Sprint(rule, " ∂/∂m"), dm[i], 2*2*k*mean[i]+3*8*k*k*mean[i]*v[i], 1e-8)
			closeTo(t, fmt.Sprint(rule, " ∂/∂v"), dv[i], 2*k+3*4*k*k*(mean[i]*mean[i]+v[i]), 1e-8)
		}
	}
}

func TestJointRefuses(t *testing.T) {
	pair := &moment.Map{Name: "pair", In: 2, Out: 1, F: func(x, y []float64) { y[0] = x[0] * x[1] }}
	for want, f := range map[string]func() error{
		"the map has no function F; write &moment.Map{F: f}":                                    func() error { return moment.JointFifth().Check(&moment.Map{}, 2) },
		"pair takes 2 inputs, not 3":                                                            func() error { return moment.JointFifth().Check(pair, 3) },
		"joint-ut: κ is -1; it must be a number ≥ 0 (joint-ut(3-d) places its points at √3·σ)":  func() error { return moment.JointUT(-1).Check(pair, 2) },
		"axes: the order is 4; it must be odd, 3 to 31":                                         func() error { return moment.JointAxes(4).Check(pair, 2) },
		"joint-gh: the order is 1; it must be 2 to 32":                                          func() error { return moment.JointGH(1).Check(pair, 2) },
		"joint-mc: 1 samples; a variance needs at least 2":                                      func() error { return moment.JointMC(1).Check(pair, 2) },
		"own: pair has no closed form; use fifth, axes(3) or joint-mc(100)":                     func() error { return moment.JointOwn().Check(pair, 2) },
		"joint-gh(9) needs more than 100000 points for 40 inputs; use axes(3) or joint-mc(100)": func() error { return moment.JointGH(9).Check(&moment.Map{F: pair.F}, 40) },
		"mean 1 is NaN; it must be a finite number":                                             at(pair, []float64{0, math.NaN()}, []float64{1, 1}),
		"variance 1 is -1; it must be a finite number ≥ 0":                                      at(pair, []float64{0, 0}, []float64{1, -1}),
		"the covariance has 3 entries; 2 inputs need 4, or 2 on the diagonal":                   at(pair, []float64{0, 0}, []float64{1, 1, 1}),
		"the covariance is not symmetric: entries (1,0) and (0,1) are 0.2 and 0.1":              at(pair, []float64{0, 0}, []float64{1, 0.1, 0.2, 1}),
		"the covariance is not positive semidefinite: pivot 1 is -3":                            at(pair, []float64{0, 0}, []float64{1, 2, 2, 1}),
		`unknown joint rule "ut(2)"; the joint rules are joint-ut(κ), joint-ut(3-d), axes(order), joint-gh(order), fifth, fifth-or-axes, joint-mc(samples), own`: parse("ut(2)"),
		`joint rule "axes" takes a whole number, not 2.5`:  parse("axes(2.5)"),
		`joint rule "joint-mc" takes 1 parameter, not 0`:   parse("joint-mc"),
		`joint rule "axes(3": a parenthesis is not closed`: parse("axes(3"),
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("the message is %q, want %q", err, want)
		}
	}
}

func at(m *moment.Map, mean, cov []float64) func() error {
	return func() error {
		_, _, err := moment.JointAt(m, moment.JointFifth(), mean, cov, rng.Key{})
		return err
	}
}

func parse(name string) func() error {
	return func() error { _, err := moment.ParseJoint(name); return err }
}

func ExampleJointAt() {
	product := &moment.Map{Name: "product", In: 2, Out: 1, F: func(x, y []float64) { y[0] = x[0] * x[1] }}
	for _, rule := range []moment.JointRule{moment.JointUTGauss(), moment.JointFifth()} {
		_, cov, err := moment.JointAt(product, rule, []float64{3, 1}, []float64{1, 0.5, 0.5, 2}, rng.Key{})
		fmt.Printf("%s: %.2f %v\n", rule, cov[0], err) // the truth is 24.25
	}
	// Output:
	// joint-ut(3-d): 22.50 <nil>
	// fifth: 24.25 <nil>
}
