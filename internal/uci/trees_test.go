package uci_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrees runs the script that scores scikit-learn's trees on the same splits, and lets
// it stand beside utvi's scores. UTVI_SKLEARN names a Python with scikit-learn.
func TestTrees(t *testing.T) {
	python := os.Getenv("UTVI_SKLEARN")
	if python == "" {
		t.Skip("UTVI_SKLEARN names no Python with scikit-learn")
	}
	dir := write(t, func(map[string]string) {})
	run := func(args ...string) (string, error) {
		out, err := exec.Command(python, append([]string{"../../bench/trees/trees.py", "--data", dir}, args...)...).Output()
		return string(out), err
	}
	out, err := run("--json")
	var found struct {
		Scores []map[string]json.RawMessage `json:"scores"`
	}
	if err != nil || json.Unmarshal([]byte(out), &found) != nil || len(found.Scores) != 1 {
		t.Fatalf("%s, %v", out, err)
	}
	var x struct{ RMSE float64 }
	if err := json.Unmarshal(found.Scores[0]["ExtraTrees"], &x); err != nil || x.RMSE < 2.5 || x.RMSE > 12 { // the noise is 3, the targets' deviation 22
		t.Errorf("the error is %v, %v", x.RMSE, err)
	}
	ours := filepath.Join(t.TempDir(), "utvi.json")
	if err := os.WriteFile(ours, []byte(`[{"set": "lines", "rmse": 3.25, "rmse_se": null}]`), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := run("--utvi", ours, "--methods", "ExtraTrees"); err != nil || !strings.Contains(out, "| RMSE | utvi | ExtraTrees |") || !strings.Contains(out, "| lines | 3.250 | ") {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := run("--methods", "Oak"); err == nil {
		t.Error("an unknown method passed")
	}
}
