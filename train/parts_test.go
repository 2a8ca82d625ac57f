package train_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
)

// twoHeads is an image in, an image of values with noise and a vector of classes out.
func twoHeads() nn.Chain {
	return nn.Chain{nn.Graph{Steps: []nn.Step{
		{Name: "seen", Layer: nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}, Padding: nn.Same}},
		{Name: "clean", Layer: nn.Conv2D{Out: 2, Kernel: [2]int{1, 1}}, From: []string{"seen"}},
		{Name: "kind", Layer: nn.Chain{nn.Dense{Out: 2}, nn.Softmax{}}, From: []string{"seen"}},
	}, Outputs: []string{"clean", "kind"}}}
}

var parts = likelihood.Several{Parts: []likelihood.Part{
	{Name: "clean", Of: likelihood.PerPlace{Of: likelihood.Heteroscedastic{}}},
	{Name: "kind", Weight: 2, Of: likelihood.Categorical{}},
}}

// scenes are rows of 3×4 pixels of one level a row with noise: the targets are the level at each
// pixel, with more noise where it is high, and whether it is positive.
func scenes(t *testing.T, rows int) data.Source {
	t.Helper()
	key := rng.New(5)
	n := uint64(0)
	normal := func() float32 {
		n++
		return float32(rng.Normal(key, n))
	}
	x := make([]float32, 12*rows)
	y := make([]float32, 0, 13*rows)
	for r := range rows {
		level := normal()
		for i := range 12 {
			x[12*r+i] = level + 0.1*normal()
			y = append(y, level+float32(noiseAt(float64(level)))*normal())
		}
		kind := float32(0)
		if level > 0 {
			kind = 1
		}
		y = append(y, kind)
	}
	d, err := data.NewTable(gauss.Fixed(12, x), 13, y)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func noiseAt(level float64) float64 { return 0.25 * math.Exp(0.6*level) }

// A network with two outputs learns both by a likelihood each, is stored with them, and predicts
// all parts of the variance.
func TestTwoHeads(t *testing.T) {
	m, err := model.New(model.Config{Input: nn.Shape{H: 3, W: 4, C: 1}, Layers: twoHeads()})
	if err != nil {
		t.Fatal(err)
	}
	o := optim.Paper()
	o.Rate = optim.Constant(0.02)
	tr, err := train.New(m, train.Config{Data: scenes(t, 256), Likelihood: parts, Steps: 250, Batch: 64, Optimizer: o})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if err := tr.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	m, err = model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	settled, ok := m.Likelihood.(likelihood.Several)
	if !ok || settled.Parts[0].Outputs != 24 || settled.Parts[1].Outputs != 2 || settled.Parts[0].Of.(likelihood.PerPlace).Channels != 2 {
		t.Fatalf("stored %v", m.Likelihood)
	}
	h, err := (&model.Ensemble{Members: []*model.Model{m}}).NewHead(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []float32{-0.8, 0.8} {
		judge(t, h.Predict(gauss.Fixed(12, slices.Repeat([]float32{level}, 12))), float64(level))
	}
}

func judge(t *testing.T, p *model.Predictions, level float64) {
	t.Helper()
	if p.Width != 14 || p.Classes {
		t.Fatalf("%d numbers, classes %v", p.Width, p.Classes)
	}
	half := math.Log(noiseAt(0.8)/noiseAt(-0.8)) / 2 // nearer to its own noise than to that of the other
	for i := range 12 {
		noise := math.Sqrt(float64(p.Noise[i]))
		if math.Abs(math.Log(noise/noiseAt(level))) > half {
			t.Errorf("pixel %d of %v has the noise %.3f; want %.3f", i, level, noise, noiseAt(level))
		}
		if math.Abs(float64(p.Mean[i])-level) > 0.15 || !(p.Weights[i] > 0) {
			t.Errorf("pixel %d is %v, of %v, with the doubt %v", i, p.Mean[i], level, p.Weights[i])
		}
	}
	positive := float64(p.Mean[13])
	if math.Abs(float64(p.Mean[12])+positive-1) > 1e-5 || math.Abs(positive-(1+level/0.8)/2) > 0.1 {
		t.Errorf("%v is positive with %v", level, p.Mean[12:14])
	}
}

func TestPartsRefused(t *testing.T) {
	some := func(p ...likelihood.Part) likelihood.Likelihood { return likelihood.Several{Parts: p} }
	clean, kind := parts.Parts[0], parts.Parts[1]
	sized := clean
	sized.Outputs = 12
	for says, l := range map[string]likelihood.Likelihood{
		`its part 0 is "kind", but the network has the outputs "clean", "kind"`: some(kind, clean),
		`it has 1 parts, and the network the outputs "clean", "kind"`:           some(clean),
		`the outputs "clean" has 12 outputs, but 24 numbers in the network`:     some(sized, kind),
		"its part 1 has no likelihood":                                          some(clean, likelihood.Part{Name: "kind"}),
		"3×4 places of 2 channels, which alternate":                             some(likelihood.Part{Of: likelihood.Heteroscedastic{}}, kind),
		"categorical per place needs probabilities":                             some(likelihood.Part{Of: likelihood.PerPlace{Of: likelihood.Categorical{}}}, kind),
		"already contains the noise":                                            likelihood.Weighted{Of: some(likelihood.Part{Of: likelihood.PerPlace{Of: likelihood.ExpectedNormal{Std: 1}}}, kind)},
	} {
		layers := twoHeads()
		if strings.Contains(says, "already") {
			layers[0].(nn.Graph).Steps[0].Layer = nn.Chain{layers[0].(nn.Graph).Steps[0].Layer, nn.Noise{}}
		}
		m, err := model.New(model.Config{Input: nn.Shape{H: 3, W: 4, C: 1}, Layers: layers})
		if err != nil {
			t.Fatal(err)
		}
		_, err = train.New(m, train.Config{Data: scenes(t, 2), Likelihood: l, Steps: 1})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one with %q", err, says)
		}
	}
}
