package main

import (
	"path/filepath"
	"strings"
	"testing"

	"utvi/internal/localization"
	"utvi/nn"
)

// Commands load networks with the paper's photon node.
func TestPhotonNodesAreLoaded(t *testing.T) {
	path := saved(t, nn.Dense{Out: 3}, nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8)})
	graph := filepath.Join(t.TempDir(), "graph.onnx")
	for _, args := range [][]string{{"inspect", path}, {"verify", path, "--rows", "2", "--networks", "200"}, {"export", path, "--out", graph}} {
		code, _, stderr := utvi(t, args...)
		if code != 0 {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
	if code, _, stderr := utvi(t, "predict", path, path); code == 0 || !strings.Contains(stderr, "not a tabular model") {
		t.Errorf("predict: exit %d, %s", code, stderr)
	}
}
