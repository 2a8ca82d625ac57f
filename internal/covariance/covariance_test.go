package covariance_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/covariance"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

func build(t *testing.T, in nn.Shape, layers ...nn.Layer) *model.Net[float64] {
	t.Helper()
	n, err := model.Build[float64](model.Config{Input: in, Layers: layers, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range n.Params.Tensors { // narrow weights: what is left are correlations
		for j := range p.Rho {
			p.Rho[j] = -3.2 + rng.Uniform(rng.New(3), uint64(1000*i+j))
		}
		for j := range p.Rho {
			p.Mean[j] *= 3
		}
	}
	n.Changed()
	return n
}

func inputs(rows, width int, random bool) gauss.Batch[float64] {
	x := gauss.New[float64](rows, width)
	for i := range x.Mean {
		x.Mean[i], x.Var[i] = rng.Normal(rng.New(8), uint64(i)), 0.05*rng.Uniform(rng.New(9), uint64(i))
	}
	if !random {
		x.Var = nil
	}
	return x
}

func propagate(t *testing.T, n *model.Net[float64], x gauss.Batch[float64], order int) gauss.Batch[float64] {
	t.Helper()
	y, err := covariance.Propagate(n.Graph(), x, order)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// drawn is the covariance matrix of the first row of drawn networks, with its inputs
// drawn, too, and the variances that drawn networks carry themselves on the diagonal.
func drawn(n *model.Net[float64], x gauss.Batch[float64], networks int) (mean, cov []float64) {
	k := n.Outputs()
	mean, cov = make([]float64, k), make([]float64, k*k)
	d, draws := n.Draw(rng.Key{}), vi.NewSampler(n.Params)
	p := d.NewPredictor(1)
	at := append([]float64(nil), x.Mean[:x.Width]...)
	for s := range networks {
		key := rng.New(uint64(s + 1))
		draws.Draw(key, d.Params)
		d.Changed()
		for i := range at {
			at[i] = x.Mean[i]
			if x.Var != nil {
				at[i] += math.Sqrt(x.Var[i]) * rng.Normal(key.Sub(7, 7), uint64(i))
			}
		}
		y := p.Predict(gauss.Fixed(x.Width, at))
		for i, a := range y.Mean {
			mean[i] += a
			cov[i*k+i] += y.Var[i]
			for j, b := range y.Mean {
				cov[i*k+j] += a * b
			}
		}
	}
	for i := range mean {
		mean[i] /= float64(networks)
	}
	for i := range k {
		for j := range k {
			cov[i*k+j] = cov[i*k+j]/float64(networks) - mean[i]*mean[j]
		}
	}
	return mean, cov
}

// distance is the largest error of a covariance, as that of a correlation, and of a
// mean in standard deviations.
func distance(got gauss.Batch[float64], mean, cov []float64) (worst float64) {
	k := got.Width
	for i := range k {
		worst = max(worst, math.Abs(got.Mean[i]-mean[i])/math.Sqrt(cov[i*k+i]))
		for j := range k {
			worst = max(worst, math.Abs(got.Cov[i*k+j]-cov[i*k+j])/math.Sqrt(cov[i*k+i]*cov[j*k+j]))
		}
	}
	return worst
}

func act(rule moment.Rule) nn.Apply { return nn.Apply{F: fn.LeakyReLU(0.1), Rule: rule} }

var mixed = nn.BatchNorm{Mean: []float64{0.1, -0.2, 0.3}, Var: []float64{1, 2, 0.5}, Gain: []float64{1, -1, 2}, Offset: []float64{0, 1, 0}}

// Drawn networks have the covariances that are computed, to the sampling error (1 % of a
// variance) and to what is not Normal in the middle of the network. Where least is
// given, the network's own variances, of units taken as independent, are further off.
func TestAgainstDrawnNetworks(t *testing.T) {
	const networks = 20_000
	exact, gh := act(moment.Exact()), nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(9)}
	image := nn.Shape{H: 4, W: 4, C: 2}
	for _, c := range []struct {
		name   string
		in     nn.Shape
		random bool
		least  float64
		layers []nn.Layer
	}{
		{"two hidden layers", nn.Vec(3), false, 0, []nn.Layer{nn.Dense{Out: 12}, exact, nn.Dense{Out: 12}, exact, nn.Dense{Out: 3}}},
		{"four hidden layers", nn.Vec(3), false, 0.15, []nn.Layer{nn.Dense{Out: 12}, gh, nn.Dense{Out: 12}, gh, nn.Dense{Out: 12}, gh, nn.Dense{Out: 12}, gh, nn.Dense{Out: 2}}},
		{"uncertain inputs", nn.Vec(3), true, 0.05, []nn.Layer{nn.Dense{Out: 12}, gh, nn.Dense{Out: 12}, gh, nn.Dense{Out: 2}}},
		{"convolution", image, false, 0.05, []nn.Layer{nn.Conv2D{Out: 3, Kernel: [2]int{3, 3}, Padding: nn.Same}, exact, mixed,
			nn.Conv2D{Out: 2, Kernel: [2]int{2, 2}, Stride: 2}, exact, nn.AvgPool2D{Size: [2]int{2, 1}}, nn.Flatten{}, nn.Dense{Out: 3}}},
		{"a line", nn.Shape{H: 1, W: 6, C: 1}, true, 0, []nn.Layer{nn.Conv1D{Out: 2, Kernel: 3, Stride: 2, Padding: nn.Same}, exact, nn.Dense{Out: 2}}},
		{"residual", nn.Vec(4), false, 0.15, []nn.Layer{nn.Dense{Out: 4}, nn.Residual{Branch: exact}, nn.Residual{Branch: nn.Chain{nn.Dense{Out: 6}, nn.Residual{Branch: nn.Chain{gh, nn.Dense{Out: 6}}}, gh, nn.Dense{Out: 4}}},
			nn.Scale{Start: 2}, nn.BatchNorm{}, nn.Noise{Start: 0.3}, nn.Multiply{By: []float64{1, -2, 3, 1}}}},
		{"skip", nn.Vec(4), true, 0.1, []nn.Layer{nn.Dense{Out: 4}, gh, nn.Residual{Branch: nn.Chain{nn.Dense{Out: 8}, gh, nn.Dense{Out: 3}}, Skip: nn.Chain{nn.Dense{Out: 5}, nn.Residual{Branch: nn.Dense{Out: 3}, Skip: nn.Dense{Out: 3}}}}, nn.Dense{Out: 3}}},
		{"correlated", nn.Vec(3), false, 0, []nn.Layer{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 12}, exact, nn.Dense{Out: 12}, exact, nn.Dense{Out: 2}}}, nn.Noise{Off: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := build(t, c.in, c.layers...)
			x := inputs(1, c.in.Size(), c.random)
			mean, cov := drawn(n, x, networks)
			got := distance(propagate(t, n, x, 8), mean, cov)
			alone := n.NewPredictor(1).Predict(x)
			off := 0.0
			for i, v := range alone.Var {
				off = max(off, math.Abs(math.Sqrt(v/cov[i*alone.Width+i])-1))
			}
			t.Logf("off by %.3f; σ by the network itself by %.3f", got, off)
			if got > 0.045 || off < c.least {
				t.Errorf("off by %.3f, the network itself by %.3f", got, off)
			}
		})
	}
}

