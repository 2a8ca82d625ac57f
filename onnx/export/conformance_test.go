package export

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/localization"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/vi"
)

// A zoo is a network that is exported, with inputs.
type zoo struct {
	name   string
	input  nn.Shape
	layers nn.Chain
	fixed  bool // no variances of the inputs
	small  bool // variances of the inputs down to 1e-16
	alone  bool // one function: it is evaluated at numbers about 1, which are rounded at that size
}

const rows = 9

// inputs are rows of moderate size; a third of the inputs have no variance.
func (z zoo) inputs(r *rand.Rand) gauss.Batch[float32] { return z.rows(r, rows) }

func (z zoo) rows(r *rand.Rand, rows int) gauss.Batch[float32] {
	x := gauss.New[float32](rows, z.input.Size())
	for i := range x.Mean {
		x.Mean[i] = float32(1.5 * r.NormFloat64())
		switch s := r.Float64(); {
		case i%3 == 0 && z.small:
			x.Var[i] = float32(math.Pow(10, -16*s))
		case i%3 == 0:
		default:
			x.Var[i] = float32(0.02 + s)
		}
	}
	if z.fixed {
		x.Var = nil
	}
	return x
}

// everyLayer has each kind of layer, alone and within nn.Correlated.
func everyLayer() (all []zoo) {
	img := nn.Shape{H: 6, W: 5, C: 2}
	tanh := nn.Apply{F: fn.Tanh()}
	layers := map[string]nn.Layer{
		"dense": nn.Dense{Out: 4}, "dense-fixed": nn.Dense{Out: 4, Fixed: true}, "dense-bare": nn.Dense{Out: 4, NoBias: true},
		"conv": nn.Conv2D{Out: 3, Kernel: [2]int{3, 2}}, "conv-same": nn.Conv2D{Out: 3, Kernel: [2]int{3, 4}, Padding: nn.Same},
		"conv-stride": nn.Conv2D{Out: 3, Kernel: [2]int{2, 3}, Stride: 2, Padding: nn.Same}, "conv-fixed": nn.Conv2D{Out: 2, Kernel: [2]int{3, 3}, Fixed: true},
		"conv-loose": nn.Conv2D{Out: 2, Kernel: [2]int{3, 2}, Stride: 2}, "conv-whole": nn.Conv2D{Out: 3, Kernel: [2]int{6, 5}, NoBias: true},
		"apply": tanh, "relu": nn.Apply{F: fn.ReLU()},
		"maxpool": nn.MaxPool2D{Size: [2]int{2, 2}}, "maxpool-overlap": nn.MaxPool2D{Size: [2]int{3, 2}, Stride: 1}, "maxpool-whole": nn.MaxPool2D{Size: [2]int{6, 5}},
		"avgpool": nn.AvgPool2D{Size: [2]int{2, 2}}, "avgpool-overlap": nn.AvgPool2D{Size: [2]int{3, 2}, Stride: 2}, "avgpool-whole": nn.AvgPool2D{Size: [2]int{6, 5}},
		"maxpool-padded": nn.MaxPool2D{Size: [2]int{3, 3}, Stride: 2, Pad: [4]int{1, 1, 1, 1}}, "maxpool-corner": nn.MaxPool2D{Size: [2]int{3, 2}, Pad: [4]int{2, 0, 1, 1}},
		"avgpool-padded": nn.AvgPool2D{Size: [2]int{3, 3}, Stride: 2, Pad: [4]int{1, 1, 1, 1}}, "avgpool-counted": nn.AvgPool2D{Size: [2]int{3, 2}, Pad: [4]int{2, 0, 1, 1}, CountPad: true},
		"conv-padded": nn.Conv2D{Out: 3, Kernel: [2]int{3, 4}, Stride: 2, Pad: [4]int{1, 2, 2, 3}},
		"conv-uneven": nn.Conv2D{Out: 3, Kernel: [2]int{3, 2}, Strides: [2]int{1, 2}}, "conv-dilated": nn.Conv2D{Out: 3, Kernel: [2]int{2, 3}, Dilation: [2]int{3, 1}, Stride: 2, Padding: nn.Same},
		"conv-groups": nn.Conv2D{Out: 4, Kernel: [2]int{3, 2}, Groups: 2, Padding: nn.Same}, "conv-groups-dilated": nn.Conv2D{Out: 2, Kernel: [2]int{2, 2}, Groups: 2, Dilation: [2]int{1, 2}, NoBias: true},
		"transposed": nn.ConvTranspose2D{Out: 3, Kernel: [2]int{3, 2}, Stride: 2}, "transposed-cut": nn.ConvTranspose2D{Out: 3, Kernel: [2]int{4, 3}, Strides: [2]int{2, 1}, Pad: [4]int{1, 2, 0, 1}, OutputPad: [2]int{1, 0}},
		"transposed-groups": nn.ConvTranspose2D{Out: 4, Kernel: [2]int{2, 3}, Groups: 2, Dilation: [2]int{3, 1}, Stride: 2, OutputPad: [2]int{1, 1}, NoBias: true}, "transposed-fixed": nn.ConvTranspose2D{Out: 2, Kernel: [2]int{2, 2}, Stride: 2, Fixed: true},
		"nearest": nn.Resize{Scale: 2}, "bilinear": nn.Resize{Size: [2]int{4, 8}, Bilinear: true}, "bilinear-corners": nn.Resize{Size: [2]int{9, 3}, Bilinear: true, AlignCorners: true},
		"pad": nn.Pad2D{Pad: [4]int{1, 0, 2, 1}}, "pad-reflect": nn.Pad2D{Pad: [4]int{1, 0, 2, 1}, Border: nn.Reflect}, "global-average": nn.GlobalAvgPool{}, "global-max": nn.GlobalMaxPool{},
		"groupnorm": nn.GroupNorm{Groups: 1}, "instancenorm": nn.InstanceNorm{Eps: 0.1}, "rmsnorm": nn.RMSNorm{},
		"flatten": nn.Flatten{}, "dropout": nn.Dropout{P: 0.3}, "noise": nn.Noise{Start: 0.4}, "noise-off": nn.Noise{Start: 0.4, Off: true},
		"scale": nn.Scale{Start: 2}, "batchnorm": nn.BatchNorm{Mean: []float64{0.1, -0.2}, Var: []float64{2, 0.3}, Gain: []float64{1, -2}, Offset: []float64{0, 1}},
		"batchnorm-learned": nn.BatchNorm{}, "layernorm": nn.LayerNorm{}, "layernorm-fixed-mean": nn.LayerNorm{FixedMean: true},
		"residual-elementwise": nn.Residual{Branch: tanh}, "residual": nn.Residual{Branch: nn.Conv2D{Out: 2, Kernel: [2]int{3, 3}, Padding: nn.Same}},
		"residual-chain":      nn.Residual{Branch: nn.Chain{tanh, nn.Conv2D{Out: 2, Kernel: [2]int{3, 3}, Padding: nn.Same}, tanh}},
		"residual-skip":       nn.Residual{Branch: nn.Chain{nn.Conv2D{Out: 3, Kernel: [2]int{3, 3}, Stride: 2, Padding: nn.Same}, tanh}, Skip: nn.Conv2D{Out: 3, Kernel: [2]int{1, 1}, Stride: 2, NoBias: true}},
		"residual-skip-fixed": nn.Residual{Branch: nn.Chain{tanh, nn.Dense{Out: 4}}, Skip: nn.Dense{Out: 4, Fixed: true}},
		"residual-both-fixed": nn.Residual{Branch: nn.Dense{Out: 4, Fixed: true}, Skip: nn.Chain{nn.Dense{Out: 4, Fixed: true}, tanh}},
		"chain":               nn.Chain{tanh, nn.Chain{nn.Flatten{}, nn.Dense{Out: 3}}},
		"multiply":            nn.Multiply{By: by(img.Size())},
	}
	// Edges for some units: far from them, next to them, and wide and narrow intervals.
	edges := [][]float64{{-1, 0, 0.5}, nil, {-40, -0.1, -0.05, 0.3, 30}, {2, 2.5}, {-0.01, 0.01}, {-3, 3}}
	embedded := nn.Piecewise{Edges: edges}
	waves := nn.Periodic{Frequencies: [][]float64{{0.1, -0.5, 1}, nil, {0}, {0.01, 1.5}}}
	looked := nn.Embed{Categories: []nn.Category{{Unit: 0, Levels: 2, Width: 2}, {Unit: 2, Levels: 5, Width: 3}}}
	for _, fixed := range []bool{false, true} {
		end := map[bool]string{true: "-number", false: ""}[fixed]
		all = append(all, zoo{name: "layer-piecewise" + end, input: nn.Vec(6), layers: nn.Chain{embedded}, fixed: fixed, alone: true},
			zoo{name: "correlated-piecewise" + end, input: nn.Vec(6), layers: nn.Chain{nn.Correlated{Layers: nn.Chain{embedded, nn.Dense{Out: 5}, nn.Apply{F: fn.ReLU()}, nn.Dense{Out: 2}}}, nn.Append{Count: 2, Start: 0.5}}, fixed: fixed},
			zoo{name: "piecewise-within" + end, input: nn.Vec(3), layers: nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 6}, embedded, nn.Dense{Out: 2}}}}, fixed: fixed},
			zoo{name: "layer-periodic" + end, input: nn.Vec(4), layers: nn.Chain{waves}, fixed: fixed, alone: true},
			zoo{name: "correlated-periodic" + end, input: nn.Vec(4), layers: nn.Chain{nn.Correlated{Layers: nn.Chain{waves, nn.Dense{Out: 5}, nn.Apply{F: fn.ReLU()}, nn.Dense{Out: 2}}}}, fixed: fixed},
			zoo{name: "periodic-within" + end, input: nn.Vec(3), layers: nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 4}, waves, nn.Dense{Out: 2}}}}, fixed: fixed},
			zoo{name: "layer-embed" + end, input: nn.Vec(3), layers: nn.Chain{looked}, fixed: fixed, alone: true},
			zoo{name: "correlated-embed" + end, input: nn.Vec(3), layers: nn.Chain{nn.Correlated{Layers: nn.Chain{looked, nn.Dense{Out: 5}, nn.Apply{F: fn.ReLU()}, nn.Dense{Out: 2}}}}, fixed: fixed},
			zoo{name: "embed-within" + end, input: nn.Vec(3), layers: nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 3}, looked, nn.Dense{Out: 2}}}}, fixed: fixed},
			zoo{name: "embed-all" + end, input: nn.Vec(1), layers: nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Embed{Categories: []nn.Category{{Levels: 4, Width: 3}}}, nn.Dense{Out: 2}}}}, fixed: fixed},
			zoo{name: "layer-append" + end, input: nn.Vec(3), layers: nn.Chain{nn.Append{Count: 4, Start: -2}}, fixed: fixed})
	}
	for _, name := range slices.Sorted(maps.Keys(layers)) {
		l := layers[name]
		all = append(all, zoo{name: "layer-" + name, input: img, layers: nn.Chain{l}})
		all = append(all, zoo{name: "number-" + name, input: img, layers: nn.Chain{l}, fixed: true})
		for _, k := range []int{1, 3} {
			c := nn.Correlated{Layers: nn.Chain{nn.Conv2D{Out: 2, Kernel: [2]int{3, 3}, Padding: nn.Same}, l, nn.Apply{F: fn.Sin()}, nn.Dense{Out: k}}}
			all = append(all, zoo{name: fmt.Sprintf("correlated-%s-%d", name, k), input: img, layers: nn.Chain{c}, fixed: k == 1})
		}
	}
	all = append(all, zoo{name: "layer-conv1d", input: nn.Shape{H: 1, W: 9, C: 2}, layers: nn.Chain{nn.Conv1D{Out: 3, Kernel: 3, Padding: nn.Same}}})
	return all
}

