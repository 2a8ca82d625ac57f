package main

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/model"
	"utvi/nn"
)

// A network of another program becomes Bayesian with images of a folder, of an array and of a table, and
// then predicts images; arrays of rows are scored beside their targets.
func TestBayesImages(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	n, err := model.New(model.Config{Input: nn.Shape{H: 12, W: 14, C: 1}, Layers: nn.Chain{nn.Flatten{}, nn.Dense{Out: 2, Fixed: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Save(at("net.safetensors")); err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	list.WriteString("picture,kind\n")
	var x, class []byte
	var flat, number []float32
	for i := range 60 {
		down := i%2 == 1
		im := barImage(i, down).(*image.Gray)
		kind := []string{"across", "down"}[i%2]
		part := []string{"train", "test"}[i/50]
		name := fmt.Sprintf("photos/%s/%s/%d.png", part, kind, i)
		if err := writeImage(at(name), im); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "%s,%s\n", name, kind)
		x = append(x, im.Pix...)
		class = append(class, byte(i%2))
		flat = append(flat, float32(i%7), float32(i%5))
		number = append(number, float32(i%3))
	}
	writeNpy(t, at("x.npy"), "60, 12, 14", x)
	writeNpy(t, at("y.npy"), "60,", class)
	writeNpy(t, at("rows.npy"), "60, 2", flat)
	writeNpy(t, at("number.npy"), "60, 1", number)
	writeNpy(t, at("short.npy"), "59, 1", number[:59])
	if err := os.WriteFile(at("list.csv"), []byte(list.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, says string }{
		{"export net.safetensors -o net.onnx", "net.onnx: "},
		{"bayes net.onnx photos --output mean --epochs 2 --even-if-worse -o folder.safetensors", "50 rows of training, scores on 10 other rows"},
		{"bayes net.onnx --data x.npy --target y.npy --output mean --epochs 2 --even-if-worse -o array.safetensors", "48 rows of training, scores on 12 other rows"},
		{"bayes net.onnx --data list.csv --image picture --target kind --output mean --epochs 2 --even-if-worse -o table.safetensors", "48 rows of training"},
		{"bayes net.onnx --data x.npy --target y.npy --test x.npy --test-target y.npy --output mean --epochs 2 --even-if-worse -o array.safetensors", "60 rows of training, scores on 60 other rows"},
		{"predict folder.safetensors photos/test", "file,class,p_across,p_down"},
		{"eval folder.safetensors photos/test", "rows                 10"},
		{"eval array.safetensors x.npy --targets y.npy", "rows                 60"},
		{"calibrate table.safetensors list.csv", "temperature"},
		{"bayes net.onnx photos --target kind", "photos is a folder, whose subfolders are the classes"},
		{"bayes net.onnx photos/train/down --output mean", "has images, but no subfolders with images"},
		{"bayes net.onnx photos --output mean --size 9", "the network takes images of 12 × 14 pixels; the size is [9]"},
		{"bayes net.onnx photos --output mean --normalise 3", `normalise is "3"; it is imagenet, or a mean`},
	} {
		out, err := inFolder(dir, strings.Fields(c.args)...)
		if !strings.Contains(out, c.says) || strings.Contains(out, "goroutine") {
			t.Errorf("%s: %v, %s, want %s", c.args, err, out, c.says)
		}
	}
	n, err = model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 1, Fixed: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Save(at("line.safetensors")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, says string }{
		{"export line.safetensors -o line.onnx", "line.onnx: "},
		{"bayes line.onnx --output mean --data rows.npy --target number.npy --epochs 2 --even-if-worse -o rows.safetensors", "Stored in rows.safetensors"},
		{"eval rows.safetensors rows.npy --targets number.npy", "90 % intervals     cover"},
		{"calibrate rows.safetensors rows.npy --targets number.npy", "conformal"},
		{"eval rows.safetensors rows.npy", "lacks the target y1"},
		{"eval rows.safetensors rows.npy --targets rows.npy", "rows.npy has 2 columns; the model has 1 targets"},
		{"eval rows.safetensors rows.npy --targets short.npy", "rows.npy has 60 rows, short.npy has 59; each row needs its targets"},
	} {
		out, err := inFolder(dir, strings.Fields(c.args)...)
		if !strings.Contains(strings.ReplaceAll(out, dir+"/", ""), c.says) || strings.Contains(out, "goroutine") {
			t.Errorf("%s: %v, %s, want %s", c.args, err, out, c.says)
		}
	}
}
