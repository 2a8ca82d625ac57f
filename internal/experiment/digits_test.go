package experiment

import (
	"math"
	"strings"
	"testing"

	"utvi/internal/sweep"
	"utvi/rng"
)

// A Bayesian classifier is as accurate as its twin, within a percentage point,
// and its entropy tells unfamiliar images apart better: mean of two replicates.
// Its variance over the weights, which the twin has not, tells them apart better
// still.
func TestDigits(t *testing.T) {
	size := Size{Preset: "quick", Seed: 1, Replicates: 2, Steps: 600}
	plan, err := sweep.NewPlan("digits", digitsExperiment.Plan(size)...)
	if err != nil {
		t.Fatal(err)
	}
	found, err := sweep.Runner{Kinds: Kinds(), Dir: t.TempDir()}.Run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	f, err := digitsExperiment.Find(size, NewResults(plan, found))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range f.Tables[0].Rows {
		t.Log(strings.Join(row, "  "))
	}
	methods := f.Numbers.(map[string]any)["methods"].([]DigitsMethod)
	twin, bayes := methods[0], methods[1]
	if a, b := twin.Accuracy.Mean, bayes.Accuracy.Mean; a < 0.9 || math.Abs(b-a) > 0.01 {
		t.Errorf("the twin's accuracy is %.3f, the Bayesian network's %.3f", a, b)
	}
	for k, kind := range digitsUnfamiliar {
		a := twin.Entropy[k].Mean
		b := bayes.Entropy[k].Mean
		v := bayes.Variance[k].Mean
		if !(b > a) || !(v > a) {
			t.Errorf("%s: AUROC %.3f by the twin's entropy, %.3f by the Bayesian network's, %.3f by its variance", kind.name, a, b, v)
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

func TestDigitsSpecRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		`{"steps":0,"test_rows":100}`: "0 steps",
		`{"steps":1,"test_rows":99}`:  "99 test images",
		`{"step":1}`:                  "step",
	} {
		if err := digitsKind.Check([]byte(spec)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
