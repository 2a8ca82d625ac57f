package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"utvi/internal/onnx"
)

// A tensor is an input or an output of a case. Numbers that are not finite are strings.
type tensor struct {
	Dims    []int    `json:"dims"`
	Data    []any    `json:"data,omitempty"`
	Strings []string `json:"strings,omitempty"`
	Double  bool     `json:"double,omitempty"` // an input in float64
}

func (t tensor) floats() []float64 {
	v := make([]float64, len(t.Data))
	for i, x := range t.Data {
		switch x := x.(type) {
		case float64:
			v[i] = x
		case string:
			v[i], _ = strconv.ParseFloat(x, 64)
		}
	}
	return v
}

func numbers(v []float32, dims ...int) tensor {
	t := tensor{Dims: dims}
	for _, x := range v {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Data = append(t.Data, strconv.FormatFloat(f, 'g', -1, 64))
		} else {
			t.Data = append(t.Data, f)
		}
	}
	return t
}

// A run is a graph with inputs, and what onnxruntime made of them.
type run struct {
	Name   string            `json:"name"`
	Inputs map[string]tensor `json:"inputs"`

	model   *onnx.Model
	alone   bool
	outputs map[string]tensor
	err     string
}

// needsRuntime skips a test without the real components, and says what is missing.
func needsRuntime(t *testing.T) (modules string) {
	t.Helper()
	modules = os.Getenv("UTVI_ONNXRUNTIME")
	if modules == "" {
		t.Skip("UTVI_ONNXRUNTIME is not set: the folder of an npm installation of onnxruntime-node@1.30.0; the graphs are written, but not run")
	}
	return modules
}

// write writes the graph and its inputs to a folder, and returns the size of the graph.
func (r *run) write(t *testing.T, dir string) (size int) {
	t.Helper()
	b, err := r.model.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for ext, data := range map[string][]byte{".onnx": b, ".json": text} {
		if err := os.WriteFile(filepath.Join(dir, r.Name+ext), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return len(b)
}

// runAll runs graphs in onnxruntime, and checks them with ONNX' own checker if
// UTVI_ONNX_PYTHON names a Python that has it.
func runAll(t *testing.T, runs []*run) {
	t.Helper()
	modules := needsRuntime(t)
	dir := t.TempDir()
	byName := map[string]*run{}
	for _, r := range runs {
		r.write(t, dir)
		byName[r.Name] = r
	}
	if python := os.Getenv("UTVI_ONNX_PYTHON"); python != "" {
		out, err := exec.Command(python, "testdata/check.py", dir).CombinedOutput()
		if err != nil {
			t.Fatalf("the checker: %v\n%s", err, out)
		}
		t.Logf("%s", bytes.TrimSpace(out))
	} else {
		t.Log("UTVI_ONNX_PYTHON is not set: the graphs were not checked by python3-onnx")
	}
	cmd := exec.Command("node", "testdata/compare.cjs", modules, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var r struct {
			Name    string
			Outputs map[string]tensor
			Error   string
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		byName[r.Name].outputs, byName[r.Name].err = r.Outputs, r.Error
	}
	for _, r := range runs {
		if r.err != "" {
			t.Errorf("%s: %s", r.Name, r.err)
		} else if r.outputs == nil {
			t.Errorf("%s was not run", r.Name)
		}
	}
}
