package importer

import (
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
