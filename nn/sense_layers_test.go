package nn_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/internal/localization"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

func correlated(layers ...nn.Layer) nn.Correlated { return nn.Correlated{Layers: layers} }

func TestMaxPoolCorrelated(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	in := nn.Shape{H: 4, W: 3, C: 2}
	for name, l := range map[string]nn.MaxPool2D{
		"apart":       {Size: [2]int{2, 1}},
		"overlapping": {Size: [2]int{2, 2}, Stride: 1},
		"one cell":    {Size: [2]int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			nntest.Layer(t, correlated(act, l, nn.Dense{Out: 3}), in, nntest.Options{})
			nntest.Layer(t, correlated(l), in, nntest.Options{Entries: 10})
		})
	}
	t.Run("one output", func(t *testing.T) {
		nntest.Layer(t, correlated(nn.MaxPool2D{Size: [2]int{2, 2}, Stride: 1}, nn.Dense{Out: 1}), in, nntest.Options{})
	})
}

// Windows that overlap share cells. Cells that are themselves correlated are taken as
// independent in the maximum: behind a dense layer its mean and slopes are off.
func TestMaxPoolAgainstDrawn(t *testing.T) {
	in := nn.Shape{H: 4, W: 4, C: 1}
	mean, variance := waves(16, 0.3)
	beatsIndependence(t, nn.Chain{nn.MaxPool2D{Size: [2]int{2, 2}, Stride: 1}, nn.Dense{Out: 3}}, in, 0.05, 0.05, mean, variance)
	beatsIndependence(t, nn.Chain{nn.MaxPool2D{Size: [2]int{1, 2}, Stride: 1}, nn.Dense{Out: 3}}, in, 0.05, 0.05, mean, variance)
}

func TestLayerNormCorrelated(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	nntest.Layer(t, correlated(nn.Dense{Out: 5}, nn.LayerNorm{Eps: 0.01}, act, nn.LayerNorm{}, nn.Dense{Out: 3}), nn.Vec(3), nntest.Options{})
	nntest.Layer(t, correlated(nn.LayerNorm{}), nn.Vec(4), nntest.Options{Mean: 0.5})
}

// With little variance first order is exact; τ as a constant would be off by 2 %.
func TestLayerNormAgainstDrawn(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	for _, c := range []struct {
		units    int
		std, tol float64
	}{{4, 0.01, 0.015}, {12, 0.05, 0.02}} {
		mean, variance := waves(5, c.std*c.std)
		beatsIndependence(t, nn.Chain{nn.Dense{Out: c.units}, nn.LayerNorm{}, act, nn.Dense{Out: 3}}, nn.Vec(5), c.std, c.tol, mean, variance)
	}
}

func TestStochasticCorrelated(t *testing.T) {
	for name, l := range map[string]nn.Stochastic{
		"shared":   slope(nn.Stochastic{Mean: 0.3, Std: 0.4}),
		"per unit": slope(nn.Stochastic{Mean: 0.3, Std: 0.4, PerUnit: true}),
		"ut":       curve(nn.Stochastic{Mean: 0.8, Std: 0.3, Rule: moment.JointUT(1)}),
		"axes":     curve(nn.Stochastic{Mean: 0.8, Std: 0.3, PerUnit: true, Rule: moment.JointAxes(5)}),
		"gh":       curve(nn.Stochastic{Mean: 0.8, Std: 0.3, Rule: moment.JointGH(5)}),
	} {
		t.Run(name, func(t *testing.T) {
			nntest.Layer(t, correlated(nn.Dense{Out: 4}, l, nn.Dense{Out: 3}), nn.Vec(3), nntest.Options{})
			nntest.Layer(t, correlated(l, nn.Dense{Out: 1}), nn.Vec(3), nntest.Options{})
		})
	}
	nntest.Refuses(t, correlated(curve(nn.Stochastic{Rule: moment.JointMC(5)})), nn.Vec(2),
		"layer layer.0.stochastic (input 2): the rule joint-mc(5) cannot carry correlations; use a joint rule with fixed points, such as joint-gh(3)")
}

func TestStochasticAgainstDrawn(t *testing.T) {
	mean, variance := waves(4, 0.02)
	shared := curve(nn.Stochastic{Mean: 1, Std: 0.3, Rule: moment.JointGH(5)})
	beatsIndependence(t, nn.Chain{nn.Dense{Out: 12}, shared, nn.Dense{Out: 3}}, nn.Vec(4), 0.03, 0.03, mean, variance)
	own := shared
	own.PerUnit = true
	beatsIndependence(t, nn.Chain{nn.Dense{Out: 6}, own, nn.Dense{Out: 6}, own, nn.Dense{Out: 3}}, nn.Vec(4), 0.03, 0.03, mean, variance)
}

