package model_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/safetensors"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// sensor is a user's function.
var sensor = &moment.Func{Name: "sensor", F: func(x float64) float64 { return x * math.Exp(-x*x) }}

// varied is a small network of many kinds of layer, functions and rules.
func varied(t testing.TB) *model.Model {
	t.Helper()
	m, err := model.New(model.Config{Input: nn.Shape{H: 5, W: 4, C: 2}, Seed: 1<<63 + 5, Init: vi.Std(0.1), Layers: nn.Chain{
		nn.Conv2D{Out: 3, Kernel: [2]int{2, 3}, Padding: nn.Same},
		nn.Apply{F: fn.LeakyReLU(0.07), Rule: moment.Exact()},
		nn.AvgPool2D{Size: [2]int{2, 2}},
		nn.Dense{Out: 6, NoBias: true},
		nn.Apply{F: sensor, Rule: moment.LearnedUT(1.5)},
		nn.Chain{nn.Dense{Out: 4, Fixed: true}, nn.Apply{F: fn.Tanh(), Rule: moment.MonteCarlo(7)}},
		nn.Scale{Start: 2},
	}})
	if err != nil {
		t.Fatal(err)
	}
	m.Params.Tensors[0].Prior = vi.Prior{Mean: 0.25, Std: 3}
	m.Facts = model.Facts{Rows: 1000, Steps: 70, Likelihood: "normal", NLL: -0.25, Data: "a “curve” <with> noise", More: map[string]string{"preset": "paper"}}
	m.Likelihood = likelihood.Heteroscedastic{Floor: 1e-7}
	return m
}

func batch(rows, width int) gauss.Batch[float32] {
	x := gauss.New[float32](rows, width)
	for i := range x.Mean {
		x.Mean[i] = float32(rng.Normal(rng.New(8), uint64(i)))
		x.Var[i] = float32(0.2 * rng.Uniform(rng.New(9), uint64(i)))
	}
	return x
}

func same(a, b gauss.Batch[float32]) bool {
	return slices.Equal(a.Mean, b.Mean) && slices.Equal(a.Var, b.Var)
}

// A model is the same after saving and loading: its predictions and its file,
// bit for bit.
func TestSaveAndLoad(t *testing.T) {
	m := varied(t)
	path := filepath.Join(t.TempDir(), "a.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	n, err := model.Load(path, model.WithFunc(sensor))
	if err != nil {
		t.Fatal(err)
	}
	x := batch(9, 40)
	if !same(m.NewPredictor(9).Predict(x), n.NewPredictor(9).Predict(x)) {
		t.Error("the loaded model predicts something else")
	}
	if n.Params.KL() != m.Params.KL() {
		t.Errorf("KL %v, was %v", n.Params.KL(), m.Params.KL())
	}
	again := filepath.Join(t.TempDir(), "b.safetensors")
	if err := n.Save(again); err != nil {
		t.Fatal(err)
	}
	if a, b := read(t, path), read(t, again); !bytes.Equal(a, b) {
		t.Errorf("the file differs: %q\n%q", a[:1500], b[:1500])
	}
	if n.Facts.NLL != -0.25 || n.Facts.More["preset"] != "paper" || n.Likelihood != m.Likelihood || n.Config.Seed != 1<<63+5 {
		t.Errorf("%+v %+v %+v", n.Facts, n.Likelihood, n.Config)
	}
}

// Every random tensor gets its prior back, whatever stands before it.
func TestPriorsAreSaved(t *testing.T) {
	m := build(t, 2, nn.Dense{Out: 3, Fixed: true}, nn.Scale{}, nn.Dense{Out: 2}, nn.Noise{}, nn.Dense{Out: 1})
	for i, x := range m.Params.Tensors {
		if x.Random {
			x.Prior = vi.Prior{Mean: float64(i), Std: 1 + float64(i)}
		}
	}
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	n, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range n.Params.Tensors {
		if x.Prior != m.Params.Tensors[i].Prior {
			t.Errorf("%s has the prior %v, want %v", x.Name, x.Prior, m.Params.Tensors[i].Prior)
		}
	}
}

// Weights saved in float32 can be looked at in float64, not the other way.
func TestLoadAs(t *testing.T) {
	m := network(t, moment.UT(2))
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	wide, err := model.LoadAs[float64](path)
	if err != nil {
		t.Fatal(err)
	}
	if w := wide.Params.Theta[5]; float32(w) != m.Params.Theta[5] || w == 0 {
		t.Errorf("%v, was %v", w, m.Params.Theta[5])
	}
	if err := wide.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := model.LoadAs[float64](path); err != nil {
		t.Error(err)
	}
	_, err = model.Load(path)
	wantError(t, err, "the tensor 0.dense.weight.mean does not hold float32")
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantError(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %q", err, text)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is more than a line", err)
	}
}

