package gpu_test

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/localization"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
)

var only = flag.String("case", "", "run only the networks whose names contain this")

// chosen are the cases that the flag asks for.
func chosen(all []testCase) []testCase {
	return slices.DeleteFunc(all, func(c testCase) bool { return !strings.Contains(c.name, *only) })
}

// layerCases are networks with layers that move, embed or normalise units.
func layerCases() []testCase {
	all := unitCases()
	for _, rule := range []moment.JointRule{moment.JointFifth(), moment.JointUT(1), moment.JointAxes(3), moment.JointMC(7)} {
		layers := nn.Chain{nn.Dense{Out: 9}, nn.Apply{F: fn.LeakyReLU(0.01)}, nn.Dense{Out: 3}, nn.Joint{Map: fn.Softmax(), Rule: rule}}
		all = append(all, testCase{fmt.Sprintf("classes by %v", rule), 3, layers, likelihood.Categorical{}}, testCase{fmt.Sprintf("correlated classes by %v", rule), 3, nn.Correlate(layers), likelihood.Categorical{}})
	}
	return append(all,
		testCase{"many classes by points", 3, nn.Chain{nn.Dense{Out: 37}, nn.Joint{Map: fn.Softmax(), Rule: moment.JointAxes(3)}}, likelihood.Categorical{}},
		testCase{"classes of numbers by points", 3, nn.Chain{nn.Dense{Out: 5, Fixed: true}, nn.Joint{Map: fn.Softmax(), Rule: moment.JointMC(5)}, nn.Dense{Out: 2}}, likelihood.Normal{}})
}

