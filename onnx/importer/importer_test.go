package importer

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/onnx"
	"utvi/internal/special"
	"utvi/model"
	"utvi/nn"
	"utvi/onnx/export"
)

// fixed is a network of numbers with each layer that can be imported.
func fixed(t testing.TB) *model.Model {
	t.Helper()
	n, err := model.New(model.Config{Input: nn.Shape{H: 8, W: 6, C: 2}, Layers: nn.Chain{
		nn.BatchNorm{Mean: []float64{0.1, 0.2}, Var: []float64{1, 2}},
		nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}, Padding: nn.Same, Fixed: true}, nn.Apply{F: fn.ReLU()},
		nn.Residual{Branch: nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}, Padding: nn.Same, Fixed: true}, nn.Apply{F: fn.Tanh()}}},
		nn.Residual{Branch: nn.Chain{nn.Conv2D{Out: 5, Kernel: [2]int{3, 3}, Stride: 2, Pad: [4]int{1, 1, 1, 1}, Fixed: true}, nn.Apply{F: fn.Sin()}}, Skip: nn.Chain{nn.Conv2D{Out: 5, Kernel: [2]int{1, 1}, Stride: 2, NoBias: true, Fixed: true}}},
		nn.MaxPool2D{Size: [2]int{2, 2}}, nn.MaxPool2D{Size: [2]int{2, 3}, Stride: 1, Pad: [4]int{1, 2, 0, 0}}, nn.AvgPool2D{Size: [2]int{2, 2}, Stride: 1, Pad: [4]int{0, 1, 1, 0}, CountPad: true},
		nn.AvgPool2D{Size: [2]int{2, 2}, Stride: 1, Pad: [4]int{0, 1, 1, 1}}, nn.AvgPool2D{Size: [2]int{2, 1}}, nn.Flatten{},
		nn.Dense{Out: 6, Fixed: true}, nn.LayerNorm{}, nn.Apply{F: fn.MustFormula("x/(1+x^2)")}, nn.Dense{Out: 3, Fixed: true, NoBias: true}, nn.Joint{Map: fn.Softmax()},
	}, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A network that goes out and comes in again gives the same numbers.
