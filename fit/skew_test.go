package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/internal/calibrate"
	"utvi/internal/schema"
	"utvi/predict"
	"utvi/rng"
)

// TestNeverNegative predicts prices outside the data, and stretches their intervals: none
// is negative.
func TestNeverNegative(t *testing.T) {
	key := rng.New(8)
	var b strings.Builder
	b.WriteString("x,z,price\n")
	for i := range 300 {
		x := rng.Normal(key, uint64(3*i))
		fmt.Fprintf(&b, "%.4f,%.4f,$%.4f\n", x, rng.Normal(key, uint64(3*i+1)), math.Exp(3*x+rng.Normal(key, uint64(3*i+2))))
	}
	conf := spec("price")
	r, err := Run(t.Context(), read(t, b.String()), conf, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Model
	if w := m.Net.Warp(0); w == nil || !w.Positive {
		t.Fatalf("the transform is %+v", w)
	}
	for _, d := range r.Insight.Dependence { // drawn by its logarithm
		c := d.Targets[0]
		for i := range d.Values {
			if !c.Log || !(0 < c.Lo[i] && c.Lo[i] <= c.Mean[i] && c.Mean[i] <= c.Hi[i]) {
				t.Fatalf("%s at %v: %v, %v to %v", d.Column.Name, d.Values[i], c.Mean[i], c.Lo[i], c.Hi[i])
			}
		}
	}
	const rows = "x,z\n-3,0\n-9,2\n-1e6,1\n2,0\n"
	for _, c := range []*calibrate.Calibration{nil, {Scale: &calibrate.Scale{Factor: 9, Rows: 100}}} {
		m.Calibration = nil
		if c != nil {
			m.Calibration = []calibrate.Calibration{*c}
		}
		out, _ := written(t, m, rows, predict.Options{Quantiles: []float64{0.001, 0.5}}, 1)
		for _, name := range []string{"price_mean", "price_lo", "price_hi", "price_q0.001", "price_q0.5"} {
			for i, v := range out[name] {
				if !(v >= 0) {
					t.Errorf("calibrated %v: %s of row %d is %v", c != nil, name, i, v)
				}
			}
		}
		if out["price_hi"][3] <= out["price_mean"][3] || out["price_std"][2] == 0 {
			t.Errorf("the distributions are gone: %v", out)
		}
	}
}

// TestShare predicts shares near their bounds and outside the data: neither means nor
// intervals leave 0 to 100 %.
func TestShare(t *testing.T) {
	key := rng.New(9)
	var b strings.Builder
	b.WriteString("x,z,share\n")
	for i := range 300 {
		x := rng.Normal(key, uint64(3*i))
		fmt.Fprintf(&b, "%.4f,%.4f,%.1f%%\n", x, rng.Normal(key, uint64(3*i+1)), 100/(1+math.Exp(-2*x-rng.Normal(key, uint64(3*i+2)))))
	}
	r, err := Run(t.Context(), read(t, b.String()), spec("share"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := written(t, r.Model, "x,z\n-3,0\n-1,0\n1,0\n3,0\n1e6,0\n", predict.Options{Quantiles: []float64{0.001, 0.999}}, 1)
	for _, name := range []string{"share_mean", "share_lo", "share_hi", "share_q0.001", "share_q0.999"} {
		for i, v := range out[name] {
			if !(v >= 0 && v <= 100) {
				t.Errorf("%s of row %d is %v", name, i, v)
			}
		}
	}
	if out["share_q0.001"][0] != 0 || out["share_q0.999"][3] != 100 || out["share_lo"][1] >= out["share_hi"][1] {
		t.Errorf("the distributions do not reach their bounds: %v", out)
	}
}

// TestGrid shows columns where their values are: skewed ones by their logarithm or in their
// middle, and none where marks of something else are.
func TestGrid(t *testing.T) {
	column := func(f func(z float64) float64, mark float64) *schema.Column {
		numbers := make([]float64, 400)
		for i := range numbers {
			numbers[i] = f(rng.Normal(rng.New(5), uint64(i)))
			if mark != 0 && i%20 == 0 {
				numbers[i] = mark
			}
		}
		c := schema.NumericInput("x", numbers)
		return &c
	}
	exp := func(z float64) float64 { return math.Exp(2 * z) }
	for name, c := range map[string]struct {
		*schema.Column
		log      bool
		from, to float64 // bounds of what is shown
	}{
		"normal":      {column(func(z float64) float64 { return z }, 0), false, -5, 5},
		"marked":      {column(func(z float64) float64 { return 10 + z }, -999), false, 5, 15},
		"skewed":      {column(exp, 0), true, 1e-4, 1e4},
		"skewed, -1":  {column(func(z float64) float64 { return exp(z) - 1 }, 0), false, -1, 200},
		"skewed, 1e9": {column(exp, 1e9), true, 1e-4, 1e4},
	} {
		v, log := grid(c.Column)
		if log != c.log || len(v) != gridPoints || v[0] < c.from || v[len(v)-1] > c.to || !slices.IsSorted(v) {
			t.Errorf("%s: %v to %v, by logarithms %v", name, v[0], v[len(v)-1], log)
		}
	}
}
