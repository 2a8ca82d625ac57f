package gpu_test

import (
	"testing"

	"utvi/fn"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
)

// correlatedCases are networks that carry correlations.
func correlatedCases() []testCase {
	leaky, smooth := nn.Apply{F: fn.LeakyReLU(0.01)}, nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(9)}
	three := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	linear := nn.Apply{F: fn.SiLU(), Rule: moment.Linear()}
	one := nn.Dense{Out: 1}
	return []testCase{
		{"correlated", 3, nn.Correlate(nn.Chain{nn.Dense{Out: 50}, leaky, nn.Dense{Out: 40}, smooth, one, nn.Noise{}}), likelihood.Normal{}},
		{"correlated, two outputs", 4, nn.Correlate(nn.Chain{nn.Dense{Out: 130}, three, nn.Dense{Out: 140}, leaky, nn.Dense{Out: 2}}), likelihood.Heteroscedastic{}},
		{"correlated, some fixed", 4, nn.Correlate(nn.Chain{nn.Dense{Out: 20, Fixed: true}, smooth, nn.Dense{Out: 30}, linear, nn.Dense{Out: 18}}), likelihood.Normal{}},
		{"correlated, fixed behind", 4, nn.Correlate(nn.Chain{nn.Dense{Out: 20}, smooth, nn.Dense{Out: 18, Fixed: true}, leaky, nn.Dense{Out: 3, NoBias: true}, nn.Scale{}, smooth}), likelihood.Normal{}},
		{"correlated, units", 3, nn.Correlate(nn.Chain{nn.Dense{Out: 20}, nn.Scale{Start: 1.3}, smooth, nn.Dropout{P: 0.2}, nn.Dense{Out: 3}, nn.Noise{Start: 0.4}, nn.Multiply{By: []float64{2, -0.5, 1.5}}, linear, one}), likelihood.Normal{}},
		{"correlated, noise first", 3, nn.Correlate(nn.Chain{nn.Dropout{P: 0.3}, nn.Noise{}, smooth, nn.Dense{Out: 2}}), likelihood.Normal{}},
		{"correlated, exact", 3, nn.Correlate(nn.Chain{nn.Dense{Out: 9}, nn.Apply{F: fn.GELU(), Rule: moment.Exact()}, nn.Dense{Out: 200}, nn.Apply{F: fn.Erf(), Rule: moment.Exact()}, nn.Dense{Out: 200}, nn.Apply{F: fn.Sin(), Rule: moment.Exact()}, one}), likelihood.Normal{}},
		{"correlated levels", 3, nn.Correlate(nn.Chain{nn.Embed{Categories: []nn.Category{{Unit: 1, Levels: 4, Width: 2}}}, nn.Dense{Out: 9}, leaky, one}), likelihood.Normal{}},
		{"correlated behind others", 3, nn.Chain{nn.Dense{Out: 17}, leaky, nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 19}, leaky, nn.Dense{Out: 7}, smooth}}, nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 2}}}}, likelihood.Normal{}},
	}
}

// Trainings that carry correlations have the same bits too.
func TestSameBitsCorrelated(t *testing.T) {
	e := card(t)
	act := nn.Apply{F: fn.LeakyReLU(0.01)}
	sameBits(t, e, "correlated", func() *model.Model {
		m, err := model.New(model.Config{Input: nn.Vec(1), Seed: 5, Layers: nn.Correlate(nn.Chain{nn.Dense{Out: 20}, act, nn.Dense{Out: 20}, act, nn.Dense{Out: 1}, nn.Noise{}})})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}
