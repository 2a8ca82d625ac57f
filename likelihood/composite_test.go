package likelihood_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"utvi/gauss"
	"utvi/likelihood"
	"utvi/likelihood/likelihoodtest"
)

// Numbers with noise at two pixels: value and log-variance alternate, as images lie.
func TestPerPlace(t *testing.T) {
	one := func(y, f, ell float64) float64 { return nlog(y-f, math.Exp(ell)) }
	likelihoodtest.Check(t, likelihood.PerPlace{Of: likelihood.Heteroscedastic{}, Channels: 2}, likelihoodtest.Case{
		Rows:     []likelihoodtest.Row{row(vec{0.3, 4}, vec{0.5, -1.2, 3.1, 0.4}, vec{0.2, 0.35, 0.1, 0.2})},
		Expected: true,
		NLL: func(r likelihoodtest.Row, f []float64) float64 {
			return one(r.Y[0], f[0], f[1]) + one(r.Y[1], f[2], f[3])
		},
		Floored: []likelihoodtest.Row{row(vec{1, 1}, vec{2, -20, 2, -30}, vec{0.1, 0.2, 0, 80})},
		Bites:   []int{2},
	})
	likelihoodtest.Check(t, likelihood.PerPlace{Of: likelihood.Normal{}, Channels: 2}, likelihoodtest.Case{ // two targets a place
		Rows:     []likelihoodtest.Row{row(vec{0.3, 4, 7, 1}, vec{0.5, 3.1, 7.2, 1.3}, vec{0.2, 0.1, 0.4, 0.3})},
		Expected: true,
		NLL: func(r likelihoodtest.Row, f []float64) (sum float64) {
			for i, y := range r.Y {
				sum += nlog(y-r.Mean[i], r.Var[i])
			}
			return sum
		},
	})
	likelihoodtest.Check(t, likelihood.PerPlace{Of: likelihood.Categorical{}, Channels: 3}, likelihoodtest.Case{
		Rows: []likelihoodtest.Row{row(vec{2, 0}, vec{0.2, 0.3, 0.5, 0.6, 0.1, 0.3}, vec{0, 0, 0, 0, 0, 0})},
		NLL:  func(_ likelihoodtest.Row, f []float64) float64 { return -math.Log(f[2] * f[3]) },
		Bad:  []likelihoodtest.Row{row(vec{2, 3}, vec{0.2, 0.3, 0.5, 0.6, 0.1, 0.3}, make(vec, 6))},
	})
}

// Two positions with noise that count twice, and three classes.
func TestSeveral(t *testing.T) {
	l := likelihood.Several{Parts: []likelihood.Part{
		{Name: "position", Outputs: 2, Weight: 2, Of: likelihood.ExpectedNormal{Std: 0.5}},
		{Name: "kind", Outputs: 3, Of: likelihood.Categorical{}},
	}}
	likelihoodtest.Check(t, l, likelihoodtest.Case{
		Rows:     []likelihoodtest.Row{row(vec{0.3, 4, 1}, vec{0.5, 3.1, 0.2, 0.7, 0.1}, vec{0.2, 0.1, 0, 0, 0})},
		Expected: true,
		NLL: func(r likelihoodtest.Row, f []float64) float64 {
			return 2*nlog(r.Y[0]-f[0], 0.25) + 2*nlog(r.Y[1]-f[1], 0.25) - math.Log(f[3])
		},
		Bad: []likelihoodtest.Row{row(vec{0.3, 4, 1.5}, vec{0.5, 3.1, 0.2, 0.7, 0.1}, make(vec, 5))},
	})
	if want := "position: expected normal, noise 0.5 × 2; kind: categorical"; l.String() != want {
		t.Errorf("%q, want %q", l, want)
	}
}

