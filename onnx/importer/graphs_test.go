package importer

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/gauss"
	"utvi/internal/onnx"
	"utvi/model"
	"utvi/onnx/export"
)

// A sampled network is one of PyTorch with what it computed.
type sampled struct {
	name string
	out  *onnx.Model // exported again
	Lie  string      // "first" if images and lines have their channels first, else "plain"
	X, Y []struct {
		Dims []int
		Data []float32
	}
}

// rows lays tensors side by side, images with their channels last.
func (s *sampled) rows(ys bool) []float32 {
	all := s.X
	if ys {
		all = s.Y
	}
	rows := all[0].Dims[0]
	var parts [][]float32
	for _, t := range all {
		data := t.Data
		if s.Lie == "first" {
			data = last(data, t.Dims)
		}
		parts = append(parts, data)
	}
	var out []float32
	for row := range rows {
		for _, p := range parts {
			n := len(p) / rows
			out = append(out, p[row*n:][:n]...)
		}
	}
	return out
}

// off is the largest difference between the means of a network and PyTorch's numbers.
func (s *sampled) off(n *model.Model) float64 {
	return differ(n.NewPredictor(s.X[0].Dims[0]).Predict(gauss.Fixed(n.Inputs(), s.rows(false))).Mean, s.rows(true))
}

// differ is the largest difference between numbers and PyTorch's.
func differ(got, want []float32) float64 {
	if len(want) != len(got) {
		return math.Inf(1)
	}
	worst := 0.0
	for i, y := range want {
		worst = max(worst, math.Abs(float64(got[i]-y))/(1+math.Abs(float64(y))))
	}
	return worst
}

func (s *sampled) output() string {
	if len(s.Y) == 1 {
		return ""
	}
	var names []string
	for i := range s.Y {
		names = append(names, fmt.Sprintf("out/%d", i))
	}
	return strings.Join(names, ",")
}

func sampledGraphs(t *testing.T, dir string) (all []*sampled) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.onnx"))
	for _, path := range files {
		b, err := os.ReadFile(strings.TrimSuffix(path, ".onnx") + ".json")
		if err != nil {
			t.Fatal(err)
		}
		s := &sampled{name: strings.TrimSuffix(filepath.Base(path), ".onnx")}
		if err := json.Unmarshal(b, s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// Networks of PyTorch that are no chains give PyTorch's numbers, as numbers and as the means of
// narrow Normals, and again when they were exported.
func TestTorchGraphs(t *testing.T) { testTorchGraphs(t, "torch_graphs.py") }

// So do more networks, each for something that exporters write.
func TestTorchMore(t *testing.T) { testTorchGraphs(t, "torch_more.py") }

func testTorchGraphs(t *testing.T, script string) {
	dir := torchNets(t, script)
	all := sampledGraphs(t, dir)
	if len(all) < 50 {
		t.Fatalf("%d networks were written", len(all))
	}
	worst := 0.0
	var exported []*sampled
	for _, s := range all {
		path := filepath.Join(dir, s.name+".onnx")
		n, err := Load(path, Options{Output: s.output()})
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		e := s.off(n)
		worst = max(worst, e)
		if !(e <= 1e-5) {
			t.Errorf("%s: off by %.2g", s.name, e)
		}
		r, err := Load(path, Options{Output: s.output(), Random: true, Scale: 1e-4})
		if err != nil {
			t.Errorf("%s, random: %v", s.name, err)
		} else if e := s.off(r); !(e <= 1e-4) {
			t.Errorf("%s with random weights: off by %.2g", s.name, e)
		}
		out, err := export.Network(n, export.Options{})
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		s.out = out
		exported = append(exported, s)
		again, err := network(out, nil, Options{Output: "mean"})
		if err != nil {
			t.Errorf("%s, out and in again: %v", s.name, err)
			continue
		}
		if e := s.off(again); !(e <= 1e-5) {
			t.Errorf("%s, out and in again: off by %.2g", s.name, e)
		}
	}
	t.Logf("%d networks, off by at most %.2g", len(all), worst)
	runExported(t, exported)
}

// runExported gives the networks that were exported PyTorch's inputs in onnxruntime, by their names and
// as they lie, and finds PyTorch's outputs.
func runExported(t *testing.T, all []*sampled) {
	modules := os.Getenv("UTVI_ONNXRUNTIME")
	if modules == "" {
		t.Log("UTVI_ONNXRUNTIME is not set: the exported graphs were not run") // CI looks for this line
		return
	}
	type tensor struct {
		Dims []int     `json:"dims"`
		Data []float32 `json:"data"`
	}
	dir := t.TempDir()
	for _, s := range all {
		file, err := s.out.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]tensor{}
		for i, x := range s.X {
			in[fmt.Sprintf("in %d", i)] = tensor{x.Dims, x.Data}
		}
		text, err := json.Marshal(map[string]any{"name": s.name, "inputs": in})
		if err != nil {
			t.Fatal(err)
		}
		for end, data := range map[string][]byte{".onnx": file, ".json": text} {
			if err := os.WriteFile(filepath.Join(dir, s.name+end), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.Command("node", "../export/testdata/compare.cjs", modules, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	worst, ran := 0.0, 0
	for line := range strings.Lines(string(out)) {
		var r struct {
			Name, Error string
			Outputs     map[string]tensor
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if s.name != r.Name {
				continue
			}
			ran++
			e := differ(r.Outputs["mean"].Data, s.rows(true))
			for i, y := range s.Y {
				e = max(e, differ(r.Outputs[fmt.Sprintf("out/%d", i)].Data, y.Data))
				if !slices.Equal(r.Outputs[fmt.Sprintf("out/%d", i)].Dims, y.Dims) {
					t.Errorf("%s in onnxruntime: output %d has the dimensions %v, not %v", s.name, i, r.Outputs[fmt.Sprintf("out/%d", i)].Dims, y.Dims)
				}
			}
			worst = max(worst, e)
			if r.Error != "" || !(e <= 1e-5) {
				t.Errorf("%s in onnxruntime: off by %.2g %s", s.name, e, r.Error)
			}
		}
	}
	if ran != len(all) {
		t.Errorf("%d of %d exported networks ran", ran, len(all))
	}
	t.Logf("%d of them in onnxruntime, off by at most %.2g", ran, worst)
}
