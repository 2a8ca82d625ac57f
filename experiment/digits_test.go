package experiment

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"utvi/rng"
)

// A Bayesian classifier is as accurate as its twin, within a percentage point,
// and its entropy tells unfamiliar images apart better: mean of two replicates.
// Its variance over the weights, which the twin has not, tells them apart better
// still.
func TestDigits(t *testing.T) {
	r, err := Digits(t.Context(), DigitsSpec{Seed: 1, Replicates: 2, Steps: 600, TestRows: 1000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", table.String())
	twin, bayes := r.Methods[0], r.Methods[1]
	accuracy := func(t DigitsTrial) float64 { return t.Accuracy }
	a, _ := twin.over(accuracy)
	b, _ := bayes.over(accuracy)
	if a < 0.9 || math.Abs(b-a) > 0.01 {
		t.Errorf("the twin's accuracy is %.3f, the Bayesian network's %.3f", a, b)
	}
	for k, kind := range r.Kinds {
		entropy := func(t DigitsTrial) float64 { return t.Entropy[k] }
		a, _ := twin.over(entropy)
		b, _ := bayes.over(entropy)
		v, _ := bayes.over(func(t DigitsTrial) float64 { return t.Variance[k] })
		if !(b > a) || !(v > a) {
			t.Errorf("%s: AUROC %.3f by the twin's entropy, %.3f by the Bayesian network's, %.3f by its variance", kind, a, b, v)
		}
	}
}

func TestAUROC(t *testing.T) {
	var low, high []float64
	for i := range uint64(60) {
		low = append(low, math.Floor(6*rng.Uniform(rng.New(1), i)))
		high = append(high, math.Floor(7*rng.Uniform(rng.New(2), i)))
	}
	high = high[:45]
	var want float64
	for _, a := range low {
		for _, b := range high {
			switch {
			case b > a:
				want++
			case b == a:
				want += 0.5
			}
		}
	}
	want /= 60 * 45
	if got := auroc(low, high); math.Abs(got-want) > 1e-12 || got == 0.5 {
		t.Errorf("%v, by counting pairs %v", got, want)
	}
}

func TestDigitsCheck(t *testing.T) {
	for want, s := range map[string]DigitsSpec{
		"0 replicates":   {Steps: 1, TestRows: 100},
		"0 steps":        {Replicates: 1, TestRows: 100},
		"99 test images": {Replicates: 1, Steps: 1, TestRows: 99},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if DigitsFull().Check() != nil || DigitsQuick().Check() != nil {
		t.Error("a preset is refused")
	}
}

func TestDigitsContinues(t *testing.T) {
	spec := DigitsSpec{Seed: 2, Replicates: 1, Steps: 30, TestRows: 100}
	whole, err := Digits(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	spec.Dir = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Digits(ctx, spec, func(e Event) {
		if e.Step >= 8 {
			cancel()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want the context's error", err)
	}
	again, err := Digits(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(whole.Methods, again.Methods) {
		t.Errorf("continued %+v, want %+v", again.Methods, whole.Methods)
	}
}