func unitCases() []testCase {
	leaky := nn.Apply{F: fn.LeakyReLU(0.01)}
	softmax, photons := nn.Joint{Map: fn.Softmax()}, localization.PhotonNode(100, 1.05, 8)
	edges := nn.Piecewise{Edges: [][]float64{{-1.3, -0.2, 0.1, 0.9}, nil, {-2, 2.5}}}
	waves := nn.Periodic{Frequencies: [][]float64{{0.1, -0.3, 1.02}, nil, {0.2}}}
	branch := nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 6}}
	return []testCase{
		{"table", 3, nn.Chain{edges, nn.Dense{Out: 20}, leaky, nn.Dense{Out: 4}, nn.Append{Count: 2, Start: -1}}, likelihood.Heteroscedastic{Common: 0.3}},
		{"embedded later", 2, nn.Chain{nn.Dense{Out: 3}, edges, nn.Dense{Out: 2}}, likelihood.Normal{}},
		{"table of uncertain inputs", 3, nn.Chain{edges, nn.Dense{Out: 20}, leaky, nn.Dense{Out: 4}, nn.Append{Count: 2, Start: -1}}, likelihood.Heteroscedastic{Common: 0.3, Total: true}},
		{"uncertain inputs", 3, nn.Chain{nn.Dense{Out: 20}, leaky, nn.Dense{Out: 4}}, likelihood.Heteroscedastic{Total: true, Floor: 0.5}},
		{"correlated table", 3, append(nn.Correlate(nn.Chain{edges, nn.Dense{Out: 20}, leaky, nn.Dense{Out: 2}}), nn.Append{Count: 1, Start: -1}), likelihood.Heteroscedastic{Common: 0.5}},
		{"correlated, embedded later", 2, nn.Correlate(nn.Chain{nn.Dense{Out: 3}, edges, nn.Dense{Out: 2}}), likelihood.Normal{}},
		{"waves", 3, nn.Chain{waves, nn.Dense{Out: 20}, leaky, nn.Dense{Out: 2}}, likelihood.Normal{}},
		{"waves later", 2, nn.Chain{nn.Dense{Out: 3}, waves, nn.Dense{Out: 2}}, likelihood.Normal{}},
		{"waves of numbers later", 2, nn.Chain{nn.Dense{Out: 3, Fixed: true}, waves, nn.Dense{Out: 2}}, likelihood.Normal{}},
		{"no waves", 2, nn.Chain{nn.Periodic{Frequencies: make([][]float64, 2)}, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"correlated waves", 3, nn.Correlate(nn.Chain{waves, nn.Dense{Out: 20}, leaky, nn.Dense{Out: 2}}), likelihood.Normal{}},
		{"correlated waves later", 2, nn.Correlate(nn.Chain{nn.Dense{Out: 3}, waves, nn.Dense{Out: 2}}), likelihood.Normal{}},
		{"levels", 3, nn.Chain{nn.Embed{Categories: []nn.Category{{Unit: 0, Levels: 3, Width: 2}, {Unit: 2, Levels: 200, Width: 3}}}, nn.Dense{Out: 9}, leaky, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"levels later", 3, nn.Chain{nn.Dense{Out: 3}, nn.Embed{Categories: []nn.Category{{Unit: 1, Levels: 3, Width: 2}}}, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"poisson", 3, nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 2}}, likelihood.Count{Scale: &likelihood.CountScale{Zero: []float64{-0.5, 0}, Step: []float64{0.1, 1}}}},
		{"negative binomial", 3, nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 1}, nn.Append{Count: 1, Start: -1}}, likelihood.Count{Dispersed: true, Scale: &likelihood.CountScale{Zero: []float64{-0.5}, Step: []float64{0.1}, Base: []float64{2}}}},
		{"dispersion beyond its bounds", 3, nn.Chain{nn.Dense{Out: 3}, nn.Append{Count: 3, Start: 6}}, likelihood.Count{Dispersed: true}},
		{"residual", 2, nn.Chain{nn.Dense{Out: 6}, nn.Residual{Branch: branch}, leaky, nn.Residual{Branch: nn.Chain{nn.Residual{Branch: branch}, nn.Dense{Out: 6}}}, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"wide residual", 2, nn.Chain{nn.Dense{Out: 170}, nn.Residual{Branch: leaky}, nn.Dense{Out: 200}, nn.Residual{Branch: leaky}, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"residual of numbers", 3, nn.Chain{nn.Residual{Branch: leaky}, nn.Dense{Out: 2}}, likelihood.Normal{}},
		{"two residuals of numbers", 3, nn.Chain{nn.Residual{Branch: nn.Dense{Out: 3}}, nn.Residual{Branch: nn.Dense{Out: 3, Fixed: true}}}, likelihood.Normal{}},
		{"two roads", 3, nn.Chain{nn.Residual{Branch: nn.Chain{nn.Dense{Out: 6, Fixed: true}, leaky, nn.Dense{Out: 200}}, Skip: nn.Chain{nn.Dense{Out: 200}, leaky}}, leaky,
			nn.Residual{Branch: nn.Chain{leaky, nn.Dense{Out: 170}}, Skip: nn.Chain{nn.Dense{Out: 170, NoBias: true}}}, nn.Residual{Branch: nn.Dense{Out: 1}, Skip: nn.Dense{Out: 1, Fixed: true}}}, likelihood.Normal{}},
		{"norms", 3, nn.Chain{nn.Dense{Out: 6}, nn.BatchNorm{Mean: []float64{1, 2, 3, 0, 0, 1}, Var: []float64{1, 2, 1, 3, 1, 0.5}, Gain: []float64{1, 2, 1, -1, 1, 1}},
			nn.LayerNorm{}, nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}, nn.LayerNorm{FixedMean: true, Eps: 0.1}, nn.Dense{Out: 2}}, likelihood.Normal{}},
		{"two classes", 3, nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 2}, softmax}, likelihood.Categorical{}},
		{"classes", 3, nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 5}, softmax}, likelihood.Categorical{}},
		{"correlated, two classes", 3, nn.Correlate(nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 2}, softmax}), likelihood.Categorical{}},
		{"correlated classes", 3, nn.Correlate(nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 5}, softmax}), likelihood.Categorical{}},
		{"correlated classes, scaled", 3, nn.Correlate(nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 4}, nn.Noise{}, nn.Scale{Start: 0.7}, nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}, nn.Dropout{P: 0.1}, nn.Multiply{By: []float64{2, 1, -1, 3}}, softmax}), likelihood.Categorical{}},
		{"correlated photons", 3, nn.Correlate(nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 4}, nn.Scale{}, nn.Conditional{Target: 1, Given: []int{3, 0}, Location: photons, Joint: true}, nn.Scale{Start: 10}}), likelihood.Normal{}},
		{"many classes", 3, nn.Chain{nn.Dense{Out: 40}, softmax}, likelihood.Categorical{}},
		{"classes of numbers", 3, nn.Chain{nn.Dense{Out: 37, Fixed: true}, softmax, nn.Dense{Out: 2}}, likelihood.Normal{}},
		{"photons", 3, nn.Chain{nn.Dense{Out: 4}, nn.Conditional{Target: 2, Given: []int{3, 0}, Location: photons}, nn.Scale{Start: 10}}, likelihood.Normal{}},
		{"photons, joint", 3, nn.Chain{nn.Dense{Out: 4}, nn.Conditional{Target: 1, Given: []int{0, 2}, Location: photons, Joint: true}, nn.Scale{Start: 10}}, likelihood.Normal{}},
		{"photons, 125 points", 3, nn.Chain{nn.Dense{Out: 3}, nn.Conditional{Target: 2, Given: []int{0, 1}, Location: photons, Joint: true, Rule: moment.JointGH(5)}, nn.Scale{Start: 10}}, likelihood.Normal{}},
	}
}

