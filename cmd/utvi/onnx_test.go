package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/internal/onnx"
	"utvi/model"
	"utvi/nn"
)

// A network goes out, comes in, and gets error bars.
func TestNetworksOutAndIn(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	n, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 1, Fixed: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Save(at("net.safetensors")); err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	rows.WriteString("a,b,y\n")
	for i := range 60 {
		fmt.Fprintf(&rows, "%d,%d,%g\n", i%7-3, i%5-2, float64(i%3))
	}
	if err := os.WriteFile(at("rows.csv"), []byte(rows.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("net.pt"), []byte("PK\x03\x04 and more"), 0o644); err != nil {
		t.Fatal(err)
	}
	pageSays := "built without the program that such a page runs; build it with: go generate"
	for _, c := range []struct{ args, says string }{
		{"export net.safetensors --variance", "net.onnx: "},
		{"import net.onnx --output mean -o in.safetensors", "in.safetensors: inputs 2, outputs 1, 3 weights"},
		{"export net.safetensors -o plain.onnx", "plain.onnx: "},
		{"import plain.onnx -o in.safetensors", "the graph has the outputs [\"mean\" \"variance\"]; use --output mean, another, or several with commas"},
		{"import plain.onnx --output mean -o in.safetensors --random", "in.safetensors: inputs 2, outputs 1, 3 weights"},
		{"bayes plain.onnx --output mean --data rows.csv --target y --epochs 2 -o bayes.safetensors", "48 rows of training, scores on 12 other rows:"},
		{"export bayes.safetensors -o again.onnx", "again.onnx: "},
		{"predict bayes.safetensors rows.csv", "y_mean,y_std,y_lo,y_hi,y_var_weights,y_var_inputs,y_var_noise,ood"},
		{"eval bayes.safetensors rows.csv", "90 % intervals     cover"},
		{"inspect bayes.safetensors", "2 to 2, as they are"},
		{"inspect bayes.safetensors", "imported from         plain.onnx"},
		{"verify bayes.safetensors", "σ propagated / σ drawn"},
		{"export bayes.safetensors -o new/a/again.onnx", "again.onnx: "},
		{"import plain.onnx --output mean -o new/b/in.safetensors", "in.safetensors: inputs 2"},
		{"bayes plain.onnx --output mean --data rows.csv --target y --epochs 2 -o new/c/bayes.safetensors", "48 rows of training"},
		{"bayes plain.onnx --data rows.csv", "--data and --target are needed"},
		{"bayes plain.onnx --output mean --data rows.csv --target z", `the table has no column "z"; its columns are ["a" "b" "y"]`},
		{"bayes plain.onnx --output mean --data rows.csv --target y --epochs 0", "--epochs, --batch, --rate and --held-out must be above 0"},
		{"bayes plain.onnx --output mean --data rows.csv --target y -o plain.onnx/x.safetensors", "plain.onnx is not a folder"},
		{"bayes plain.onnx --output mean --data rows.csv --target y --test new.csv -o new.csv", "new.csv: no such file or directory"},
		{"calibrate bayes.safetensors rows.csv", "conformal intervals from"},
		{"import none.onnx -o x.safetensors", "none.onnx: no such file or directory"},
		{"export net.safetensors --page --variance", "--variance belongs to a graph"},
		{"export plain.onnx --page", "plain.onnx is not a utvi model file"},
		{"export net.safetensors --page -o page", pageSays},
		{"export plain.onnx", "plain.onnx is not a utvi model file"},
		{"bayes plain.onnx --output mean --data rows.csv --target y --epochs -2", "-2 epochs"},
		{"import rows.csv -o x.safetensors", "rows.csv: not an ONNX file: "},
		{"import net.safetensors -o x.safetensors", "weights without layers; describe the layers in a JSON file (LoadStateDict, --layers)"},
		{"import net.pt -o x.safetensors", "one that torch.save wrote; write the network with torch.onnx.export"},
		{"predict net.safetensors rows.csv", "but a network; utvi export writes it as a graph that predicts, utvi serve answers with it"},
		{"export rows.csv", "rows.csv is not a utvi model file"},
		{"export net.safetensors -o net.txt", "net.txt: a graph cannot be written as .txt; name a .onnx file"},
		{"export net.safetensors -o net.safetensors", "output would overwrite the input"},
	} {
		args := strings.Fields(c.args)
		for i, a := range args {
			if i > 0 && strings.Contains(a, ".") {
				args[i] = at(a)
			}
		}
		_, out, errs := utvi(t, args...)
		if !strings.Contains(out+errs, c.says) {
			t.Errorf("%s:\n%s%s\nwant %q", c.args, out, errs, c.says)
		}
	}
	b, err := os.ReadFile(at("again.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Unmarshal(b)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, x := range m.Metadata {
		found[x.Key] = x.Value
	}
	if found["utvi.rows"] != "48" || found["utvi.more.imported from"] != "plain.onnx" {
		t.Errorf("the metadata are %v", found)
	}
}