func by(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 0.5 + float64(i)/10
	}
	return v
}

// everyRule has each rule with each kind of function, and each function with the rules of
// points and the closed form.
func everyRule() (all []zoo) {
	const wide = 24
	rules := []moment.Rule{moment.UT(2), moment.UT(0.5), moment.LearnedUT(1.3), moment.GaussHermite(2), moment.GaussHermite(5), moment.GaussHermite(8),
		moment.GenUT(0.4, 3.2), moment.Linear(), moment.Exact(), moment.Points("own", []float64{0, -2, 2}, []float64{0.75, 0.125, 0.125})}
	var funcs []*moment.Func
	for _, name := range fn.Names() {
		f, err := fn.Named(name)
		if err != nil {
			panic(err)
		}
		funcs = append(funcs, f)
	}
	for _, text := range []string{"leaky-relu(0.2)", "elu(0.7)", "x/(1+x^2)", "a*tanh(b*x); a = 1.5; b = learned 0.5", "where(x > a, x, a); a = learned per unit -0.3",
		"x^3 - x", "sqrt(1+x^2)", "log1p(exp(x))*atan(x)", "max(x, min(2*x, 1))", "asinh(x)", "abs(x)^1.5 + sign(x)", "normal_pdf(x)", "expm1(-abs(x))", "where(x == 0, 1, cos(x))"} {
		f, err := fn.Named(text)
		if err != nil {
			panic(err)
		}
		funcs = append(funcs, f)
	}
	for _, f := range funcs {
		for _, r := range rules {
			if r.Check(f) != nil || f.Formula != nil && len(f.Formula.Inputs) > 0 && !moment.TakesParams(r) {
				continue
			}
			name := strings.NewReplacer("/", "_", " ", "", "*", "", ";", "_").Replace(fmt.Sprintf("rule-%v-%s", r, f.Name))
			all = append(all, zoo{name: name, input: nn.Vec(wide), layers: nn.Chain{nn.Apply{F: f, Rule: r}}, alone: true},
				zoo{name: "small-" + name, input: nn.Vec(wide), layers: nn.Chain{nn.Apply{F: f, Rule: r}}, small: true, alone: true})
		}
		l := nn.Apply{F: f}
		all = append(all, zoo{name: strings.NewReplacer("/", "_", " ", "", "*", "", ";", "_").Replace("number-" + f.Name), input: nn.Vec(wide), layers: nn.Chain{l}, fixed: true})
		if l.TakesCovariances() && f.Name != "exp" { // which overflows float32 when it is nested
			deep := nn.Correlate(nn.Chain{nn.Dense{Out: 6}, l, nn.Dense{Out: 5}, l, nn.Dense{Out: 3}, l})
			all = append(all, zoo{name: strings.NewReplacer("/", "_", " ", "", "*", "", ";", "_").Replace("deep-" + f.Name), input: nn.Vec(3), layers: deep, fixed: true})
		}
	}
	return all
}

