package tabular

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"utvi/data"
	"utvi/dist"
	"utvi/gauss"
	"utvi/rng"
)

// prices are rows of a positive target over several orders of magnitude, in units of its
// standard deviation, and what 0 is.
func prices(n int, key uint64) (Data, float64) {
	x, y := make([]float32, 2*n), make([]float64, n)
	k := rng.New(key)
	var mean, sd float64
	for i := range n {
		x[2*i], x[2*i+1] = float32(rng.Normal(k, uint64(3*i))), float32(rng.Normal(k, uint64(3*i+1)))
		y[i] = math.Exp(2*float64(x[2*i]) + 0.3*rng.Normal(k, uint64(3*i+2)))
		mean += y[i] / float64(n)
	}
	for _, y := range y {
		sd += (y - mean) * (y - mean) / float64(n)
	}
	sd = math.Sqrt(sd)
	d := Data{Set: data.Set{X: gauss.Fixed(2, x), Y: make([]float32, n)}, Zero: []float64{-mean / sd}}
	for i, y := range y {
		d.Y[i] = float32((y - mean) / sd)
	}
	return d, -mean / sd
}

var quick = Config{Ensemble: 2, Noise: Learned, KL: 0.3, Activation: "leaky-relu", Width: 16, Depth: 1, Steps: 400}

