package fit

import (
	"math"
	"strings"
	"testing"

	"utvi/dist"
	"utvi/internal/schema"
)

// The weights of held-out rows reach every method.
func TestCalibrateByWeights(t *testing.T) {
	var weighted, repeated []outcome
	for i := range 200 {
		o := outcome{y: []float64{math.Sin(float64(i*i)) * float64(1+i%3)}, d: []dist.Dist{dist.Normal{Sigma: 1}},
			class: i * i % 3 % 2, p: dist.Categorical{0.8, 0.2}, weight: float64(i%3 + 1)}
		weighted = append(weighted, o)
		o.weight = 1
		for range i%3 + 1 {
			repeated = append(repeated, o)
		}
	}
	all := []Method{Scale, Isotonic, Conformal}
	got, err := fitter{weighted, 0, all, false, false}.fit(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fitter{repeated, 0, all, false, false}.fit(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Scale.Factor-want.Scale.Factor) > 1e-12 || got.Conformal.Shares == nil {
		t.Errorf("%v, with rows repeated %v", got, want)
	}
	for i := 1; i < 20; i++ {
		d := dist.Normal{Sigma: 1}
		x := float64(i)/5 - 2
		if a, b := got.Apply(d, nil).CDF(x), want.Apply(d, nil).CDF(x); math.Abs(a-b) > 0.05 {
			t.Errorf("the distribution at %g is %g, with rows repeated %g", x, a, b)
		}
	}
	cold, err := fitter{weighted, 0, []Method{Temperature}, true, false}.fit(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	same, err := fitter{repeated, 0, []Method{Temperature}, true, false}.fit(0, 1)
	if err != nil || math.Abs(cold.Temperature.T-same.Temperature.T) > 1e-9 {
		t.Errorf("%v, with rows repeated %v, %v", cold, same, err)
	}
}

func TestOneKindOfConformalIntervals(t *testing.T) {
	err := checkMethods(schema.Regression, []Method{Conformal, Asymmetric})
	if err == nil || !strings.Contains(err.Error(), "conformal and asymmetric exclude each other") {
		t.Error(err)
	}
}