// everyMap has the coupled maps by every joint rule, with independent and with correlated
// inputs.
func everyMap() (all []zoo) {
	photon := localization.PhotonNode(100, 1.05, 8)
	for _, rule := range []moment.JointRule{nil, moment.JointOwn(), moment.JointUT(2), moment.JointUTGauss(), moment.JointAxes(3), moment.JointAxes(5), moment.JointFifth(), moment.JointSized(), moment.JointGH(3)} {
		for _, d := range []int{1, 2, 3, 7, 12} {
			if l := (nn.Joint{Map: fn.Softmax(), Rule: rule}); rule == nil || rule.Check(l.Map, d) == nil {
				name := fmt.Sprintf("%v-%d", rule, d)
				all = append(all, zoo{name: "softmax-" + name, input: nn.Vec(d), layers: nn.Chain{l}},
					zoo{name: "softmax-correlated-" + name, input: nn.Vec(4), layers: nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 8}, nn.Apply{F: fn.ReLU()}, nn.Dense{Out: d}}}, l}})
			}
		}
		if rule != nil && rule.Check(photon, 2) != nil {
			continue
		}
		for _, joint := range []bool{false, true} {
			l := nn.Conditional{Target: 1, Given: []int{3, 0}, Location: photon, Joint: joint, Rule: rule}
			name := fmt.Sprintf("photons-%v-%v", joint, rule)
			all = append(all, zoo{name: name, input: nn.Vec(4), layers: nn.Chain{l}},
				zoo{name: name + "-correlated", input: nn.Vec(4), layers: nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 4}}}, l}})
		}
	}
	for _, rule := range []moment.JointRule{nil, moment.JointUT(2)} {
		l := nn.Joint{Map: fn.LogSoftmax(), Rule: rule}
		name := fmt.Sprintf("log-softmax-%v", rule)
		all = append(all, zoo{name: name, input: nn.Vec(4), layers: nn.Chain{l}},
			zoo{name: name + "-correlated", input: nn.Vec(4), layers: nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 8}, nn.Apply{F: fn.ReLU()}, nn.Dense{Out: 12}}}, l}})
	}
	all = append(all, zoo{name: "number-softmax", input: nn.Vec(5), layers: nn.Chain{nn.Joint{Map: fn.Softmax()}}, fixed: true})
	return all
}