// What a row of parts is predicted as are the predictions of the parts, one after the other.
func TestReadParts(t *testing.T) {
	place := likelihood.PerPlace{Of: likelihood.Weighted{Of: likelihood.Heteroscedastic{}}, Channels: 2}
	classes := likelihood.PerPlace{Of: likelihood.Categorical{}, Channels: 2}
	l := likelihood.Several{Parts: []likelihood.Part{{Outputs: 4, Of: place}, {Outputs: 4, Of: classes}, {Outputs: 1, Of: likelihood.Normal{}}}}
	if n, err := l.Targets(9); err != nil || n != 2*2+2+1 {
		t.Fatal(n, err)
	}
	out := gauss.Batch[float32]{Rows: 1, Width: 9, Mean: []float32{1, 0, 3, 1, .4, .6, .1, .9, 7}, Var: []float32{.1, .2, .3, .4, .01, .01, .02, .02, .5}}
	y, err := likelihood.Moments(l, out)
	if err != nil {
		t.Fatal(err)
	}
	e := func(x float64) float32 { return float32(math.Exp(x)) }
	want := [][]float32{{1, 3, .4, .6, .1, .9, 7}, {.1 + e(.1), .3 + e(1.2), .01, .01, .02, .02, .5}}
	for i := range 7 {
		if y.Width != 7 || y.Mean[i] != want[0][i] || math.Abs(float64(y.Var[i]-want[1][i])) > 1e-6 {
			t.Fatalf("%v, want %v", y, want)
		}
	}
	total, ok := likelihood.ForUncertainInputs(l).(likelihood.Several)
	if !ok || !strings.Contains(total.String(), "total") || strings.Contains(l.String(), "total") {
		t.Errorf("%v of %v for uncertain inputs", total, l)
	}
}

func TestCompositeRefuses(t *testing.T) {
	normal := likelihood.Normal{}
	several := func(parts ...likelihood.Part) likelihood.Likelihood { return likelihood.Several{Parts: parts} }
	for says, l := range map[string]likelihood.Likelihood{
		"no likelihood for a place":          likelihood.PerPlace{Channels: 2},
		"a place has 0 channels":             likelihood.PerPlace{Of: normal},
		"a multiple of the 4 channels":       likelihood.PerPlace{Of: normal, Channels: 4},
		"it needs an even number":            likelihood.PerPlace{Of: likelihood.Heteroscedastic{}, Channels: 3},
		"there are no parts":                 several(),
		"b has no likelihood":                several(likelihood.Part{Outputs: 3, Of: normal}, likelihood.Part{Name: "b", Outputs: 3}),
		"part 0 has 0 outputs":               several(likelihood.Part{Of: normal}),
		"6 outputs; its parts have 5":        several(likelihood.Part{Outputs: 5, Of: normal}),
		"has the weight -1":                  several(likelihood.Part{Outputs: 6, Weight: -1, Of: normal}),
		"a: likelihood expected normal: the": several(likelihood.Part{Name: "a", Outputs: 6, Of: likelihood.ExpectedNormal{Std: -1}}),
	} {
		if _, err := l.Targets(6); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %q", err, says)
		}
	}
}

func ExamplePerPlace() {
	// A row of two pixels with a value and a log-variance each.
	l := likelihood.PerPlace{Of: likelihood.Heteroscedastic{}, Channels: 2}
	y, _ := likelihood.Moments(l, gauss.Batch[float32]{Rows: 1, Width: 4, Mean: []float32{5, 0, 9, 0}, Var: []float32{1, 0, 3, 0}})
	fmt.Println(y.Mean, y.Var)
	// Output: [5 9] [2 4]
}

func ExampleSeveral() {
	l := likelihood.Several{Parts: []likelihood.Part{
		{Name: "where", Outputs: 4, Of: likelihood.Heteroscedastic{}},
		{Name: "what", Outputs: 3, Of: likelihood.Categorical{}},
	}}
	targets, _ := l.Targets(7)
	fmt.Println(l, "of", targets, "targets")
	// Output: where: heteroscedastic; what: categorical of 3 targets
}
