package model_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"utvi/moment"
)

// Another tool reads our files: Hugging Face's own parser, where it is installed
// (UTVI_NODE_MODULES names the folder that holds node_modules).
func TestIndependentReader(t *testing.T) {
	if os.Getenv("UTVI_NODE_MODULES") == "" {
		t.Skip("left out: UTVI_NODE_MODULES names no folder with @huggingface/hub; .ci/run installs it")
	}
	m := network(t, moment.UT(2))
	path := filepath.Join(t.TempDir(), "m.utvi")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/read.mjs", path)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Total   int
		Tensors map[string]struct {
			Dtype  string
			Shape  []int
			Values []float32
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	total := 0
	check := func(name string, shape []int, want []float32) {
		x := got.Tensors[name]
		if x.Dtype != "F32" || !slices.Equal(x.Shape, shape) || !slices.Equal(x.Values, want) {
			t.Errorf("%s reads as %s %v", name, x.Dtype, x.Shape)
		}
		total += len(want)
	}
	for _, x := range m.Params.Tensors {
		check(x.Name+".mean", x.Shape, x.Mean)
		check(x.Name+".rho", x.Shape, x.Rho)
	}
	if got.Total != total {
		t.Errorf("the reader counts %d numbers, we wrote %d", got.Total, total)
	}
}