// everyNetwork has whole networks.
func everyNetwork() (all []zoo) {
	hidden := func(n int) nn.Chain { return nn.Chain{nn.Dense{Out: n}, nn.Apply{F: fn.GELU()}} }
	deep := nn.Chain{}
	for range 4 {
		deep = append(deep, hidden(32)...)
	}
	deep = append(deep, nn.Dense{Out: 2})
	images := nn.Chain{nn.Conv2D{Out: 6, Kernel: [2]int{3, 3}, Padding: nn.Same}, nn.Apply{F: fn.ReLU()}, nn.MaxPool2D{Size: [2]int{2, 2}},
		nn.Residual{Branch: nn.Chain{nn.Conv2D{Out: 6, Kernel: [2]int{3, 3}, Padding: nn.Same}, nn.Apply{F: fn.SiLU()}}},
		nn.AvgPool2D{Size: [2]int{2, 2}}, nn.Flatten{}, nn.Dense{Out: 16}, nn.LayerNorm{}, nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}, nn.Dense{Out: 10}}
	classes := nn.Chain{nn.Joint{Map: fn.Softmax()}}
	for _, fixed := range []bool{true, false} {
		end := map[bool]string{true: "", false: "-uncertain"}[fixed]
		all = append(all,
			zoo{name: "net-deep" + end, input: nn.Vec(8), layers: deep, fixed: fixed},
			zoo{name: "net-deep-correlated" + end, input: nn.Vec(8), layers: nn.Correlate(deep), fixed: fixed},
			zoo{name: "net-noisy" + end, input: nn.Vec(8), layers: append(nn.Correlate(deep), nn.Scale{}, nn.Apply{F: fn.Softplus()}, nn.Noise{}), fixed: fixed},
			zoo{name: "net-images" + end, input: nn.Shape{H: 8, W: 8, C: 1}, layers: append(images[:len(images):len(images)], classes...), fixed: fixed},
			zoo{name: "net-images-correlated" + end, input: nn.Shape{H: 8, W: 8, C: 1}, layers: append(nn.Correlate(images), classes...), fixed: fixed})
	}
	return all
}

