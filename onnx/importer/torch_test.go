package importer

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"utvi/gauss"
	"utvi/model"
	"utvi/onnx/export"
)

// torchNets writes networks with PyTorch, and returns the folder.
func torchNets(t *testing.T, script string) string {
	t.Helper()
	python := os.Getenv("UTVI_TORCH_PYTHON")
	if python == "" {
		t.Skip("UTVI_TORCH_PYTHON is not set: a Python that has torch")
	}
	dir := t.TempDir()
	if out, err := exec.Command(python, "testdata/"+script, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// A sample is what PyTorch computed.
type sample struct {
	X, Y         []float32
	XDims, YDims []int
}

func readSample(t *testing.T, path string) sample {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s sample
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// last puts images with the channels first into the order of this module.
func last(x []float32, dims []int) []float32 {
	if len(dims) < 3 {
		return x
	}
	c, places := dims[1], 1
	for _, d := range dims[2:] {
		places *= d
	}
	y := make([]float32, len(x))
	for i, v := range x {
		n := i / (c * places)
		ch := i / places % c
		at := i % places
		y[(n*places+at)*c+ch] = v
	}
	return y
}

// off is the largest difference between a network's means and PyTorch's numbers.
func (s sample) off(n *model.Model) float64 {
	x := last(s.X, s.XDims)
	if len(s.XDims) == 2 {
		x = s.X
	}
	p := n.NewPredictor(s.XDims[0]).Predict(gauss.Fixed(n.Inputs(), x))
	worst := 0.0
	for i, y := range last(s.Y, s.YDims) {
		worst = max(worst, math.Abs(float64(p.Mean[i]-y))/(1+math.Abs(float64(y))))
	}
	return worst
}

// Networks of PyTorch give PyTorch's numbers, as numbers and as the means of narrow
// Normals.
func TestTorch(t *testing.T) {
	dir := torchNets(t, "torch_nets.py")
	files, _ := filepath.Glob(filepath.Join(dir, "*.onnx"))
	if len(files) < 40 {
		t.Fatalf("%d networks were written", len(files))
	}
	worst := 0.0
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".onnx")
		n, err := Load(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := readSample(t, strings.TrimSuffix(path, ".onnx")+".json")
		e := s.off(n)
		worst = max(worst, e)
		if !(e <= 1e-5) {
			t.Errorf("%s: off by %.2g", name, e)
		}
		out, err := export.Network(n, export.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := network(out, nil, Options{Output: "mean"})
		if err != nil {
			t.Errorf("%s, out and in again: %v", name, err)
			continue
		}
		if e := s.off(again); !(e <= 1e-5) {
			t.Errorf("%s, out and in again: off by %.2g", name, e)
		}
		r, err := Load(path, Options{Random: true, Scale: 1e-4})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e := s.off(r); !(e <= 1e-4) {
			t.Errorf("%s with random weights: off by %.2g", name, e)
		}
	}
	t.Logf("%d networks, off by at most %.2g", len(files), worst)
}

// So does a state_dict with a description of its layers.
func TestStateDict(t *testing.T) {
	dir := torchNets(t, "torch_state.py")
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"chain", "blocks"} {
		n, err := LoadStateDict(at(name+".safetensors"), at(name+"-layers.json"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if e := readSample(t, at(name+".json")).off(n); !(e <= 1e-5) {
			t.Errorf("%s is off by %.2g", name, e)
		}
	}
	text, err := os.ReadFile(at("chain-layers.json"))
	if err != nil {
		t.Fatal(err)
	}
	for old, c := range map[string]struct{ by, want string }{
		`"out": 8`:        {`"out": 9`, "layer 5: 5.weight has the size [8 72]"},
		`"from": "9"`:     {`"from": "nine"`, `layer 9: the file has no tensor "nine.weight"`},
		`"relu"`:          {`"lelu"`, `layer 2: fn: unknown function "lelu"`},
		`"kind": "joint"`: {`"kind": "noise"`, "layer 10: "},
		`[3, 8, 6]`:       {`[3, 8]`, "layer 3: the window of 2×2"},
		`, {"kind": "dense", "out": 4, "from": "9"}`: {``, `no layer takes the tensor "9.weight"`},
	} {
		wrong := at("wrong.json")
		if err := os.WriteFile(wrong, []byte(strings.Replace(string(text), old, c.by, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadStateDict(at("chain.safetensors"), wrong, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %q", c.by, old, err, c.want)
		}
	}
}
