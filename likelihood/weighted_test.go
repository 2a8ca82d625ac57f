package likelihood_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/likelihood"
)

// A row of weight 3 is three rows, its gradients too.
func TestWeighted(t *testing.T) {
	mean, variance := []float64{0.4, -1.1}, []float64{0.3, 0.7}
	for _, l := range []likelihood.Likelihood{likelihood.Normal{}, likelihood.Heteroscedastic{}} {
		k, err := l.Targets(2)
		if err != nil {
			t.Fatal(err)
		}
		y := []float64{0.9, 0.2}[:k]
		var dm, dv, wm, wv [2]float64
		want, _ := l.Row(y, mean, variance, dm[:], dv[:])
		w := likelihood.Weighted{Of: l}
		if n, err := w.Targets(2); err != nil || n != k+1 {
			t.Errorf("%v: %d targets (%v), want %d", w, n, err, k+1)
		}
		got, _ := w.Row(append(y, 3), mean, variance, wm[:], wv[:])
		if got != 3*want {
			t.Errorf("%v: %v, want %v", w, got, 3*want)
		}
		for i := range dm {
			if wm[i] != 3*dm[i] || wv[i] != 3*dv[i] {
				t.Errorf("%v: gradients %v %v, want 3 times %v %v", w, wm, wv, dm, dv)
			}
		}
		for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
			if got, _ := w.Row(append(y, bad), mean, variance, wm[:], wv[:]); !math.IsNaN(got) {
				t.Errorf("the weight %v scores %v", bad, got)
			}
		}
	}
	if _, err := (likelihood.Weighted{}).Targets(1); err == nil {
		t.Error("a likelihood of nothing was accepted")
	}
}

func ExampleWeighted() {
	var dmean, dvar [1]float64
	l := likelihood.Weighted{Of: likelihood.Normal{}}
	once, _ := l.Row([]float64{0.5, 1}, []float64{0}, []float64{1}, dmean[:], dvar[:])
	twice, _ := l.Row([]float64{0.5, 2}, []float64{0}, []float64{1}, dmean[:], dvar[:])
	fmt.Printf("%v: %.4f and %.4f\n", l, once, twice)
	// Output: weighted normal: 1.0439 and 2.0879
}
