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

// correlatedImages are networks of images and of two roads that carry correlations.
func correlatedImages() []testCase {
	leaky := nn.Apply{F: fn.LeakyReLU(0.01)}
	softmax := nn.Joint{Map: fn.Softmax()}
	conv := nn.Conv2D{Out: 3, Kernel: [2]int{3, 2}, Padding: nn.Same}
	branch := nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 6}}
	return []testCase{
		{"correlated convolutions", 50, nn.Correlate(nn.Chain{conv, leaky, nn.Conv2D{Out: 4, Kernel: [2]int{2, 3}, Stride: 2, Padding: nn.Same, NoBias: true}, leaky,
			nn.Conv2D{Out: 2, Kernel: [2]int{1, 1}, Fixed: true}, leaky, nn.Conv2D{Out: 2, Kernel: [2]int{2, 2}, Stride: 3, Pad: [4]int{0, 1, 1, 0}}, nn.Flatten{}, nn.Dense{Out: 1}}), likelihood.Normal{}},
		{"a correlated convolution alone", 32, nn.Correlate(nn.Chain{nn.Conv2D{Out: 2, Kernel: [2]int{3, 3}}, nn.Flatten{}}), likelihood.Normal{}},
		{"correlated convolution of numbers", 32, nn.Correlate(nn.Chain{nn.Conv2D{Out: 2, Kernel: [2]int{3, 3}, Fixed: true}, leaky, conv, leaky, nn.Dense{Out: 2}}), likelihood.Normal{}},
		{"correlated classes of images", 32, nn.Correlate(nn.Chain{conv, leaky, nn.MaxPool2D{Size: [2]int{2, 2}}, conv, nn.Dense{Out: 3}, softmax}), likelihood.Categorical{}},
		{"correlated averages", 50, nn.Correlate(nn.Chain{conv, nn.AvgPool2D{Size: [2]int{2, 2}, Stride: 1, Pad: [4]int{0, 1, 1, 0}}, leaky, nn.AvgPool2D{Size: [2]int{2, 3}, Stride: 2, Pad: [4]int{1, 1, 0, 2}, CountPad: true}, nn.Dense{Out: 2}}), likelihood.Normal{}},
		{"correlated maxima", 50, nn.Correlate(nn.Chain{conv, nn.MaxPool2D{Size: [2]int{2, 3}, Stride: 1, Pad: [4]int{1, 1, 0, 2}}, leaky, nn.MaxPool2D{Size: [2]int{2, 2}}, nn.Dense{Out: 2}}), likelihood.Normal{}},
		{"correlated maxima last", 32, nn.Chain{nn.Correlated{Layers: nn.Chain{conv, nn.MaxPool2D{Size: [2]int{2, 4}}, nn.Flatten{}}}, softmax}, likelihood.Categorical{}},
		{"correlated maxima first", 32, nn.Correlate(nn.Chain{nn.MaxPool2D{Size: [2]int{2, 2}, Stride: 1}, nn.Dense{Out: 2}}), likelihood.Normal{}},
		{"correlated line", 24, nn.Correlate(nn.Chain{nn.Conv1D{Out: 5, Kernel: 4, Stride: 2}, leaky, nn.Conv1D{Out: 2, Kernel: 3, Padding: nn.Same}, nn.Dense{Out: 1}, nn.Noise{}}), likelihood.Normal{}},
		{"correlated norms", 3, nn.Correlate(nn.Chain{nn.Dense{Out: 6}, nn.BatchNorm{Mean: []float64{1, 2, 3, 0, 0, 1}, Var: []float64{1, 2, 1, 3, 1, 0.5}, Gain: []float64{1, 2, 1, -1, 1, 1}},
			nn.LayerNorm{}, nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}, nn.LayerNorm{FixedMean: true, Eps: 0.1}, nn.Dense{Out: 2}}), likelihood.Normal{}},
		{"correlated norm first", 5, nn.Correlate(nn.Chain{nn.LayerNorm{}, nn.Dense{Out: 3}, softmax}), likelihood.Categorical{}},
		{"correlated norm last", 3, nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 40}, nn.LayerNorm{}}}, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"correlated residual", 2, nn.Correlate(nn.Chain{nn.Dense{Out: 6}, nn.Residual{Branch: branch}, leaky, nn.Residual{Branch: nn.Chain{nn.Residual{Branch: branch}, nn.Dense{Out: 6}}}, nn.Dense{Out: 1}}), likelihood.Normal{}},
		{"correlated residual alone", 3, nn.Correlate(nn.Chain{nn.Residual{Branch: nn.Chain{nn.Dense{Out: 3}, leaky}}}), likelihood.Normal{}},
		{"twice, correlated", 3, nn.Chain{nn.Dense{Out: 3}, nn.Correlated{Layers: nn.Chain{nn.Residual{Branch: nn.Chain{nn.Flatten{}}}, nn.Chain{leaky, nn.Dense{Out: 1}}}}}, likelihood.Normal{}},
		{"two correlated roads", 3, nn.Correlate(nn.Chain{nn.Residual{Branch: nn.Chain{nn.Dense{Out: 6, Fixed: true}, leaky, nn.Dense{Out: 20}}, Skip: nn.Chain{nn.Dense{Out: 20}, leaky}}, leaky,
			nn.Residual{Branch: nn.Chain{leaky, nn.Dense{Out: 17}}, Skip: nn.Dense{Out: 17, NoBias: true}}, nn.Residual{Branch: nn.Dense{Out: 2}, Skip: nn.Dense{Out: 2, Fixed: true}}}), likelihood.Normal{}},
		{"a correlated road", 3, nn.Chain{nn.Dense{Out: 4}, nn.Residual{Branch: nn.Dense{Out: 2}, Skip: nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 2}}}}}, likelihood.Normal{}},
		{"correlated road of images", 32, nn.Correlate(nn.Chain{conv, nn.Residual{Branch: nn.Chain{nn.BatchNorm{Mean: []float64{1, 0, 2}, Var: []float64{1, 2, 3}}, leaky, conv}}, nn.MaxPool2D{Size: [2]int{2, 2}}, nn.Dense{Out: 3}, softmax}), likelihood.Categorical{}},
	}
}

// Trainings that carry correlations have the same bits too.
func TestSameBitsCorrelated(t *testing.T) {
	e := card(t)
	act := nn.Apply{F: fn.LeakyReLU(0.01)}
	sameBits(t, e, "correlated", 45, 0, 0, func() *model.Model {
		m, err := model.New(model.Config{Input: nn.Vec(1), Seed: 5, Layers: nn.Correlate(nn.Chain{nn.Dense{Out: 20}, act, nn.Dense{Out: 20}, act, nn.Dense{Out: 1}, nn.Noise{}})})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}