func TestFunctionsOfTheUser(t *testing.T) {
	m := varied(t)
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	_, err := model.Load(path)
	wantError(t, err, `the model needs the function "sensor": load it with model.WithFunc`)
	_, err = model.Load(path, model.WithFunc(&moment.Func{F: math.Sin}))
	wantError(t, err, "a function needs a name")
	_, err = model.Load(path, model.WithFunc(sensor), model.WithFunc(&moment.Func{Name: "sensor", F: math.Sin}))
	wantError(t, err, `two functions have the name "sensor"`)
	_, err = model.Load(path, model.WithFunc(sensor), model.WithFunc(sensor), model.WithFunc(&moment.Func{Name: "other", F: math.Sin}))
	if err != nil {
		t.Error(err)
	}
	before := read(t, path)
	for _, name := range []string{"", "tanh"} {
		bad, err := model.New(model.Config{Input: nn.Vec(1), Layers: nn.Chain{nn.Apply{F: &moment.Func{Name: name, F: math.Sin}}}})
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, bad.Save(path), "cannot save the model: layer 0: the function")
	}
	if !bytes.Equal(before, read(t, path)) {
		t.Error("a refused saving touched the file")
	}
}

// A folder that does not exist is told from other errors.
func TestSaveIntoNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "m")
	for _, err := range []error{network(t, moment.UT(2)).Save(path), ensemble(t).Save(path)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
		wantError(t, err, "none does not exist")
	}
}

func TestSaveRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	for want, spoil := range map[string]func(m *model.Model){
		"0.dense.bias holds a number that is not finite": func(m *model.Model) { m.Params.Tensors[1].Rho[3] = float32(math.NaN()) },
		"likelihood weighted wraps nothing":              func(m *model.Model) { m.Likelihood = likelihood.Weighted{} },
		"0.dense.weight: the prior is N(0, 0²)":          func(m *model.Model) { m.Params.Tensors[0].Prior = vi.Prior{} },
		"unsupported value: NaN":                         func(m *model.Model) { m.Facts.NLL = math.NaN() },
	} {
		m := network(t, moment.UT(2))
		spoil(m)
		wantError(t, m.Save(path), want)
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s: a file was written", want)
		}
	}
	wantError(t, network(t, moment.UT(2)).Save(t.TempDir()), "it is a folder")
}

// damaged saves a small model after doing something to its file.
func damaged(t *testing.T, do func(f *safetensors.File)) string {
	t.Helper()
	m, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 3}, nn.Apply{F: fn.Tanh()}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	do(f)
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// edit replaces text in the description, once.
func edit(t *testing.T, old, new string) func(f *safetensors.File) {
	return func(f *safetensors.File) {
		t.Helper()
		text := f.Metadata["utvi.model"]
		if strings.Count(text, old) != 1 {
			t.Fatalf("%q is not once in %s", old, text)
		}
		f.Metadata["utvi.model"] = strings.Replace(text, old, new, 1)
	}
}