// build makes the network of a zoo with weights away from their start.
func (z zoo) build(t *testing.T, r *rand.Rand) *model.Model {
	t.Helper()
	n, err := model.New(model.Config{Input: z.input, Layers: z.layers, Seed: 5, Init: vi.Init{RhoMin: -3, RhoMax: -1}})
	if err != nil {
		t.Fatalf("%s: %v", z.name, err)
	}
	for _, p := range n.Params.Tensors {
		for i := range p.Mean {
			p.Mean[i] += float32(0.1 * r.NormFloat64())
		}
	}
	n.Changed()
	return n
}

func TestConformance(t *testing.T) {
	for name, list := range map[string][]zoo{"layers": everyLayer(), "graphs": everyGraph(), "rules": everyRule(), "maps": everyMap(), "networks": everyNetwork()} {
		t.Run(name, func(t *testing.T) { conform(t, list) })
	}
}

// An ensemble is the mixture of its networks.
func TestEnsembleConformance(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	z := zoo{name: "ensemble", input: nn.Vec(3), layers: nn.Correlate(nn.Chain{nn.Dense{Out: 8}, nn.Apply{F: fn.ReLU()}, nn.Dense{Out: 2}, nn.Noise{}})}
	e := &model.Ensemble{}
	x := z.inputs(r)
	want := gauss.New[float32](rows, 2)
	for range 3 {
		n := z.build(t, r)
		e.Members = append(e.Members, n)
		p := n.NewPredictor(rows).Predict(x)
		for i, m := range p.Mean {
			want.Mean[i] += m / 3
			want.Var[i] += (p.Var[i] + m*m) / 3
		}
	}
	for i, m := range want.Mean {
		want.Var[i] -= m * m
	}
	m, err := Ensemble(e, Options{Variance: true})
	if err != nil {
		t.Fatal(err)
	}
	one := &run{Name: z.name, Inputs: map[string]tensor{"x": numbers(x.Mean, rows, 3), "x_variance": numbers(x.Var, rows, 3)}, model: m}
	runAll(t, []*run{one})
	if e, where := differ(want, true, one.outputs["mean"].floats(), one.outputs["variance"].floats()); !(e <= tolerance) {
		t.Errorf("off by %.2g standard deviations %s", e, where)
	}
}

