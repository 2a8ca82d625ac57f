package fit

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"utvi/internal/tabular"
	"utvi/predict"
	"utvi/table"
)

// A number and a level that training never lacked or showed make predictions uncertain.
func TestWhatTrainingNeverShowed(t *testing.T) {
	text := "a,b,kind,y\n"
	for i := range 300 {
		a, b := math.Sin(float64(7*i)), fmt.Sprint(math.Cos(float64(5*i)))
		if i%10 == 0 {
			b = ""
		}
		text += fmt.Sprintf("%v,%s,%s,%v\n", a, b, []string{"x", "z", "w"}[i%3], 5*a+float64(4*(i%3)))
	}
	r, err := table.NewReader(strings.NewReader(text), "a.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := table.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	c := tabular.Config{Ensemble: 2, Noise: tabular.Learned, KL: 0.3, Activation: "leaky-relu", Width: 16, Depth: 1, Steps: 600}
	result, err := Run(context.Background(), f, Config{Targets: []string{"y"}, Impute: true, Network: c}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := result.Model.NewPredictor(predict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Rows(t.Context(), []map[string]any{
		{"a": 0.5, "b": 0.5, "kind": "z"}, {"a": nil, "b": 0.5, "kind": "z"}, {"a": 0.5, "b": 0.5, "kind": "new"}, {"a": 0.5, "b": 0.5, "kind": nil}})
	if err != nil {
		t.Fatal(err)
	}
	std := func(i int) float64 { return all[i].Numbers[0].Std }
	if std(0) > 1 || std(1) < 2 || std(2) < 2.5 || std(3) < 2.5 {
		t.Errorf("the standard deviations are %.2f; without a number %.2f, of a new level %.2f, without a level %.2f", std(0), std(1), std(2), std(3))
	}
}
