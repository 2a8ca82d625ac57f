package nn_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"utvi/gauss"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
	"utvi/vi"
)

// slope is θ·x, curve something smooth of both.
func slope(l nn.Stochastic) nn.Stochastic {
	l.Name = "slope"
	l.F = func(x, theta float64) float64 { return theta * x }
	l.FX = func(_, theta float64) float64 { return theta }
	l.FTheta = func(x, _ float64) float64 { return x }
	return l
}

func curve(l nn.Stochastic) nn.Stochastic {
	l.Name = "curve"
	l.F = func(x, theta float64) float64 { return math.Tanh(theta*x) + 0.1*theta*theta }
	return l
}

func TestStochastic(t *testing.T) {
	for name, l := range map[string]nn.Stochastic{
		"shared":    slope(nn.Stochastic{Mean: 0.3, Std: 0.4}),
		"per unit":  slope(nn.Stochastic{Mean: 0.3, Std: 0.4, PerUnit: true, Prior: vi.Prior{Mean: 1, Std: 2}}),
		"no slopes": curve(nn.Stochastic{Mean: 0.8, Std: 0.3}),
		"ut":        curve(nn.Stochastic{Mean: 0.8, Std: 0.3, PerUnit: true, Rule: moment.JointUT(1)}),
		"gh":        slope(nn.Stochastic{Mean: 0.8, Std: 0.3, Rule: moment.JointGH(5)}),
		"mc":        curve(nn.Stochastic{Mean: 0.8, Std: 0.3, Rule: moment.JointMC(6)}),
	} {
		t.Run(name, func(t *testing.T) { nntest.Layer(t, l, nn.Vec(5), nntest.Options{}) })
	}
	t.Run("drawn", func(t *testing.T) {
		l := slope(nn.Stochastic{Mean: 0.7, Std: 0.5, PerUnit: true})
		nntest.Layer(t, l, nn.Vec(5), nntest.Options{Draws: 20_000})
	})
	t.Run("in a chain", func(t *testing.T) {
		nntest.Layer(t, nn.Chain{nn.Dense{Out: 4}, slope(nn.Stochastic{Mean: 1, PerUnit: true}), nn.Dense{Out: 2}}, nn.Vec(3), nntest.Options{})
	})
}

func TestStochasticMoments(t *testing.T) {
	mean, variance := []float64{0.6, -1.5}, []float64{0.8, 0.5}
	for name, l := range map[string]nn.Stochastic{
		"slope": slope(nn.Stochastic{Mean: 0.7, Std: 0.5}),
		"curve": curve(nn.Stochastic{Mean: 0.7, Std: 0.5, Rule: moment.JointGH(9)}),
	} {
		m, v := sampleRow(mean, variance, 2, func(x []float64, z float64, y []float64) {
			for i, x := range x {
				y[i] = l.F(x, 0.7+0.5*z)
			}
		})
		out := pushRow(l, mean, variance)
		for i := range m {
			agrees(t, fmt.Sprint(name, " ", i), out.Mean[i], out.Var[i], m[i], v[i], 0.002)
		}
	}
	// θ·x exactly: m²s + θ̄²v + vs. A rule on the axes loses the last term.
	l := slope(nn.Stochastic{Mean: 2, Std: 0.5})
	want := 9*0.25 + 4*1.5 + 1.5*0.25
	if out := pushRow(l, []float64{3}, []float64{1.5}); math.Abs(out.Var[0]-want) > 1e-12 {
		t.Errorf("the variance is %v, want %v", out.Var[0], want)
	}
	l.Rule = moment.JointUTGauss()
	if out := pushRow(l, []float64{3}, []float64{1.5}); math.Abs(out.Var[0]-want+0.375) > 1e-12 {
		t.Errorf("the unscented variance is %v", out.Var[0])
	}
	if out := pushRow(l, []float64{3}, nil); math.Abs(out.Var[0]-9*0.25) > 1e-12 {
		t.Errorf("a fixed input has variance %v", out.Var[0])
	}
}

// TestStochasticPerUnit: each unit has the θ of its own place.
func TestStochasticPerUnit(t *testing.T) {
	b := &nn.Binder[float64]{Params: &vi.Params[float64]{}, In: nn.Vec(3), Fixed: true}
	u, err := nn.Bind[float64](slope(nn.Stochastic{PerUnit: true}), b)
	if err != nil {
		t.Fatal(err)
	}
	b.Params.Alloc()
	copy(b.Params.Tensors[0].Mean, []float64{2, 3, 5})
	x := gauss.Fixed(3, []float64{1, 10, 100, 7, 70, 700})
	out := gauss.Fixed(3, make([]float64, 6))
	u.NewRunner(2, false).Forward(&nn.Pass[float64]{In: x, Out: out})
	if want := []float64{2, 30, 500, 14, 210, 3500}; !slices.Equal(out.Mean, want) {
		t.Errorf("%v, want %v", out.Mean, want)
	}
}

func TestStochasticFixed(t *testing.T) {
	b := &nn.Binder[float64]{Params: &vi.Params[float64]{}, In: nn.Vec(2), Fixed: true}
	u, err := nn.Bind[float64](slope(nn.Stochastic{Mean: 2}), b)
	if err != nil || u.Form() != nn.Fixed || b.Params.Tensors[0].Random {
		t.Errorf("a network of fixed weights has a random θ: %v", err)
	}
}

func TestStochasticRefuses(t *testing.T) {
	nntest.Refuses(t, nn.Stochastic{}, nn.Vec(1), "no function F(x, θ); set nn.Stochastic.F")
	half := slope(nn.Stochastic{})
	half.FX = nil
	nntest.Refuses(t, half, nn.Vec(1), "only one of the slopes FX and FTheta is set; set both, or none to use finite differences")
	nntest.Refuses(t, slope(nn.Stochastic{Std: -1}), nn.Vec(1), "θ starts at 0 ± -1; both must be finite, and the standard deviation > 0")
	nntest.Refuses(t, slope(nn.Stochastic{Prior: vi.Prior{Mean: 1}}), nn.Vec(1), "the prior is N(1, 0²); its mean must be finite and its standard deviation > 0")
	nntest.Refuses(t, slope(nn.Stochastic{Rule: moment.JointGH(1)}), nn.Vec(1), "joint-gh: the order is 1; it must be 2 to 32")
}

func ExampleStochastic() {
	slope := nn.Stochastic{
		Name: "slope", Mean: 1, Std: 0.5,
		F: func(x, theta float64) float64 { return theta * x },
	}
	out := pushRow(slope, []float64{2}, []float64{1})
	fmt.Printf("%.2f %.2f\n", out.Mean[0], out.Var[0]) // 4·0.25 + 1 + 0.25
	// Output: 2.00 2.25
}
