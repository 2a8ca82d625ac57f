package tabular

import (
	"math"
	"testing"

	"utvi/gauss"
	"utvi/rng"
)

// twoClusters are rows with hardly any noise, and a gap between −0.6 and 0.6.
func twoClusters(n int) Data {
	d := rowsOf(n, 1)
	for i := range n {
		x := 0.6 + 0.9*rng.Uniform(rng.New(8), uint64(i))
		if i%2 > 0 {
			x = -x
		}
		d.X.Mean[i] = float32(x)
		d.Y[i] = float32(math.Sin(3*x) + 0.02*rng.Normal(rng.New(9), uint64(i)))
	}
	return d
}

// Networks disagree between the rows, where this makes intervals far wider than among the rows, which say how wide they
// are there.
func TestApartInAGap(t *testing.T) {
	c := quick
	c.Ensemble = 4
	c.Noise = Heteroscedastic
	c.Depth = 2
	c.Steps = 500
	f, err := Fit(t.Context(), c, twoClusters(120), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Residuals[0].Apart != apartTimes {
		t.Fatalf("the disagreement counts %v times", f.Residuals[0].Apart)
	}
	var x []float32
	for i := range 21 {
		x = append(x, float32(-1.5+0.15*float64(i)))
	}
	with := append([]float32{}, f.NewPredictor(nil, 21).Predict(gauss.Fixed(1, x)).Var...)
	f.Residuals[0].Apart = 0
	without := f.NewPredictor(nil, 21).Predict(gauss.Fixed(1, x)).Var
	among := 0.0
	gap := 0.0
	for i, v := range with {
		ratio := math.Sqrt(float64(v / without[i]))
		switch at := math.Abs(float64(x[i])); {
		case at < 0.4:
			gap = max(gap, ratio)
		case at > 0.65:
			among = max(among, ratio)
		}
	}
	t.Logf("standard deviations grow by at most %.2f in the gap, %.2f among the rows", gap, among)
	if gap < 1.15 || gap < 1.1*among {
		t.Errorf("standard deviations grow by at most %.2f in the gap and %.2f among the rows", gap, among)
	}
}

// A network that stands for several members is one of them; the variance is that of as many as there are.
func TestDisagreement(t *testing.T) {
	one := heldOutPredictions{Mean: []float32{1}, Var: []float32{0.5}}
	two := heldOutPredictions{Mean: []float32{3}, Var: []float32{0.25}}
	for want, members := range map[float64][]heldOutPredictions{0: {one, one}, 1: {one, two}, 1.5: {one, two, one, two}} {
		if got := disagreement(members, 0); got != want {
			t.Errorf("%d members disagree by %v, want %v", len(members), got, want)
		}
	}
	wide := widen([]heldOutPredictions{one, two}, 2)
	if wide[0].Var[0] != 2.5 || wide[1].Var[0] != 2.25 || one.Var[0] != 0.5 {
		t.Errorf("variances %v and %v, want 2.5 and 2.25; the members' stay", wide[0].Var[0], wide[1].Var[0])
	}
}
