package fit

import (
	"strings"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/tabular"
	"utvi/model"
	"utvi/predict"
)

// What a fit advises can be done by who fits tables.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		change  func(*tabular.Config)
		classes int
		want    string
	}{
		{func(*tabular.Config) {}, 0, "calibrate the model with held-out rows: the propagated variance"},
		{func(c *tabular.Config) { c.Independent = true }, 0, "fit without the setting independent"},
		{func(c *tabular.Config) { c.Rule = "ut(2)" }, 0, "fit without the rule ut(2)"},
		{func(c *tabular.Config) { c.Activation = "a*tanh(x); a = learned 1" }, 0, "fit with fixed parameters"},
		{func(c *tabular.Config) { c.Noise = "" }, 20, "calibrate the model with held-out rows: with so many classes"},
	} {
		config := tabular.Config{Ensemble: 1, Noise: tabular.Learned, KL: 0.3, Activation: "tanh", Width: 4, Depth: 1, Steps: 8}
		c.change(&config)
		d := tabular.Data{Set: data.Set{X: gauss.Fixed(1, make([]float32, 60)), Y: make([]float32, 60)}, Classes: c.classes}
		for i := range 60 {
			d.X.Mean[i], d.Y[i] = float32(i%7), float32(i%20)
		}
		net, err := tabular.Fit(t.Context(), config, d, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		r := &model.SigmaRatio{Advice: "train with nn.Correlate"}
		(&Model{Model: &predict.Model{Net: net}}).advise(r)
		if !strings.HasPrefix(r.Advice, c.want) {
			t.Errorf("the advice is %q, want %q", r.Advice, c.want)
		}
		good := &model.SigmaRatio{}
		if (&Model{Model: &predict.Model{Net: net}}).advise(good); good.Advice != "" {
			t.Errorf("error bars that agree get the advice %q", good.Advice)
		}
	}
}