// A file that is sound in itself but not a model is refused in one sentence.
func TestLoadRefuses(t *testing.T) {
	for want, do := range map[string]func(f *safetensors.File){
		"not a utvi model file":                                                                func(f *safetensors.File) { f.Metadata = nil },
		"the file holds an ensemble":                                                           func(f *safetensors.File) { f.Metadata = map[string]string{"utvi.ensemble": ""} },
		"the description of the network cannot be read":                                        func(f *safetensors.File) { f.Metadata["utvi.model"] += "}" },
		"the file has format 2; this version reads format 1":                                   edit(t, `"format":1`, `"format":2,"future":true`),
		`unknown field "future"`:                                                               edit(t, `"format":1`, `"format":1,"future":true`),
		`unknown layer kind "densest"`:                                                         edit(t, `"dense"`, `"densest"`),
		"the network has kind \"flatten\"; it must be a chain":                                 edit(t, `{"kind":"chain","layers":[{"kind":"dense","out":3},{"kind":"apply","f":"tanh","rule":"gh(9)"}]}`, `{"kind":"flatten"}`),
		"the tensor 0.dense.weight.mean has the shape [2 3]; the network needs [2 1000000000]": edit(t, `"out":3`, `"out":1000000000`),
		"the network needs [16777216 3]":                                                       edit(t, `[1,1,2]`, `[1,1,16777216]`),
		"a row may have at most 16777216 inputs":                                               edit(t, `[1,1,2]`, `[4611686018427387904,4,2]`),
		"height, width and channels must be at least 1":                                        edit(t, `[1,1,2]`, `[1,-1,2]`),
		"the window is 0×0":                                                                    edit(t, `[{"kind":"dense"`, `[{"kind":"maxpool2d"},{"kind":"dense"`),
		"the windows cover 34368126976 cells in total":                                         pooled(t),
		"the tensor 0.dense.bias.rho is missing":                                               func(f *safetensors.File) { f.Tensors = f.Tensors[:3] },
		`has a tensor "extra" that the network does not have`: func(f *safetensors.File) {
			f.Tensors = append(f.Tensors, safetensors.Tensor{Name: "extra", Shape: []int{1}, F32: []float32{1}})
		},
		"0.dense.bias holds a number that is not finite":    func(f *safetensors.File) { f.Tensors[2].F32[1] = float32(math.Inf(1)) },
		"does not hold float32":                             func(f *safetensors.File) { f.Tensors[2].F32, f.Tensors[2].I64 = nil, []int64{1, 2, 3} },
		"the prior of 0.dense.bias is missing":              edit(t, `"0.dense.bias":[0,1],`, ``),
		"priors for tensors that the network does not have": edit(t, `"0.dense.bias":[0,1]`, `"0.dense.bias":[0,1],"nose":[0,1]`),
		"0.dense.bias: the prior is N(0, -1²)":              edit(t, `"0.dense.bias":[0,1]`, `"0.dense.bias":[0,-1]`),
		"likelihood normal: floor is text":                  edit(t, `"facts":{}`, `"facts":{},"likelihood":{"kind":"normal","floor":"a"}`),
	} {
		m, err := model.Load(damaged(t, do))
		wantError(t, err, want)
		if m != nil {
			t.Errorf("%s: something was loaded", want)
		}
	}
}

// pooled claims a pooling without weights that would take 275 GB of memory.
func pooled(t *testing.T) func(f *safetensors.File) {
	shape, layer := edit(t, `[1,1,2]`, `[8192,2048,1]`), edit(t, `[{"kind":"dense"`, `[{"kind":"avgpool2d","size":[4097,1],"stride":1},{"kind":"dense"`)
	return func(f *safetensors.File) {
		shape(f)
		layer(f)
	}
}

func TestLoadRefusesForeignFiles(t *testing.T) {
	whole := read(t, damaged(t, func(*safetensors.File) {}))
	path := filepath.Join(t.TempDir(), "m")
	for want, b := range map[string][]byte{
		"altered: checksum does not match": append(slices.Clone(whole[:len(whole)-1]), whole[len(whole)-1]^1),
		"truncated":                        whole[:len(whole)-1],
		"truncated: the header's length":   nil,
		"not a safetensors file":           []byte("PK\x03\x04 a zip archive of some other program"),
		"trailing bytes":                   append(slices.Clone(whole), 0),
		"not a utvi model file":            append([]byte{2, 0, 0, 0, 0, 0, 0, 0}, "{}"...),
	} {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(path)
		wantError(t, err, want)
		if m != nil {
			t.Errorf("%s: something was loaded", want)
		}
	}
	_, err := model.Load(path + "nowhere")
	wantError(t, err, "no such file")
}
