package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
)

// saved writes a model to a file.
func saved(t *testing.T, layers ...nn.Layer) string {
	t.Helper()
	m, err := model.New(model.Config{Input: nn.Vec(2), Layers: layers, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	m.Facts = model.Facts{Rows: 500, Steps: 70, Likelihood: "normal", NLL: -0.25, Data: "two moons", More: map[string]string{"preset": "quick"}}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

var sensor = &moment.Func{Name: "sensor", F: math.Sin}

func TestInspect(t *testing.T) {
	path := saved(t, nn.Dense{Out: 3}, nn.Apply{F: sensor}, nn.Scale{})
	code, out, errs := utvi(t, "inspect", path)
	if code != 0 || errs != "" {
		t.Fatal(code, errs)
	}
	for _, want := range []string{"0.dense", "out=3", "user_f=sensor rule=gh(9)", "12 weights, 9 of them distributions", "0.dense.weight", "N(0, 1²)",
		"numbers", "trained on   two moons", "steps        70", "preset       quick", "-0.25 nats per row"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	code, out, _ = utvi(t, "inspect", path, "--json")
	var got struct {
		Members []struct {
			Input   []int
			Layers  []struct{ Out []int }
			Tensors []struct{ SNR []float64 }
			Facts   model.Facts
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatal(err, out)
	}
	if m := got.Members[0]; len(m.Layers) != 3 || m.Layers[0].Out[2] != 3 || m.Input[2] != 2 || len(m.Tensors[0].SNR) != 5 || m.Facts.Rows != 500 {
		t.Errorf("%+v", m)
	}
}

// A prior that is centred on trained weights is not shown as one around 0.
func TestInspectCentered(t *testing.T) {
	m, err := model.Load(saved(t, nn.Dense{Out: 3}))
	if err != nil {
		t.Fatal(err)
	}
	w := m.Params.Tensors[0]
	w.Center = append([]float32(nil), w.Mean...)
	path := filepath.Join(t.TempDir(), "centred.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	code, out, _ := utvi(t, "inspect", path)
	if code != 0 || strings.Count(out, "N(start, 1²)") != 1 || !strings.Contains(out, "centred on the weight") {
		t.Errorf("%d\n%s", code, out)
	}
}

func TestVerify(t *testing.T) {
	path := saved(t, nn.Dense{Out: 3}, nn.Residual{Branch: nn.Dense{Out: 3}}, nn.Apply{F: fn.Tanh()})
	code, out, errs := utvi(t, "verify", path, "--networks", "300", "--rows", "2")
	if code != 0 || errs != "" {
		t.Fatal(code, errs)
	}
	for _, want := range []string{"300 networks drawn, 2 rows", "0.058 σ in means", "0.dense", "1.residual *", "2.apply", "independent: 1.residual",
		"Standard deviation due to the weights: σ propagated / σ drawn: 1.0", "300 networks, ±4.", "\nBelieve what the weights add to the error bars:"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	csv := written(t, "x, y\n0.5,1\n1.5,-2\n0,3\n")
	code, out, errs = utvi(t, "verify", path, "--networks", "20", "--json", "--data", csv)
	var got struct {
		Members []struct {
			Rows   int
			Layers []struct{ Mean model.Deviation }
		}
		Ratio model.SigmaRatio `json:"sigma_ratio"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatal(err, errs)
	}
	if m := got.Members[0]; m.Rows != 3 || len(m.Layers) != 4 || m.Layers[3].Mean.Worst == 0 {
		t.Errorf("%+v", m)
	}
	if r := got.Ratio; r.Compared != 9 || r.Median < 0.5 || r.P05 > r.Median || r.P95 < r.Median || r.Belief == "" {
		t.Errorf("%+v", r)
	}
	if _, full, _ := utvi(t, "verify", path, "--networks", "20", "--order", "2"); !strings.Contains(full, "With full covariances of order 2: ") {
		t.Error(full)
	}
	_, same, _ := utvi(t, "verify", path, "--networks", "20", "--json", "--data", csv)
	_, other, _ := utvi(t, "verify", path, "--networks", "20", "--json", "--data", csv, "--seed", "2")
	if same != out || other == out {
		t.Error("a seed does not decide the result")
	}
	_, out, _ = utvi(t, "verify", path, "--networks", "20", "--data", csv, "--rows", "2")
	if !strings.Contains(out, "20 networks drawn, 2 rows") {
		t.Error(out)
	}
}

// What a stranger's file says of itself does not steer the terminal.
func TestInspectTames(t *testing.T) {
	path := saved(t, nn.Apply{F: &moment.Func{Name: "\x1b[2Jwild", F: math.Sin}})
	m, err := model.Load(path, model.WithStandIns())
	if err != nil {
		t.Fatal(err)
	}
	m.Facts.Data, m.Facts.More = "a\nline", map[string]string{"k\t": "\x07"}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	code, out, _ := utvi(t, "inspect", path)
	if code != 0 || strings.ContainsAny(out, "\x1b\x07\t") || !strings.Contains(out, "�[2Jwild") || !strings.Contains(out, "a�line") {
		t.Errorf("exit %d, %q", code, out)
	}
}

// What is wrong with a file or a flag is said in one line; the exit status
// tells the two apart.
func TestModelCommandsRefuse(t *testing.T) {
	good, user := saved(t, nn.Dense{Out: 1}), saved(t, nn.Apply{F: sensor})
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{2, "takes one model file, not 0 arguments", []string{"inspect"}},
		{2, "takes one model file; give the table with --data", []string{"verify", good, good}},
		{1, "no such file", []string{"inspect", good + "x"}},
		{1, "is not a utvi model file", []string{"inspect", written(t, "GIF89a, an image of some sort")}},
		{1, "is not a utvi model file", []string{"verify", written(t, "short")}},
		{1, "truncated", []string{"verify", written(t, string(readFile(t, good)[:100]))}},
		{1, "it is a folder", []string{"verify", t.TempDir()}},
		{1, `the model needs the function "sensor": load it with model.WithFunc and verify it in Go`, []string{"verify", user}},
		{2, "--networks is 1; it must be 2 to 100000000", []string{"verify", good, "--networks", "1"}},
		{2, "--rows is 0; it must be 1 to 1000000", []string{"verify", good, "--rows", "0"}},
		{2, `--networks takes a whole number, not "many"`, []string{"verify", good, "--networks", "many"}},
		{1, "no such file", []string{"verify", good, "--data", good + "x"}},
		{1, "has 3 columns; the network has 2 inputs", []string{"verify", good, "--data", written(t, "1,2,3\n")}},
		{1, `line 3, column b: "x" is not a finite number`, []string{"verify", good, "--data", written(t, "a,b\n1,2\n3,x\n")}},
		{1, `"Inf" is not a finite number`, []string{"verify", good, "--data", written(t, "1,Inf\n")}},
		{1, "has no rows", []string{"verify", good, "--data", written(t, "a,b\n")}},
	} {
		code, out, errs := utvi(t, c.args...)
		if code != c.code || !strings.Contains(errs, c.says) || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("%v: exit %d, %q, want %d, %q", c.args, code, errs, c.code, c.says)
		}
	}
}