// A positive target over orders of magnitude is fitted by its logarithm, and its intervals
// are positive and lopsided.
func TestSkewedTarget(t *testing.T) {
	all, zero := prices(700, 5)
	var rows [2][]int
	for i := range 700 {
		rows[i/500] = append(rows[i/500], i)
	}
	d, test := all.pick(rows[0]), all.pick(rows[1])
	f, err := Fit(t.Context(), quick, d, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := f.Warp(0)
	if w == nil || w.Lambda != 0 || w.Origin != zero {
		t.Fatalf("the transform is %+v, want a logarithm from %v", w, zero)
	}
	path := filepath.Join(t.TempDir(), "m.utvi")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	f, err = Load(path)
	if err != nil || !reflect.DeepEqual(f.Warp(0), w) {
		t.Fatalf("loaded with %+v, %v", f.Warp(0), err)
	}
	v := f.NewPredictor(nil, 200).Predict(test.X)
	var m dist.Mixture
	inside := 0
	for i := range test.Y {
		v.Dist(i, 0, &m)
		p := dist.Warped{Mixture: &m, Warp: w}
		lo, hi := dist.Interval(p, 0.9)
		if !(lo > zero) {
			t.Fatalf("row %d: the interval begins at %v, below 0, which is %v", i, lo, zero)
		}
		if median := p.Quantile(0.5); hi-median < median-lo {
			t.Fatalf("row %d: from %v through %v to %v", i, lo, median, hi)
		}
		if y := float64(test.Y[i]); y > lo && y < hi {
			inside++
		}
	}
	if inside < 160 || inside > 196 {
		t.Errorf("%d of 200 rows lie in their 90 %% intervals", inside)
	}
	// Without a zero nothing is transformed.
	d.Zero = nil
	if f, err := Fit(t.Context(), quick, d, "", nil); err != nil || f.Warps != nil {
		t.Errorf("a target without a zero: %+v, %v", f.Warps, err)
	}
}

// A transform is tried on half of the folds; what it was trained for is not trained again.
func TestTransformTrials(t *testing.T) {
	d, _ := prices(200, 5)
	c := Config{Ensemble: 1, Steps: 16, Noise: Heteroscedastic, Activation: "tanh", KL: 0.3, Width: 4, Depth: 1, Parallel: 1}
	seen := map[string]int{}
	f, err := Fit(t.Context(), c, d, "", func(p Progress) {
		if x := p.Training; x != nil && x.Step == 0 {
			seen[x.Name]++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"member-0": 1}
	for i := range 5 {
		name := fmt.Sprintf("trial-%d-0", i)
		want[name], want[name+"-half"] = 1, 1
		if i < 3 {
			want[warpedName+name] = 1
		}
	}
	if !maps.Equal(seen, want) {
		t.Errorf("the trainings are %v, want %v; the transforms %v", seen, want, f.Warps)
	}
}

// The logarithm reaches down to the smallest targets, over eight orders of magnitude; a
// single 0 does not change that much.
func TestWideTarget(t *testing.T) {
	d, zero := prices(2000, 6)
	for i, y := range d.Y { // the power 1.5 of all
		d.Y[i] = float32(math.Pow(float64(y)-zero, 1.5) + zero)
	}
	w := proposeWarps(d)
	if w == nil || w[0].Lambda != 0 || !w[0].Positive {
		t.Fatalf("the transform is %+v, want a logarithm", w)
	}
	below := 0
	for _, y := range d.Y {
		if float64(y)-zero < w[0].Low {
			below++
		}
	}
	if below > 20 {
		t.Errorf("%d of 2000 targets lie below the logarithm, which begins at %v", below, w[0].Low)
	}
}

// Targets that no transform makes more Normal are left alone.
func TestNoTransform(t *testing.T) {
	d := rowsOf(300, 1)
	for i := range d.Y {
		d.Y[i] = float32(rng.Normal(rng.New(4), uint64(i)))
	}
	for _, zero := range []float64{-8, 0} { // all above it; on both sides of it
		d.Zero = []float64{zero}
		if w := proposeWarps(d); w != nil {
			t.Errorf("zero at %v: %+v", zero, w[0])
		}
	}
	few, _ := prices(300, 1)
	for i := range 200 { // most are 0
		few.Y[i] = float32(few.Zero[0])
	}
	if w := proposeWarps(few); w != nil {
		t.Errorf("mostly zeros: %+v", w[0])
	}
	for i := 50; i < 200; i++ {
		few.Y[i] = float32(few.Zero[0] + 1.5)
	}
	if w := proposeWarps(few); w == nil {
		t.Error("some zeros keep a skewed target from its transform")
	}
}

// The slope of the transform is part of the score: the same density in other units.
func TestSlopeInScore(t *testing.T) {
	d, _ := prices(50, 2)
	warps := proposeWarps(d)
	b := d.warped(warps)
	h := heldOutPredictions{Mean: make([]float32, 50), Var: make([]float32, 50)}
	var m dist.Mixture
	m.Add(1, 0.2, 0.7)
	for i := range h.Mean {
		h.Mean[i], h.Var[i] = 0.2, 0.49
		got := h.logp(i, b, []ResidualMixture{plainResiduals()})
		if want := (dist.Warped{Mixture: &m, Warp: warps[0]}).LogPDF(float64(d.Y[i])); math.Abs(got-want) > 1e-4 {
			t.Errorf("row %d: ln p is %v, want %v", i, got, want)
		}
	}
	if c := b.pick([]int{3}); c.slopes[0] != b.slopes[3] {
		t.Error("rows lose their slopes")
	}
}

// Far from the training rows the noise stays what training rows showed; what the weights
// do not know grows, and stays finite.
func TestNoiseOutsideTheData(t *testing.T) {
	d := rowsOf(300, 1)
	for i := range d.Y {
		x := rng.Normal(rng.New(6), uint64(2*i))
		d.X.Mean[i] = float32(x)
		d.Y[i] = float32(0.5*x + math.Exp(x)*0.2*rng.Normal(rng.New(6), uint64(2*i+1)))
	}
	c := quick
	c.Noise, c.Ensemble = Heteroscedastic, 1
	f, err := Fit(t.Context(), c, d, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	p := f.NewPredictor(nil, 300)
	var most float32
	for _, v := range p.Predict(d.X).Noise {
		most = max(most, v)
	}
	v := p.Predict(gauss.Fixed(1, []float32{1, 10, 40, 100}))
	for i := range v.Noise {
		if !(v.Noise[i] <= most) {
			t.Errorf("row %d: noise %v; training rows have at most %v", i, v.Noise[i], most)
		}
		if i > 0 && !(v.Weights[i] > v.Weights[i-1]) || v.Var[i]-v.Var[i] != 0 {
			t.Errorf("row %d: the weights add %v, after %v", i, v.Weights[i], v.Weights[max(0, i-1)])
		}
	}
}
