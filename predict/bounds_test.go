package predict_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"utvi/fit"
	"utvi/predict"
	"utvi/rng"
)

// The distribution of a price, as a batch shows it, has no negative quantile; its interval and
// its mean are those of the numbers.
func TestDistOfPrices(t *testing.T) {
	key := rng.New(8)
	var b strings.Builder
	b.WriteString("x,z,price\n")
	for i := range 300 {
		x := rng.Normal(key, uint64(3*i))
		fmt.Fprintf(&b, "%.4f,%.4f,$%.4f\n", x, rng.Normal(key, uint64(3*i+1)), math.Exp(3*x+rng.Normal(key, uint64(3*i+2))))
	}
	r, err := fit.Run(t.Context(), loaded(t, b.String()), fit.Config{Targets: []string{"price"}, Network: quick}, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if w := r.Model.Net.Warp(0); w == nil || !w.Positive {
		t.Fatalf("the transform is %+v", w)
	}
	p := predictor(t, opened(t, r.Model), predict.Options{})
	look := func(b *predict.Batch) (int, error) {
		for row := range b.Len() {
			d, n := b.Dist(row, 0), b.Numbers(row)[0]
			for _, c := range []struct{ got, want float64 }{{d.Quantile(0.05), n.Lo}, {d.Quantile(0.95), n.Hi}, {d.Mean(), n.Mean}} {
				if !(math.Abs(c.got-c.want) <= 1e-4*(1+math.Abs(c.want))) {
					t.Errorf("row %d: the distribution has %g, the numbers %g", row, c.got, c.want)
				}
			}
			if least := d.Quantile(1e-9); !(least >= 0) {
				t.Errorf("row %d: a price of %g", row, least)
			}
		}
		return 0, nil
	}
	const rows = "x,z\n-3,0\n-9,2\n2,0\n0,1\n"
	err = predict.Stream(t.Context(), p, loaded(t, rows).Rows(nil), nil, look, func(int) error { return nil })
	if err != nil {
		t.Error(err)
	}
}