// imageCases are networks of images.
func imageCases() []testCase {
	leaky := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	return []testCase{
		{"localisation", 64, nn.Chain{nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, leaky, nn.Dense{Out: 20}, leaky, nn.Dense{Out: 3}, nn.Scale{}, nn.Apply{F: fn.NormalInverse(), Rule: moment.UT(2)},
			nn.Multiply{By: []float64{2, 2, 1}}, nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8)}, nn.Multiply{By: []float64{1, 1, 0.01}}}, likelihood.Normal{}},
		{"localisation by four blocks", 64, nn.Chain{nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, leaky, nn.Dense{Out: 32}, leaky, nn.Dense{Out: 3}, nn.Scale{}, nn.Apply{F: fn.NormalInverse(), Rule: moment.UT(2)},
			nn.Multiply{By: []float64{2, 2, 1}}, nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8)}, nn.Multiply{By: []float64{1, 1, 0.01}}}, likelihood.Normal{}},
		{"a small convolution", 50, nn.Chain{nn.Conv2D{Out: 3, Kernel: [2]int{3, 2}, Stride: 2, Pad: [4]int{1, 0, 1, 1}, NoBias: true}, leaky, nn.Dense{Out: 20}, leaky, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"a small convolution of numbers", 64, nn.Chain{nn.Conv2D{Out: 2, Kernel: [2]int{3, 3}, Fixed: true}, leaky, nn.Dense{Out: 20}, leaky, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"weights beyond shared memory", 4, nn.Chain{nn.Dense{Out: 284}, leaky, nn.Dense{Out: 128}, leaky, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"convolutions", 50, nn.Chain{nn.Conv2D{Out: 3, Kernel: [2]int{3, 2}, Padding: nn.Same}, nn.Apply{F: fn.Tanh()}, nn.Conv2D{Out: 20, Kernel: [2]int{2, 3}, Stride: 2, Padding: nn.Same, NoBias: true},
			nn.Conv2D{Out: 2, Kernel: [2]int{1, 1}}, leaky, nn.Conv2D{Out: 1, Kernel: [2]int{2, 2}, Stride: 3, Fixed: true}, nn.Flatten{}}, likelihood.Normal{}},
		{"pools", 108, nn.Chain{nn.AvgPool2D{Size: [2]int{2, 1}}, nn.Conv2D{Out: 4, Kernel: [2]int{2, 2}}, nn.MaxPool2D{Size: [2]int{1, 2}, Stride: 1}, nn.AvgPool2D{Size: [2]int{2, 2}, Stride: 1}, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"padded", 50, nn.Chain{nn.Conv2D{Out: 3, Kernel: [2]int{3, 3}, Pad: [4]int{2, 0, 1, 2}, Stride: 2}, nn.MaxPool2D{Size: [2]int{2, 3}, Stride: 1, Pad: [4]int{1, 1, 0, 2}}, nn.AvgPool2D{Size: [2]int{2, 2}, Stride: 1, Pad: [4]int{0, 1, 1, 0}},
			nn.AvgPool2D{Size: [2]int{2, 3}, Stride: 1, Pad: [4]int{1, 1, 0, 2}, CountPad: true}, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"maxima of numbers", 75, nn.Chain{nn.Conv2D{Out: 2, Kernel: [2]int{2, 2}, Fixed: true}, nn.MaxPool2D{Size: [2]int{3, 2}, Stride: 1}, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"along a line", 24, nn.Chain{nn.Conv1D{Out: 5, Kernel: 4, Stride: 2}, leaky, nn.Conv1D{Out: 2, Kernel: 3, Padding: nn.Same}, nn.MaxPool2D{Size: [2]int{1, 5}}, nn.Noise{}}, likelihood.Normal{}},
	}
}

// inputOf is the shape of the inputs: a square image, or a line, if the first layer
// takes one.
func inputOf(size int, layers nn.Chain) nn.Shape {
	switch first := layers[0].(type) {
	case nn.Correlated:
		return inputOf(size, first.Layers)
	case nn.Conv1D:
		return nn.Shape{H: 1, W: size / 2, C: 2}
	case nn.Conv2D, nn.AvgPool2D, nn.MaxPool2D:
		for c := 1; ; c++ {
			if side := int(math.Sqrt(float64(size / c))); side*side*c == size {
				return nn.Shape{H: side, W: side, C: c}
			}
		}
	}
	return nn.Vec(size)
}

// Many rows go through two streams, in pieces, and have the bits that they have alone.
func TestManyRows(t *testing.T) {
	e := card(t)
	n := network(t, 1, nn.Chain{nn.Dense{Out: 2}, nn.Apply{F: fn.Softplus(), Rule: moment.MonteCarlo(2)}})
	p, err := e.Compile(n, nn.Independent)
	if err != nil {
		t.Fatal(err)
	}
	const stream = 16
	defer gpu.SetStreamRows(stream)()
	const many = 3*stream + 5
	x, out := rows(many, 1, true), gauss.New[float32](many, 2)
	q := p.NewPredictor(compute.NewPool(1), many)
	q.Predict(x, out)
	q.Predict(x.Slice(0, stream+3), gauss.New[float32](stream+3, 2)) // leaves nothing behind
	again := gauss.New[float32](many, 2)
	q.Predict(x, again)
	if !slices.Equal(out.Mean, again.Mean) || !slices.Equal(out.Var, again.Var) {
		t.Error("predictions of the same rows differ")
	}
	cpu, err := engine.CPU[float32]().Compile(n, nn.Independent)
	if err != nil {
		t.Fatal(err)
	}
	want := gauss.New[float32](many, 2)
	cpu.NewPredictor(compute.NewPool(1), many).Predict(x, want)
	if a, b := off(out.Mean, want.Mean), off(out.Var, want.Var); !(a < 2e-6 && b < 5e-6) {
		t.Errorf("means are off by %.1e, variances by %.1e", a, b)
	}
	if a := allocations(func() { q.Predict(x.Slice(0, 9), again.Slice(0, 9)) }); a != 0 {
		t.Errorf("a prediction allocates %v times", a)
	}
}