// Dropout's masks are drawn per unit, which drawn networks do not do.
func TestDropout(t *testing.T) {
	n := build(t, nn.Vec(2), nn.Dense{Out: 3}, nn.Dropout{P: 0.25})
	x := inputs(1, 2, true)
	before := propagate(t, build(t, nn.Vec(2), nn.Dense{Out: 3}), x, 1)
	after := propagate(t, n, x, 1)
	for i := range 3 {
		for j := range 3 {
			want := before.Cov[i*3+j]
			if i == j {
				want = (want + 0.25*before.Mean[i]*before.Mean[i]) / 0.75
			}
			if got := after.Cov[i*3+j]; math.Abs(got-want) > 1e-12 {
				t.Errorf("%d, %d: %v, want %v", i, j, got, want)
			}
		}
	}
}

// To first order the network is what nn.Correlated computes: exactly, as long as the
// units of the first hidden layer are independent.
func TestFirstOrderIsTheAdjointVariance(t *testing.T) {
	for _, f := range []nn.Apply{act(moment.Exact()), act(moment.UT(2)), {F: fn.GELU(), Rule: moment.GaussHermite(5)}, {F: fn.Sin(), Rule: moment.Linear()}} {
		n := build(t, nn.Vec(3), nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 20}, f, nn.Dense{Out: 20}, f, nn.Dense{Out: 2}}})
		x := inputs(5, 3, false)
		got, want := n.NewPredictor(5).Predict(x), propagate(t, n, x, 1)
		for i, v := range want.Var {
			if math.Abs(got.Var[i]/v-1) > 1e-9 {
				t.Errorf("%v: output %d: nn.Correlated has %v, the covariances %v", f.Rule, i, got.Var[i], v)
			}
		}
	}
}

