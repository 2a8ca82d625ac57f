package importer

import (
	"math"
	"strings"
	"testing"

	"utvi/gauss"
	"utvi/internal/onnx"
)

// Graphs of operators that meet in one formula, or whose numbers lie far from zero, have
// the values that ONNX defines.
func TestNumbers(t *testing.T) {
	k, l := []float32{1, -2, 0.5}, []float32{-3, 0.25, 2}
	relu := func(x float64) float64 { return max(x, 0) }
	clip := func(low, high float64) func(b *onnx.Builder, x string) string {
		return func(b *onnx.Builder, x string) string {
			return b.Op("Clip", []string{x, b.Float(low), b.Float(high)})
		}
	}
	for _, c := range []struct {
		name string
		make func(b *onnx.Builder, x string) string
		want func(x float64, i int) float64
	}{
		{"two parameters", func(b *onnx.Builder, x string) string {
			y, z := b.Op("Mul", []string{x, b.Floats("k", k, 3)}), b.Op("Mul", []string{x, b.Floats("l", l, 3)})
			return b.Op("Mul", []string{y, b.Op("Tanh", []string{z})})
		}, func(x float64, i int) float64 { return x * float64(k[i]) * math.Tanh(x*float64(l[i])) }},
		{"parameters of a choice", func(b *onnx.Builder, x string) string {
			return b.Op("Where", []string{b.Op("Greater", []string{x, b.Floats("k", k, 3)}), b.Op("Mul", []string{x, b.Floats("l", l, 3)}), x})
		}, func(x float64, i int) float64 {
			if x > float64(k[i]) {
				return x * float64(l[i])
			}
			return x
		}},
		{"a divisor", func(b *onnx.Builder, x string) string {
			return b.Op("Div", []string{b.Float(3), b.Op("Celu", []string{x}, onnx.Number("alpha", 2))})
		}, func(x float64, _ int) float64 { return 3 / (relu(x) + min(0, 2*math.Expm1(x/2))) }},
		{"far bounds", clip(-10, 10), func(x float64, _ int) float64 { return max(-10, min(10, x)) }},
		{"a far bound", clip(0, 20), func(x float64, _ int) float64 { return min(20, relu(x)) }},
		{"very far bounds", clip(-1e4, 1e4), func(x float64, _ int) float64 { return max(-1e4, min(1e4, x)) }},
		{"a narrow gap", func(b *onnx.Builder, x string) string {
			return b.Op("Where", []string{b.Op("Greater", []string{b.Op("Abs", []string{x}), b.Float(0.1)}), x, b.Float(0)})
		}, func(x float64, _ int) float64 {
			if math.Abs(x) > float64(float32(0.1)) {
				return x
			}
			return 0
		}},
		{"a mask of whole numbers", func(b *onnx.Builder, x string) string {
			mask := b.Op("Cast", []string{b.Op("Less", []string{x, b.Float(0.3)})}, onnx.Int("to", int(onnx.Int64)))
			return b.Op("Mul", []string{b.Op("Cast", []string{mask}, onnx.Int("to", int(onnx.Float))), x})
		}, func(x float64, _ int) float64 {
			if x < float64(float32(0.3)) {
				return x
			}
			return 0
		}},
		{"a constant that is cut off", func(b *onnx.Builder, x string) string {
			whole := b.Op("Cast", []string{b.Floats("k", []float32{-2.7, 3.7, 0.5}, 3)}, onnx.Int("to", int(onnx.Int32)))
			return b.Op("Mul", []string{b.Op("Tanh", []string{x}), b.Op("Cast", []string{whole}, onnx.Int("to", int(onnx.Float)))})
		}, func(x float64, i int) float64 { return math.Tanh(x) * []float64{-2, 3, 0}[i] }},
		{"quotients of whole numbers, then others", func(b *onnx.Builder, x string) string {
			whole := b.Op("Cast", []string{b.Op("Div", []string{b.Ints(7, 9, 5), b.Ints(2, 3, 9)})}, onnx.Int("to", int(onnx.Float)))
			ratio := b.Op("Div", []string{b.Floats("k", []float32{7, 9, 5}, 3), b.Floats("l", []float32{2, 4, 8}, 3)})
			return b.Op("Add", []string{b.Op("Mul", []string{b.Op("Tanh", []string{x}), whole}), ratio})
		}, func(x float64, i int) float64 {
			return math.Tanh(x)*[]float64{3, 3, 0}[i] + []float64{3.5, 2.25, 0.625}[i]
		}},
		{"what is left of divisions", func(b *onnx.Builder, x string) string {
			left := b.Op("Mod", []string{b.Floats("k", []float32{7, -7, 7}, 3), b.Floats("l", []float32{3, 3, -3}, 3)})
			signed := b.Op("Mod", []string{b.Floats("m", []float32{7, -7, 7}, 3), b.Floats("n", []float32{3, 3, -3}, 3)}, onnx.Int("fmod", 1))
			return b.Op("Add", []string{b.Op("Mul", []string{b.Op("Tanh", []string{x}), left}), signed})
		}, func(x float64, i int) float64 { return math.Tanh(x)*[]float64{1, 2, -2}[i] + []float64{1, -1, 1}[i] }},
		{"a sum of three", func(b *onnx.Builder, x string) string {
			return b.Op("Sum", []string{b.Op("Tanh", []string{x}), b.Floats("k", k, 3), x})
		}, func(x float64, i int) float64 { return math.Tanh(x) + float64(k[i]) + x }},
		{"sizes of one row", func(b *onnx.Builder, x string) string {
			return b.Op("Reshape", []string{b.Op("Tanh", []string{b.Op("Reshape", []string{x, b.Ints(1, -1, 1)})}), b.Ints(1, 3)})
		}, func(x float64, _ int) float64 { return math.Tanh(x) }},
		{"constants that are repeated", func(b *onnx.Builder, x string) string {
			return b.Op("MatMul", []string{x, b.Op("Mul", []string{b.Floats("k", k, 3, 1), b.Floats("i", []float32{1, 0, 0, 0, 1, 0, 0, 0, 1}, 3, 3)})})
		}, func(x float64, i int) float64 { return x * float64(k[i]) }},
	} {
		b := onnx.NewBuilder("g")
		x := b.Input("x", onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 3})
		b.Reserve("y")
		b.Output("y", c.make(b, x), onnx.Float)
		n, err := network(b.Model(), nil, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		in := []float32{-3, 0.05, 2, 0.4, 0.2, -0.06, 15, -30, 25, -2e5, 2e5, 9}
		got := n.NewPredictor(len(in) / 3).Predict(gauss.Fixed(3, in)).Mean
		for i, v := range in {
			if want := c.want(float64(v), i%3); !(math.Abs(float64(got[i])-want) <= 2e-6*(1+math.Abs(want))) {
				t.Errorf("%s: at %v of unit %d it is %v, want %v", c.name, v, i%3, got[i], want)
			}
		}
	}
}