func conform(t *testing.T, list []zoo) {
	r := rand.New(rand.NewPCG(1, 2))
	var runs []*run
	var want []gauss.Batch[float32]
	for _, z := range list {
		n := z.build(t, r)
		x := z.inputs(r)
		m, err := Network(n, Options{Variance: !z.fixed})
		if err != nil {
			t.Errorf("%s: %v", z.name, err)
			continue
		}
		p, err := n.NewPredictor(rows).TryPredict(x)
		if err != nil {
			t.Errorf("%s: %v", z.name, err)
			continue
		}
		dims := append([]int{rows}, sizes(z.input)...)
		in := map[string]tensor{"x": numbers(x.Mean, dims...)}
		if !z.fixed {
			in["x_variance"] = numbers(x.Var, dims...)
		}
		runs = append(runs, &run{Name: z.name, Inputs: in, model: m, alone: z.alone})
		want = append(want, p)
	}
	runAll(t, runs)
	worst, at := 0.0, ""
	for i, r := range runs {
		if r.outputs == nil {
			continue
		}
		e, where := differ(want[i], r.alone, r.outputs["mean"].floats(), r.outputs["variance"].floats())
		if e > worst {
			worst, at = e, r.Name
		}
		if !(e <= tolerance) {
			t.Errorf("%s: off by %.2g standard deviations %s", r.Name, e, where)
		}
	}
	t.Logf("%d graphs, at most %.2g standard deviations apart (%s)", len(runs), worst, at)
}

// tolerance is the largest difference of a mean or a standard deviation, in standard
// deviations.
const tolerance = 1e-5

// rounding is what float32 does to a number, a few times: σ is a difference of such
// numbers, and cannot be better.
const rounding = 4 * 0x1p-24

// differ returns the largest difference, in standard deviations, beyond the rounding of
// the means themselves. Outputs without variance are compared in units of 0.1.
func differ(want gauss.Batch[float32], alone bool, mean, variance []float64) (worst float64, where string) {
	if len(mean) != len(want.Mean) || len(variance) != len(want.Mean) {
		return math.Inf(1), "in length"
	}
	for i, m := range want.Mean {
		v := float64(want.Var[i])
		sd := math.Sqrt(v)
		scale := sd
		if sd == 0 {
			scale = 0.1
		}
		for k, e := range []float64{math.Abs(float64(m) - mean[i]), math.Abs(sd - math.Sqrt(variance[i]))} {
			size := math.Abs(float64(m))
			if alone {
				size++
			}
			e = (e - rounding*size) / scale
			if e > worst || math.IsNaN(e) {
				worst, where = e, fmt.Sprintf("in the %s of output %d: %v ± %v, want %v ± %v", []string{"mean", "spread"}[k], i, mean[i], math.Sqrt(variance[i]), m, sd)
				if math.IsNaN(e) {
					return math.Inf(1), where
				}
			}
		}
	}
	return worst, where
}
