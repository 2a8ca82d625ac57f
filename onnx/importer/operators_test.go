package importer

import (
	"os"
	"strings"
	"testing"

	"utvi/internal/onnx"
)

// Nodes that lack inputs, also beside a mean of a row, are refused and never panic.
func TestLackingInputs(t *testing.T) {
	for op := range operators {
		for _, inputs := range [][]string{nil, {""}, {"", "m"}, {"m"}, {"m", ""}, {"x"}, {"", "x"}} {
			b := onnx.NewBuilder("g")
			x := b.Input("x", onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 4})
			mean := b.Op("ReduceMean", []string{x}, onnx.IntList("axes", 1))
			named := map[string]string{"": "", "m": mean, "x": x}
			var in []string
			for _, s := range inputs {
				in = append(in, named[s])
			}
			b.Reserve("y")
			b.Output("y", b.Op(op, in), onnx.Float)
			if _, err := network(b.Model(), nil, Options{}); err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %q: %v", op, inputs, err)
			}
		}
	}
}

// docs/onnx.md lists every operator.
func TestOperatorsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/onnx.md")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.FieldsFunc(string(page), func(r rune) bool { return r == ' ' || r == ',' || r == ';' || r == '\n' })
	listed := map[string]bool{}
	for _, w := range words {
		listed[w] = true
	}
	for _, op := range Operators() {
		if !listed[op] {
			t.Errorf("%s is not in docs/onnx.md", op)
		}
	}
}