// Logarithms of probabilities are finite for logits far apart, and have moments where
// those of a probability would reach below zero.
func TestLogSoftmax(t *testing.T) {
	for name, ops := range map[string][]string{"one operator": {"LogSoftmax"}, "spelt out": {"Softmax", "Log"}} {
		b := onnx.NewBuilder("g")
		y := b.Input("x", onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 3})
		for _, op := range ops {
			y = b.Op(op, []string{y})
		}
		b.Reserve("y")
		b.Output("y", y, onnx.Float)
		n, err := network(b.Model(), nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := n.NewPredictor(1)
		if got := p.Predict(gauss.Fixed(3, []float32{0, -200, 1})).Mean[1]; math.Abs(float64(got)+201.3132617) > 1e-4 {
			t.Errorf("%s: %v, want -201.313", name, got)
		}
		out := p.Predict(gauss.Batch[float32]{Rows: 1, Width: 3, Mean: []float32{1, -4, 2}, Var: []float32{1, 2, 1}})
		for i, m := range out.Mean {
			if v := out.Var[i]; !(m < 0 && m > -10 && v > 0 && v < 5) {
				t.Errorf("%s: output %d is %v with the variance %v", name, i, m, v)
			}
		}
	}
}

// The largest number over the places of an image is a maximum of each channel.
func TestLargestOfPlaces(t *testing.T) {
	for _, keep := range []int{0, 1} {
		b := onnx.NewBuilder("g")
		x := b.Input("x", onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 2}, onnx.Dim{Size: 2}, onnx.Dim{Size: 3})
		b.Reserve("y")
		b.Output("y", b.Op("ReduceMax", []string{b.Op("Relu", []string{x})}, onnx.IntList("axes", 2, 3), onnx.Int("keepdims", keep)), onnx.Float)
		n, err := network(b.Model(), nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := n.NewPredictor(1).Predict(gauss.Fixed(12, []float32{1, -1, 2, 7, 5, 3, 4, 20, 6, 8, -2, 9})).Mean // channels alternate
		if got[0] != 6 || got[1] != 20 {
			t.Errorf("%v, want 6 and 20", got)
		}
	}
}