func TestRound(t *testing.T) {
	n := fixed(t)
	m, err := export.Network(n, export.Options{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := network(m, nil, Options{Output: "mean"})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, 5*n.Inputs())
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	want := n.NewPredictor(5).Predict(gauss.Fixed(n.Inputs(), x))
	got := again.NewPredictor(5).Predict(gauss.Fixed(n.Inputs(), x))
	for i, y := range want.Mean {
		if math.Abs(float64(got.Mean[i]-y)) > 1e-6 {
			t.Fatalf("output %d is %v, was %v", i, got.Mean[i], y)
		}
	}
	if a, b := kinds(n), kinds(again); a != b {
		t.Errorf("the layers are\n%s\nand were\n%s", b, a)
	}
}

func kinds(n *model.Model) string {
	var all []string
	for x := range n.Graph().All() {
		name := x.Layer.Kind()
		if a, ok := x.Layer.(nn.Apply); ok && a.F.Formula == nil {
			name = a.F.Name
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

// Random weights are Normals around the trained values, and so are their priors.
func TestRandom(t *testing.T) {
	b := onnx.NewBuilder("g")
	x := b.Input("x", onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 2})
	y := b.Op("Gemm", []string{x, b.Floats("w", []float32{3, -4}, 2, 1), b.Floats("b", []float32{0}, 1)})
	b.Reserve("y")
	b.Output("y", y, onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 1})
	n, err := network(b.Model(), nil, Options{Random: true, Scale: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	w, bias := n.Params.Tensors[0], n.Params.Tensors[1]
	std := 0.2 * math.Sqrt(12.5)
	if w.Mean[1] != -4 || w.Center[1] != -4 || w.Prior.Mean != 0 || math.Abs(w.Prior.Std-std) > 1e-12 {
		t.Errorf("%v, centre %v, prior %v", w.Mean, w.Center, w.Prior)
	}
	if sd := special.Softplus(float64(w.Rho[0])); math.Abs(sd-std/10) > 1e-6 {
		t.Errorf("σ starts at %v", sd)
	}
	if math.Abs(bias.Prior.Std-0.2/math.Sqrt2) > 1e-12 {
		t.Errorf("the prior of a bias of zeros is %v", bias.Prior)
	}
	if kl, want := w.KL(), 2*(math.Log(10)+0.01/2-0.5); math.Abs(kl-want) > 1e-5 {
		t.Errorf("the KL is %v, want %v", kl, want)
	}
	var file bytes.Buffer
	if err := n.Write(&file); err != nil {
		t.Fatal(err)
	}
	e, err := model.ReadEnsemble(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if c := e.Members[0].Params.Tensors[0].Center; len(c) != 2 || c[0] != 3 {
		t.Errorf("the centre was read as %v", c)
	}
}

// Groups and dilations are taken as they are: their weights can be random.
func TestRandomGroups(t *testing.T) {
	b := onnx.NewBuilder("g")
	x := b.Input("x", onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 2}, onnx.Dim{Size: 4}, onnx.Dim{Size: 4})
	y := b.Op("Conv", []string{x, b.Floats("v", []float32{1, 2, 3, 4}, 2, 1, 1, 2)}, onnx.Int("group", 2))
	y = b.Op("Conv", []string{y, b.Floats("w", []float32{1, 2, 3, 4}, 2, 2, 1, 1)})
	b.Reserve("y")
	b.Output("y", b.Op("Conv", []string{y, b.Floats("d", []float32{1, 2, 3, 4}, 1, 2, 1, 2)}, onnx.IntList("dilations", 1, 2)), onnx.Float)
	n, err := network(b.Model(), nil, Options{Random: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, size := range []int{4, 4, 4} {
		if w := n.Params.Tensors[i]; !w.Random || len(w.Mean) != size {
			t.Errorf("convolution %d has %d weights, random: %v", i, len(w.Mean), w.Random)
		}
	}
}

// What cannot be imported is answered in one sentence with the node and the operator.
func TestRefusals(t *testing.T) {
	type graph func(b *onnx.Builder, x string) string
	w := func(b *onnx.Builder, dims ...int) string {
		return b.Floats("w", make([]float32, size(dims)), dims...)
	}
	image, series := []onnx.Dim{{Name: "N"}, {Size: 2}, {Size: 6}, {Size: 6}}, []onnx.Dim{{Name: "N"}, {Size: 4}, {Size: 3}}
	for _, c := range []struct {
		name string
		dims []onnx.Dim
		make graph
		want string
	}{
		{"unknown", nil, func(b *onnx.Builder, x string) string { return b.Op("Loop", []string{x}) }, `node "Loop", operator "Loop": the operator is not taken; utvi import --help lists those that are`},
		{"recurrent", nil, func(b *onnx.Builder, x string) string {
			size := b.Op("Concat", []string{b.Ints(1), b.Op("Slice", []string{b.Op("Shape", []string{x}), b.Ints(0), b.Ints(1)})}, onnx.Int("axis", 0))
			return b.Op("LSTM", []string{x, w(b, 3, 3), b.Op("ConstantOfShape", []string{size})})
		}, `node "LSTM", operator "LSTM": its input has the dimensions [rows 3]; it must have times, rows and features`},
		{"fractions", nil, func(b *onnx.Builder, x string) string {
			return b.Op("Cast", []string{b.Op("Tanh", []string{x})}, onnx.Int("to", int(onnx.Int32)))
		}, "only comparisons can become whole numbers"},
		{"lines in a name", nil, func(b *onnx.Builder, x string) string { return b.Op("Lo\nop", []string{x}) }, `node "Lo\nop", operator "Lo\nop": the operator is not taken; utvi import --help lists those that are`},
		{"attention", nil, func(b *onnx.Builder, x string) string { return b.Op("MatMul", []string{x, x}) }, "the columns of the first must be the rows of the second"},
		{"domain", nil, func(b *onnx.Builder, x string) string { return b.ML("Scaler", []string{x}) }, `"ai.onnx.ml", which are not taken`},
		{"branch sizes", nil, func(b *onnx.Builder, x string) string {
			return b.Op("Add", []string{b.Op("MatMul", []string{x, w(b, 3, 4)}), b.Op("MatMul", []string{x, w(b, 3, 3)})})
		}, "its inputs have the dimensions [rows 4] and [rows 3]; each must be the same, or 1, which stands for all"},
		{"size", nil, func(b *onnx.Builder, x string) string { return b.Op("MatMul", []string{x, w(b, 4, 4)}) }, "its weights have the size [4 4]; a row of its input has [3]"},
		{"padding around", image, func(b *onnx.Builder, x string) string {
			return b.Op("Pad", []string{x, b.Ints(0, 0, 1, 1, 0, 0, 1, 1)}, onnx.Text("mode", "wrap"))
		}, `its mode is "wrap"; constant, edge and reflect are taken`},
		{"padding with several numbers", image, func(b *onnx.Builder, x string) string {
			return b.Op("Pad", []string{x, b.Ints(0, 0, 1, 1, 0, 0, 1, 1), b.Floats("k", []float32{1, 2}, 2)})
		}, "it surrounds its input with the numbers [1 2]; one number is taken"},
		{"repeated rows", nil, func(b *onnx.Builder, x string) string { return b.Op("Tile", []string{x, b.Ints(2, 1)}) }, "and 1 for the rows"},
		{"repeated often", nil, func(b *onnx.Builder, x string) string { return b.Op("Tile", []string{x, b.Ints(1, 1<<40)}) }, "a number of times must be ≥ 1"},
		{"repeated wrongly", nil, func(b *onnx.Builder, x string) string {
			return b.Op("Expand", []string{b.Op("Tanh", []string{x}), b.Ints(1, 6)})
		}, "it repeats the dimensions [rows 3] to [1 6]; only dimensions of 1 can be repeated, and not for the rows"},
		{"more channels", image, func(b *onnx.Builder, x string) string {
			return b.Op("Pad", []string{x, b.Ints(0, 1, 0, 0, 0, 0, 0, 0)})
		}, "only the height and the width can be padded"},
		{"two paddings", image, func(b *onnx.Builder, x string) string {
			return b.Op("AveragePool", []string{b.Op("Pad", []string{x, b.Ints(0, 0, 1, 1, 0, 0, 1, 1)})}, onnx.IntList("kernel_shape", 3, 3), onnx.IntList("pads", 1, 1, 1, 1))
		}, "some cells outside of the image count in its averages and some do not"},
		{"padding", image, func(b *onnx.Builder, x string) string {
			return b.Op("Conv", []string{x, w(b, 1, 2, 3, 3)}, onnx.IntList("pads", 3, 3, 3, 3))
		}, "it pads by [3 3] before and [3 3] after an image of [6 6]; a padding must be smaller than the window, [3 3]"},
		{"rows", image, func(b *onnx.Builder, x string) string { return b.Op("Reshape", []string{x, b.Ints(-1, 6)}) }, "the output has the dimensions [rows×12 6]; the rows must be a dimension of their own"},
		{"state from an input", series, func(b *onnx.Builder, x string) string {
			return b.Op("RNN", []string{b.Op("Transpose", []string{x}, onnx.IntList("perm", 1, 0, 2)), w(b, 1, 2, 3), w(b, 1, 2, 2), "", "", b.Op("ReduceMean", []string{x}, onnx.IntList("axes", 1))})
		}, "its state is an input, or its cell state Y_c is used; that is taken for 1 time in 1 direction, and it has 4 and 1"},
		{"cell state", series, func(b *onnx.Builder, x string) string {
			return b.Ops("LSTM", 3, []string{b.Op("Transpose", []string{x}, onnx.IntList("perm", 1, 0, 2)), w(b, 1, 8, 3), w(b, 1, 8, 2)})[2]
		}, "its state is an input, or its cell state Y_c is used; that is taken for 1 time in 1 direction, and it has 4 and 1"},
		{"gates", series, func(b *onnx.Builder, x string) string {
			return b.Op("GRU", []string{b.Op("Transpose", []string{x}, onnx.IntList("perm", 1, 0, 2)), w(b, 1, 8, 3), w(b, 1, 8, 2)})
		}, "its weights have the sizes [1 8 3] and [1 8 2]; 2 units of 3 features need [1 6 3] and [1 6 2]"},
		{"embedding", nil, func(b *onnx.Builder, x string) string { return b.Op("Gather", []string{w(b, 5, 2), x}) }, "as an embedding does; only elements by constant numbers are taken"},
		{"rows apart", nil, func(b *onnx.Builder, x string) string {
			return b.Op("Slice", []string{x, b.Ints(0), b.Ints(1), b.Ints(0)})
		}, "it takes rows apart: dimension 0 of [rows 3]"},
		{"rows together", nil, func(b *onnx.Builder, x string) string {
			return b.Op("ReduceMean", []string{x}, onnx.IntList("axes", 0))
		}, "it reduces over the rows of [rows 3]"},
		{"two tensors", nil, func(b *onnx.Builder, x string) string {
			return b.Op("Less", []string{b.Op("MatMul", []string{x, w(b, 3, 3)}), x})
		}, "sums, differences, products, quotients, minima and maxima of two tensors are taken"},
		{"rows that do not meet", nil, func(b *onnx.Builder, x string) string {
			return b.Op("Add", []string{b.Op("Transpose", []string{x}), b.Op("MatMul", []string{x, w(b, 3, 3)})})
		}, "its inputs have the dimensions [3 rows] and [rows 3]"},
		{"doubling", nil, func(b *onnx.Builder, x string) string {
			for range 60 {
				x = b.Op("Concat", []string{x, x}, onnx.Int("axis", 1))
			}
			return x
		}, "at most 16777216 numbers are allowed"},
		{"an outer product", nil, func(b *onnx.Builder, x string) string {
			for range 8 {
				y := b.Op("Tanh", []string{x})
				x = b.Op("Flatten", []string{b.Op("Mul", []string{b.Op("Unsqueeze", []string{x, b.Ints(1)}), b.Op("Unsqueeze", []string{y, b.Ints(2)})})})
			}
			return x
		}, "at most 16777216 numbers are allowed"},
		{"uneven concatenation", image, func(b *onnx.Builder, x string) string {
			return b.Op("Concat", []string{x, b.Op("MaxPool", []string{x}, onnx.IntList("kernel_shape", 2, 2))}, onnx.Int("axis", 1))
		}, "it lays tensors of the dimensions [rows 2 6 6] and [rows 2 5 5] behind each other along dimension 1; the others must be the same"},
		{"constant", nil, func(b *onnx.Builder, x string) string { return b.Float(3) }, "does not depend on the input"},
		{"order", nil, func(b *onnx.Builder, x string) string { return b.Op("Relu", []string{"later"}) }, `its input "later" is not computed before it`},
		{"no layers", nil, func(b *onnx.Builder, x string) string { return b.Op("Identity", []string{x}) }, "the graph has no layers"},
		{"open size", []onnx.Dim{{Name: "N"}, {Name: "features"}}, func(b *onnx.Builder, x string) string { return b.Op("Relu", []string{x}) }, "for rows of 3 × 32 × 32, set input to 3,32,32"},
		{"shared by many", []onnx.Dim{{Name: "N"}, {Size: 1000}}, func(b *onnx.Builder, x string) string {
			for w := w(b, 1000, 1000); len(b.Graph.Nodes) < 200; {
				x = b.Op("MatMul", []string{x, w})
			}
			return x
		}, "the layers up to here have 137000000 weights, but the file holds 1000000 numbers"},
		{"infinite", nil, func(b *onnx.Builder, x string) string {
			return b.Op("MatMul", []string{x, b.Floats("w", []float32{1, 2, float32(math.Inf(1))}, 3, 1)})
		}, "weights must be finite"},
	} {
		if c.dims == nil {
			c.dims = []onnx.Dim{{Name: "N"}, {Size: 3}}
		}
		b := onnx.NewBuilder("g")
		x := b.Input("x", onnx.Float, c.dims...)
		b.Reserve("y")
		b.Output("y", c.make(b, x), onnx.Float)
		_, err := network(b.Model(), nil, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Hostile graphs never panic and take no memory that the file does not have.
func FuzzNetwork(f *testing.F) {
	m, err := export.Network(fixed(f), export.Options{})
	if err != nil {
		f.Fatal(err)
	}
	seeds := []*onnx.Model{m}
	for _, op := range Operators() {
		b := onnx.NewBuilder("g")
		x := b.Input("x", onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 2}, onnx.Dim{Size: 4}, onnx.Dim{Size: 4})
		y := b.Op(op, []string{x, b.Floats("w", make([]float32, 4), 1, 1, 2, 2), b.Ints(1)}, onnx.IntList("kernel_shape", 2, 2), onnx.Int("axis", 1), onnx.IntList("axes", 1))
		b.Reserve("y")
		b.Output("y", y, onnx.Float)
		seeds = append(seeds, b.Model())
	}
	for _, m := range seeds {
		b, err := m.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := onnx.Unmarshal(b)
		if err != nil {
			return
		}
		for _, o := range []Options{{Output: "mean"}, {Random: true, Input: []int{2, 4, 4}}} {
			if _, err := network(m, nil, o); err != nil && strings.Contains(err.Error(), "\n") {
				t.Fatal(err)
			}
		}
	})
}

// The state of a recurrent layer may come with the rows as its second dimension, as PyTorch has it: told by
// the name of the rows, or where a graph is written for one row.
func TestStateWithRowsSecond(t *testing.T) {
	for _, rows := range []onnx.Dim{{Name: "N"}, {Size: 1}} {
		b := onnx.NewBuilder("g")
		x := b.Input("x", onnx.Float, rows, onnx.Dim{Size: 3})
		state := b.Input("state", onnx.Float, onnx.Dim{Size: 2}, rows, onnx.Dim{Size: 2})
		part := func(i int) string { return b.Op("Gather", []string{state, b.Ints(i)}) }
		flat := func(v string) string { return b.Op("Squeeze", []string{v, b.Ints(0)}) }
		b.Reserve("y")
		b.Output("y", b.Op("Concat", []string{flat(part(1)), x, flat(part(0))}, onnx.Int("axis", 1)), onnx.Float)
		n, err := network(b.Model(), nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := n.NewPredictor(2).Predict(gauss.Fixed(7, []float32{1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16, 17})).Mean
		want := []float32{6, 7, 1, 2, 3, 4, 5, 16, 17, 11, 12, 13, 14, 15}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
