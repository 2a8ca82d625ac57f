package fitkind

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/fit"
	"utvi/internal/demo"
	"utvi/internal/sweep"
	"utvi/internal/tabular"
)

func TestKind(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "resin.csv")
	var b bytes.Buffer
	if err := demo.Table(&b, 100, 1, false); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(data, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	c := tabular.Config{Ensemble: 2, Noise: tabular.Learned, KL: 0.3, Activation: "leaky-relu", Depth: 1, Width: 16, Steps: 16, Batch: 64}
	spec := Spec{Table: data, Config: fit.Config{Targets: []string{"strength"}, Network: c}}
	p, err := sweep.NewPlan("p", sweep.NewTrial("fit", "a", "g", 1, spec))
	if err != nil {
		t.Fatal(err)
	}
	r := sweep.Runner{Kinds: All(), Dir: filepath.Join(dir, "trials")}
	found, err := r.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if found[0].Metrics["rmse"] <= 0 || found[0].Metrics["coverage90"] <= 0 {
		t.Errorf("metrics %v", found[0].Metrics)
	}
	m, err := fit.Load(filepath.Join(r.Dir, p.Trials[0].ID()+".utvi"))
	if err != nil || m.Facts.Rows != 100 || m.Facts.Refitted != 10 {
		t.Errorf("model %v, %v", m, err)
	}
	bad, _ := sweep.NewPlan("p", sweep.NewTrial("fit", "a", "g", 1, map[string]any{"table": "x.csv"}))
	if err := r.Check(bad); err == nil || !strings.Contains(err.Error(), "no target") {
		t.Errorf("a trial without target: %v", err)
	}
}