// The sum of a column and a row of constants is a matrix.
func TestConstantsMeet(t *testing.T) {
	column, row := &constant{dims: []int{3, 1}, data: []float64{1, 2, 3}}, &constant{dims: []int{2}, data: []float64{10, 20}}
	got, err := row.with(column, minus)
	if err != nil || len(got.dims) != 2 || got.dims[0] != 3 || got.dims[1] != 2 || got.data[1] != 19 || got.data[4] != 7 {
		t.Errorf("%v, %v", got, err)
	}
	wide := &constant{dims: []int{1 << 13}, data: make([]float64, 1<<13)}
	high := &constant{dims: []int{1 << 13, 1}, data: make([]float64, 1<<13)}
	if _, err := wide.with(high, plus); err == nil {
		t.Error("two small constants took much memory")
	}
	if _, err := row.with(&constant{dims: []int{3}, data: []float64{1, 2, 3}}, plus); err == nil {
		t.Error("two numbers were added to three")
	}
}

// A regressor may end with rows of one number that have no dimension of their own.
func TestBareNumber(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(b *onnx.Builder, y string) string
	}{
		{"Squeeze", func(b *onnx.Builder, y string) string { return b.Op("Squeeze", []string{y, b.Ints(1)}) }},
		{"Reshape", func(b *onnx.Builder, y string) string { return b.Op("Reshape", []string{y, b.Ints(-1)}) }},
		{"and a function", func(b *onnx.Builder, y string) string {
			return b.Op("Relu", []string{b.Op("Squeeze", []string{y, b.Ints(-1)})})
		}},
		{"and back", func(b *onnx.Builder, y string) string {
			return b.Op("MatMul", []string{b.Op("Unsqueeze", []string{b.Op("Squeeze", []string{y, b.Ints(1)}), b.Ints(1)}), b.Floats("v", []float32{1}, 1, 1)})
		}},
	} {
		b := onnx.NewBuilder("g")
		x := b.Input("x", onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 2})
		b.Reserve("y")
		b.Output("y", c.make(b, b.Op("MatMul", []string{x, b.Floats("w", []float32{3, 4}, 2, 1)})), onnx.Float)
		n, err := network(b.Model(), nil, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := n.NewPredictor(2).Predict(gauss.Fixed(2, []float32{1, 2, 3, 4})).Mean; got[0] != 11 || got[1] != 25 {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Rows without a dimension and rows of one number would make a square of all rows.
func TestBareNumberMeetsRows(t *testing.T) {
	b := onnx.NewBuilder("g")
	x := b.Input("x", onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 1})
	b.Reserve("y")
	y := b.Op("Tanh", []string{x})
	b.Output("y", b.Op("Add", []string{y, b.Op("Squeeze", []string{y, b.Ints(1)})}), onnx.Float)
	if _, err := network(b.Model(), nil, Options{}); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("it is taken: %v", err)
	}
}
