package bayes

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/onnx"
	"utvi/internal/special"
	"utvi/model"
	"utvi/nn"
	"utvi/onnx/importer"
	"utvi/table"
)

// lines is a graph that is a straight line for each output, as trained elsewhere.
func lines(t *testing.T, slopes, offsets []float32, end string) *model.Model {
	return graph(t, func(b *onnx.Builder, x string) string {
		y := b.Op("Gemm", []string{x, b.Floats("w", slopes, 1, len(slopes)), b.Floats("b", offsets, len(offsets))})
		if end != "" {
			y = b.Op(end, []string{y})
		}
		return y
	})
}

// graph imports a graph of one input.
func graph(t *testing.T, body func(b *onnx.Builder, x string) string) *model.Model {
	t.Helper()
	b := onnx.NewBuilder("g")
	y := body(b, b.Input("x", onnx.Float, onnx.Dim{Name: "N"}, onnx.Dim{Size: 1}))
	b.Reserve("y")
	b.Output("y", y, onnx.Float)
	file, err := b.Model().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	n, err := importer.Parse(file, nil, importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// rows are drawn from y = 2x + 1 with noise 0.3, or from two classes.
func rows(n int, seed uint64, classes bool) data.Set {
	r := rand.New(rand.NewPCG(seed, 0))
	s := data.Set{X: gauss.New[float32](n, 1)}
	s.X.Var = nil
	for i := range n {
		x := r.NormFloat64()
		s.X.Mean[i] = float32(x)
		y := 2*x + 1 + 0.3*r.NormFloat64()
		if classes {
			y = 0
			if r.Float64() < special.Sigmoid(x) {
				y = 1
			}
		}
		s.Y = append(s.Y, float32(y))
	}
	return s
}

// A network that is nearly right keeps its accuracy, and learns the noise.
func TestNumbers(t *testing.T) {
	test := rows(2000, 2, false)
	r, err := Train(t.Context(), lines(t, []float32{2}, []float32{1}, ""), rows(400, 1, false), &test, Config{})
	if err != nil {
		t.Fatal(err)
	}
	b, a := r.Before[0], r.After[0]
	if a.RMSE.Value > 1.02*b.RMSE.Value {
		t.Errorf("the error grew from %v to %v", b.RMSE, a.RMSE)
	}
	if c := a.Intervals[1].Coverage; math.Abs(c-0.9) > 0.02 {
		t.Errorf("90 %% intervals cover %v", c)
	}
	if r.Trained != 400 || r.Held != 2000 {
		t.Errorf("%d and %d rows", r.Trained, r.Held)
	}
}

// A network of wrong confidence is corrected; the ends of classifiers are taken care of.
func TestClasses(t *testing.T) {
	for _, end := range []string{"", "Softmax", "LogSoftmax"} {
		r, err := Train(t.Context(), lines(t, []float32{0, 3}, []float32{0, 0}, end), rows(1500, 3, true), nil, Config{Epochs: 20, Scale: 1})
		if err != nil {
			t.Fatal(err)
		}
		b, a := r.ClassesBefore, r.ClassesAfter
		if a.Accuracy.Value < b.Accuracy.Value-0.02 || a.LL.Value < b.LL.Value+0.1 || a.ECE > b.ECE/2 {
			t.Errorf("%q: accuracy %v to %v, log-likelihood %v to %v, calibration error %v to %v", end, b.Accuracy, a.Accuracy, b.LL, a.LL, b.ECE, a.ECE)
		}
	}
}

// Targets in different units have noise of their own from the start: an error bar of one
// that begins at the size of another never arrives.
func TestUnits(t *testing.T) {
	units := []float32{1e-3, 1, 1e3}
	scaled := func(n int, seed uint64) data.Set {
		s := rows(n, seed, false)
		y := s.Y
		s.Y, s.Targets = nil, len(units)
		for _, v := range y {
			for _, u := range units {
				s.Y = append(s.Y, u*v)
			}
		}
		return s
	}
	net := graph(t, func(b *onnx.Builder, x string) string {
		y := b.Op("Gemm", []string{x, b.Floats("w", []float32{2, 2, 2}, 1, 3), b.Floats("b", []float32{1, 1, 1}, 3)})
		return b.Op("Mul", []string{y, b.Floats("units", units, 3)})
	})

	test := scaled(500, 2)
	r, err := Train(t.Context(), net, scaled(200, 1), &test, Config{Epochs: 20})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range r.After {
		if c := a.Intervals[1].Coverage; math.Abs(c-0.9) > 0.06 {
			t.Errorf("target %d: 90 %% intervals cover %v", i, c)
		}
	}
}

// A softmax in the middle of a network is no end of a classifier.
func TestInnerSoftmax(t *testing.T) {
	net := graph(t, func(b *onnx.Builder, x string) string {
		y := b.Op("Softmax", []string{b.Op("MatMul", []string{x, b.Floats("w", []float32{1, -1}, 1, 2)})})
		return b.Op("MatMul", []string{y, b.Floats("v", []float32{6, -4}, 2, 1)})
	})

	r, err := Train(t.Context(), net, rows(100, 1, false), nil, Config{Epochs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.After) != 1 {
		t.Errorf("its numbers are classes: %v", r.ClassesAfter)
	}
	if _, err := Train(t.Context(), net, rows(100, 1, false), nil, Config{Epochs: 2, Correlated: true}); err == nil {
		t.Error("correlations that were asked for are left out")
	}
}

// Networks with many outputs carry correlations if they are asked for.
func TestCorrelated(t *testing.T) {
	many := make([]float32, mostFollowed+1)
	for i := range many {
		many[i] = 1
	}
	set := rows(40, 1, true)
	for _, asked := range []bool{false, true} {
		r, err := Train(t.Context(), lines(t, many, many, ""), set, nil, Config{Epochs: 1, Correlated: asked})
		if err != nil {
			t.Fatal(err)
		}
		if got := nn.Any(r.Net.Config.Layers, func(l nn.Layer) bool { _, ok := l.(nn.Correlated); return ok }); got != asked {
			t.Errorf("asked for %v: %v", asked, got)
		}
	}
}

func TestTableRefusals(t *testing.T) {
	for _, c := range []struct {
		text    string
		targets []string
		want    string
	}{
		{"a,y\n1,2\n3,4\n", []string{"y", "y"}, `the target column "y" is named twice`},
		{"a,y\n1,2\n3e39,4\n", []string{"y"}, `a.csv line 3: the column "a" holds 3e+39; a network takes numbers up to 3.4e38`},
	} {
		s, err := table.NewReader(strings.NewReader(c.text), "a.csv", table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := FromTable(s, c.targets); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	line := lines(t, []float32{2}, []float32{1}, "")
	wide := rows(10, 1, false)
	wide.X.Width = 2
	wide.X.Rows = 5
	wide.Y = wide.Y[:5]
	two := rows(10, 1, false)
	two.Targets, two.Y = 2, append(two.Y, two.Y...)
	classes := lines(t, []float32{2, 1}, []float32{1, 1}, "")
	for _, c := range []struct {
		net  *model.Model
		rows data.Set
		c    Config
		want string
	}{
		{line, wide, Config{}, "the rows have 2 inputs; the network needs 1"},
		{line, two, Config{}, "the rows have 2 targets; the network has 1 outputs"},
		{classes, rows(10, 1, false), Config{}, "the class of row 1 is"},
		{line, rows(10, 1, false), Config{Epochs: -1}, "-1 epochs"},
		{line, rows(10, 1, false), Config{Last: -1}, "the last -1 layers are asked for"},
		{line, rows(10, 1, false), Config{Held: 1}, "it must be a share between 0 and 1"},
		{line, rows(1, 1, false), Config{}, "1 rows; at least a few are needed"},
	} {
		if _, err := Train(t.Context(), c.net, c.rows, nil, c.c); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