// The variance of a unit is what its rule gives, whatever the order, also with points
// that are not Gauss and Hermite's; and all matrices are positive semidefinite.
func TestMarginalsAreTheRules(t *testing.T) {
	for _, rule := range []moment.Rule{nil, moment.UT(0.5), moment.UT(4), moment.GenUT(0.3, 2.5), moment.GaussHermite(7), moment.Exact(), moment.Linear(), moment.LearnedUT(1.5)} {
		for order := 1; order < 12; order += 3 {
			a := nn.Apply{F: fn.GELU(), Rule: rule}
			before := propagate(t, build(t, nn.Vec(2), nn.Dense{Out: 7}, nn.Dense{Out: 9}), inputs(1, 2, true), order)
			after := propagate(t, build(t, nn.Vec(2), nn.Dense{Out: 7}, nn.Dense{Out: 9}, a), inputs(1, 2, true), order)
			for i := range 9 {
				by := rule
				if by != nil && by.Learns() {
					by = moment.UT(1.5)
				}
				j, err := moment.At(a.F, by, before.Mean[i], before.Var[i], rng.Key{})
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(after.Mean[i]-j.Mean) > 1e-12 || math.Abs(after.Var[i]/j.Var-1) > 1e-9 {
					t.Errorf("%v order %d: unit %d is %v ± %v, the rule has %v ± %v", rule, order, i, after.Mean[i], after.Var[i], j.Mean, j.Var)
				}
			}
			if least := smallestPivot(after.Cov, 9); least < -1e-12 {
				t.Errorf("%v order %d: not positive semidefinite: %v", rule, order, least)
			}
		}
	}
}

// smallestPivot is that of the LDLᵀ decomposition: not below 0 but by rounding for a
// positive semidefinite matrix.
func smallestPivot(c []float64, n int) float64 {
	c = append([]float64(nil), c...)
	least := math.Inf(1)
	for k := range n {
		d := c[k*n+k]
		least = min(least, d)
		for i := k + 1; i < n && d > 1e-14; i++ {
			for j := k + 1; j < n; j++ {
				c[i*n+j] -= c[i*n+k] * c[k*n+j] / d
			}
		}
	}
	return least
}

// Two jointly Normal inputs have the covariances of the closed form: sin's is
// e^{−v}·sinh(c) about 0.
func TestSeries(t *testing.T) {
	sin := nn.Apply{F: fn.Sin(), Rule: moment.GaussHermite(24)}
	n := build(t, nn.Vec(1), nn.Dense{Out: 1, NoBias: true}, nn.Dense{Out: 2, Fixed: true, NoBias: true}, sin)
	w := n.Params.Tensors
	w[0].Mean[0], w[0].Rho[0] = 0, math.Log(math.Expm1(1)) // N(0, 1)
	copy(w[1].Mean, []float64{1, 0.7})
	got := propagate(t, n, gauss.Fixed(1, []float64{1}), 24)
	if want := math.Exp(-(1+0.49)/2) * math.Sinh(0.7); math.Abs(got.Cov[1]-want) > 1e-9 {
		t.Errorf("%v, want %v", got.Cov[1], want)
	}
}

func TestRefuses(t *testing.T) {
	dense, x := nn.Dense{Out: 4}, inputs(1, 3, false)
	for want, f := range map[string]func() error{
		"covariances: the rows have 3 inputs, the network has 2": func() error {
			_, err := build(t, nn.Vec(2), dense).Covariances(x, 1)
			return err
		},
		"covariances: the order is 0; it must be at least 1": func() error {
			_, err := build(t, nn.Vec(3), dense).Covariances(x, 0)
			return err
		},
		"covariances: layer 1.layernorm: full covariances are not known for a layer of kind layernorm": func() error {
			_, err := build(t, nn.Vec(3), dense, nn.LayerNorm{}).Covariances(x, 1)
			return err
		},
		"covariances: layer 1.apply: the rule mc(5) draws its points": func() error {
			_, err := build(t, nn.Vec(3), dense, act(moment.MonteCarlo(5))).Covariances(x, 1)
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func ExamplePropagate() {
	n, _ := model.Build[float64](model.Config{Input: nn.Vec(1), Layers: nn.Chain{nn.Dense{Out: 1, NoBias: true}, nn.Dense{Out: 2, Fixed: true, NoBias: true}}})
	copy(n.Params.Tensors[0].Rho, []float64{math.Log(math.Expm1(1))}) // σ = 1
	copy(n.Params.Tensors[1].Mean, []float64{1, -2})
	y, _ := covariance.Propagate(n.Graph(), gauss.Fixed(1, []float64{3}), 1)
	fmt.Printf("%.0f\n", y.Cov)
	// Output: [9 -18 -18 36]
}