func TestJointBehindCorrelated(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	blind := &moment.Map{Name: "blind", In: 4, Out: 2, F: func(x, y []float64) {
		y[0], y[1] = math.Sin(x[0]*x[1]), x[2]*x[2]-x[3]*x[0]
	}}
	for name, l := range map[string]nn.Joint{
		"own":    {Map: fn.Softmax()},
		"ut":     {Map: fn.Softmax(), Rule: moment.JointUT(2)},
		"axes":   {Map: fn.Softmax(), Rule: moment.JointAxes(5)},
		"fifth":  {Map: fn.Softmax(), Rule: moment.JointFifth()},
		"mc":     {Map: fn.Softmax(), Rule: moment.JointMC(9)},
		"no VJP": {Map: blind},
	} {
		t.Run(name, func(t *testing.T) {
			nntest.Layer(t, nn.Chain{correlated(nn.Dense{Out: 3}, act, nn.Dense{Out: 4}), l}, nn.Vec(3), nntest.Options{})
		})
	}
	for _, classes := range []int{1, 2, 3} {
		nntest.Layer(t, nn.Chain{correlated(nn.Dense{Out: 3}, act, nn.Dense{Out: classes}), nn.Joint{Map: fn.Softmax()}}, nn.Vec(2), nntest.Options{})
	}
}

func TestConditionalBehindCorrelated(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	photon := localization.PhotonNode(3, 1.05, 3)
	for name, l := range map[string]nn.Conditional{
		"plain":  {Target: 2, Given: []int{0, 1}, Location: photon},
		"joint":  {Target: 2, Given: []int{3, 0}, Location: photon, Joint: true},
		"no VJP": {Target: 0, Given: []int{2}, Location: blindLocation(), Joint: true, Rule: moment.JointGH(5)},
		"draws":  {Target: 1, Given: []int{3}, Location: blindLocation(), Joint: true, Rule: moment.JointMC(8)},
	} {
		t.Run(name, func(t *testing.T) {
			nntest.Layer(t, nn.Chain{correlated(nn.Dense{Out: 3}, act, nn.Dense{Out: 4}), nn.Scale{}, l}, nn.Vec(2), nntest.Options{})
		})
	}
}

// A count whose target leans against the position has less variance than one that does
// not: independent units cannot see it.
func TestConditionalCovariance(t *testing.T) {
	l := nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8), Joint: true}
	mean := []float64{3.1, -2.7, 0.2}
	root := []float64{0.4, 0, 0, 0, 0.5, 0.2, 0.7, -0.2, 0.3}
	cov := square(root, 3)
	m, v := sampleCov(mean, root, 200_000, 1, func(x, y []float64) {
		var at [2]float64
		l.Location.F(x[:2], at[:])
		y[0] = at[0] + at[1]*x[2]
	})
	out := pushCov(l, mean, cov)
	agrees(t, "the count", out.Mean[2], out.Var[2], m[0], v[0], 0.03)
	if out.Mean[0] != mean[0] || out.Var[1] != cov[4] {
		t.Errorf("the position became %v", out)
	}
	if apart := pushRow(l, mean, []float64{cov[0], cov[4], cov[8]}); math.Abs(apart.Var[2]/v[0]-1) < 0.2 {
		t.Errorf("independent units pass as well: %v, want %v", apart.Var[2], v[0])
	}
	// The given units come in any order.
	l.Given, l.Target = []int{2, 0}, 1
	again := pushCov(l, []float64{mean[1], mean[2], mean[0]}, reorder(cov, []int{1, 2, 0}))
	if math.Abs(again.Var[1]/out.Var[2]-1) > 0.02 {
		t.Errorf("in another order the variance is %v, not %v", again.Var[1], out.Var[2])
	}
}

// reorder is the covariance of the units in order.
func reorder(cov []float64, order []int) []float64 {
	d := len(order)
	c := make([]float64, d*d)
	for i := range c {
		c[i] = cov[order[i/d]*d+order[i%d]]
	}
	return c
}

// Whole networks: a convolutional classifier and the paper's localisation network.
func TestCorrelatedNetworks(t *testing.T) {
	act := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	nntest.Layer(t, nn.Correlate(nn.Chain{
		nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}, Padding: nn.Same}, act, nn.MaxPool2D{Size: [2]int{2, 2}},
		nn.Conv2D{Out: 3, Kernel: [2]int{2, 2}, Stride: 2}, nn.LayerNorm{}, act, nn.Flatten{},
		nn.Residual{Branch: nn.Chain{act}}, nn.Dense{Out: 4}, nn.Joint{Map: fn.Softmax()},
	}), nn.Shape{H: 8, W: 8, C: 2}, nntest.Options{Entries: 6})
	leaky := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.Exact()}
	nntest.Layer(t, nn.Correlate(nn.Chain{
		nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, leaky, nn.Dense{Out: 12}, leaky, nn.Dense{Out: 3},
		nn.Scale{}, nn.Apply{F: fn.NormalInverse(), Rule: moment.GaussHermite(5)},
		nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8), Joint: true},
	}), nn.Shape{H: 6, W: 6, C: 1}, nntest.Options{Entries: 6})
}

// What a residual adds to its input has no covariances that a layer behind could take.
func TestResidualOfCorrelated(t *testing.T) {
	branch := nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 4}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 3}}}
	nntest.Layer(t, nn.Chain{nn.Residual{Branch: branch}, nn.Joint{Map: fn.Softmax()}}, nn.Vec(3), nntest.Options{})
}
