package predict_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"utvi/dist"
	"utvi/fit"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/delimited"
	"utvi/internal/demo"
	"utvi/internal/predictions"
	"utvi/internal/tabular"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/predict"
	"utvi/table"
)

// frame reads the tutorial's table.
func frame(n int, seed uint64) *table.Frame {
	var b bytes.Buffer
	if err := demo.Table(&b, n, seed, false); err != nil {
		panic(err)
	}
	r, err := table.NewReader(&b, "resin.csv", table.Options{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	f, err := table.Load(r)
	if err != nil {
		panic(err)
	}
	return f
}

var quick = tabular.Config{Ensemble: 1, KL: 0.3, Activation: "leaky-relu", Depth: 2, Width: 50, Steps: 60, Batch: 64}

// loaded reads a table's text.
func loaded(t testing.TB, text string) *table.Frame {
	t.Helper()
	r, err := table.NewReader(strings.NewReader(text), "a.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := table.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func fitted(target string, members int) *fit.Model {
	quick := quick
	quick.Ensemble = members
	if target == "strength" {
		quick.Noise = tabular.Heteroscedastic
	}
	r, err := fit.Run(context.Background(), frame(300, 1), fit.Config{Targets: []string{target}, Network: quick}, fit.Options{})
	if err != nil {
		panic(err)
	}
	return r.Model
}

var (
	strength = sync.OnceValue(func() *fit.Model { return fitted("strength", 5) })
	resin    = sync.OnceValue(func() *fit.Model { return fitted("resin", 2) })
)

// fittedTo is a small model of the column y of a table's text.
func fittedTo(t testing.TB, text, noise string) *fit.Model {
	t.Helper()
	quick := quick
	quick.Noise = noise
	r, err := fit.Run(t.Context(), loaded(t, text), fit.Config{Targets: []string{"y"}, Network: quick}, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Model
}

// opened is a model by way of its file.
func opened(t testing.TB, m *fit.Model) *predict.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.utvi")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := predict.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func predictor(t testing.TB, m *predict.Model, o predict.Options) *predict.Predictor {
	t.Helper()
	p, err := m.NewPredictor(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// named returns rows of a table as named values: numbers as numbers, others as text.
func named(t testing.TB, f *table.Frame) (rows []map[string]any) {
	t.Helper()
	src := f.Rows(nil)
	for {
		c, err := src.Next()
		if err != nil {
			return rows
		}
		for row := range c.Rows() {
			m := map[string]any{}
			for col, name := range f.Header().Columns {
				switch k, v := c.Cell(row, col); k {
				case table.Number:
					m[name] = v
				case table.Text:
					m[name] = c.Text(row, col)
				default:
					m[name] = nil
				}
			}
			rows = append(rows, m)
		}
	}
}

// Rows of named values have the bits of the table's lines, whatever they are predicted
// with, calibrated or not.
func TestRowsAreTheTable(t *testing.T) {
	calibrated := *strength()
	if _, err := calibrated.Calibrate(t.Context(), frame(200, 3).Rows(nil), []fit.Method{fit.Scale, fit.Isotonic}, nil); err != nil {
		t.Fatal(err)
	}
	const n = 5000 // more than a chunk
	f := frame(n, 2)
	rows := named(t, f)
	for name, m := range map[string]*fit.Model{"numbers": strength(), "classes": resin(), "calibrated": &calibrated} {
		o := predict.Options{Interval: 0.8, MaxOOD: 0.9}
		p := predictor(t, opened(t, m), o)
		var want bytes.Buffer
		if _, err := predictions.Write(t.Context(), p, f.Rows(nil), &want, predictions.Output{Parts: true}, nil); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(want.String()), "\n")[1:]
		all, err := p.Rows(t.Context(), rows)
		if err != nil || len(all) != n || len(lines) != n {
			t.Fatalf("%s: %d predictions of %d lines: %v", name, len(all), len(lines), err)
		}
		for i := range rows {
			if got := line(all[i]); got != lines[i] {
				t.Fatalf("%s, row %d:\n%s, want\n%s", name, i, got, lines[i])
			}
			if i%500 == 0 {
				one, err := p.Row(t.Context(), rows[i])
				if err != nil || line(one) != lines[i] {
					t.Errorf("%s: row %d alone is %s, want %s (%v)", name, i, line(one), lines[i], err)
				}
			}
		}
	}
}

// line writes a prediction as the command does.
func line(p predict.Prediction) string {
	out := &delimited.Lines{}
	if p.Class != nil {
		out.Text(p.Class.Class)
		for _, x := range p.Class.Probabilities {
			out.Float(x)
		}
		out.Float(p.Class.Entropy)
	}
	for _, n := range p.Numbers {
		for _, x := range []float64{n.Mean, n.Std, n.Lo, n.Hi, n.Variance.Weights, n.Variance.Inputs, n.Variance.Noise} {
			out.Float(x)
		}
	}
	out.Float(p.OOD)
	mark := 0
	if p.Abstain {
		mark = 1
	}
	out.Int(mark)
	var b strings.Builder
	out.Flush(&b)
	return b.String()
}

// What a prediction says of itself agrees.
func TestPrediction(t *testing.T) {
	p := predictor(t, opened(t, strength()), predict.Options{Interval: 0.5, Quantiles: []float64{0.25, 0.5, 0.75}})
	all, err := p.Rows(t.Context(), named(t, frame(20, 5)))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		n := x.Numbers[0]
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-5*n.Std }
		sum := n.Variance.Weights + n.Variance.Inputs + n.Variance.Noise
		if !near(n.Dist.Mean(), n.Mean) || !near(n.Dist.SD(), n.Std) || !near(math.Sqrt(sum), n.Std) || n.Target != "strength" || x.Class != nil ||
			!near(n.Quantiles[0], n.Lo) || !near(n.Quantiles[2], n.Hi) || !near(n.Dist.CDF(n.Quantiles[1]), 0.5) || !(x.OOD > 0) {
			t.Errorf("%+v", x)
		}
	}
	bound := all[7].OOD
	for _, o := range []predict.Options{{MaxOOD: bound}, {MaxStd: all[7].Numbers[0].Std}} {
		again, err := predictor(t, p.Model(), o).Rows(t.Context(), named(t, frame(20, 5)))
		if err != nil {
			t.Fatal(err)
		}
		beyond := 0
		for _, x := range again {
			want := o.MaxOOD > 0 && x.OOD > bound || o.MaxStd > 0 && x.Numbers[0].Std > o.MaxStd
			beyond += one(want)
			if x.Abstain != want {
				t.Errorf("%+v: %+v abstains: %v", o, x, x.Abstain)
			}
		}
		if beyond == 0 || beyond == len(again) {
			t.Errorf("%+v: %d of %d rows are beyond the bounds", o, beyond, len(again))
		}
	}
	if d := all[0].Numbers[0].Dist; d.Mean() == all[1].Numbers[0].Dist.Mean() {
		t.Error("rows share a distribution")
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestValues(t *testing.T) {
	p := predictor(t, opened(t, strength()), predict.Options{})
	base := map[string]any{"temperature": 140.0, "temperature_std": 1.0, "minutes": 30.0, "resin": "birch"}
	want, err := p.Row(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	type celsius float32
	thirty := 30
	for name, change := range map[string]map[string]any{
		"whole":            {"minutes": 30, "temperature_std": uint8(1), "temperature": int64(140)},
		"text":             {"minutes": " 30 ", "temperature": "1.4e2"},
		"JSON":             {"minutes": json.Number("30.0")},
		"own type":         {"temperature": celsius(140)},
		"pointer":          {"minutes": &thirty},
		"more":             {"strength": 7.0}, // the target, which nobody needs
		"missing strength": {"strength": nil},
	} {
		row := map[string]any{}
		for k, v := range base {
			row[k] = v
		}
		for k, v := range change {
			row[k] = v
		}
		got, err := p.Row(t.Context(), row)
		if err != nil || got.Numbers[0].Mean != want.Numbers[0].Mean {
			t.Errorf("%s: %v (%v), want %v", name, got, err, want)
		}
	}
	numbers, err := p.Numbers(t.Context(), [][]float64{{140, 1, 30, 7}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.Row(t.Context(), map[string]any{"temperature": 140, "temperature_std": 1, "minutes": 30, "resin": "unheard of"})
	if err != nil || numbers[0].Numbers[0].Mean != other.Numbers[0].Mean {
		t.Errorf("a number and a name that are no resin are %v and %v (%v)", numbers[0].Numbers[0].Mean, other.Numbers[0].Mean, err)
	}
	day := map[string]any{"temperature": 140, "temperature_std": 1, "minutes": 30, "resin": time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}
	if got, err := p.Row(t.Context(), day); err != nil || got.Numbers[0].Mean != other.Numbers[0].Mean {
		t.Errorf("a date is %v (%v)", got, err)
	}
}

// Whatever a caller can get wrong is an error of one sentence.
func TestRefuses(t *testing.T) {
	m := opened(t, strength())
	p := predictor(t, m, predict.Options{})
	good := func(change string, v any) map[string]any {
		row := map[string]any{"temperature": 140, "temperature_std": 1, "minutes": 30, "resin": "birch"}
		row[change] = v
		if change == "" {
			delete(row, "")
		}
		return row
	}
	lacking := good("", nil)
	delete(lacking, "minutes")
	for want, row := range map[string]map[string]any{
		"row 2 lacks the column minutes; the model needs temperature, temperature_std, minutes, resin": lacking,
		`row 2 has an unknown column "minuets"`:                                                        good("minuets", 3),
		`row 2, column minutes: "long" is text; a number is needed`:                                    good("minutes", "long"),
		"row 2, column minutes: +Inf is not a finite number":                                           good("minutes", math.Inf(1)),
		"row 2, column minutes: the value is missing":                                                  good("minutes", nil),
		"row 2, column temperature_std: the standard deviation is -1":                                  good("temperature_std", -1),
		"row 2, column minutes: the value is of type []int; a value must be":                           good("minutes", []int{3}),
		`row 2, column resin: "\xff" is not text in UTF-8`:                                             good("resin", "\xff"),
	} {
		_, err := p.Rows(t.Context(), []map[string]any{good("", nil), row})
		wantError(t, err, want)
	}
	_, err := p.Numbers(t.Context(), [][]float64{{1, 2}})
	wantError(t, err, "row 1 has 2 numbers; the model needs 4: temperature, temperature_std, minutes, resin")
	x := gauss.New[float32](2, m.Inputs())
	for want, spoil := range map[string]func(x *gauss.Batch[float32]){
		"row 2, input 1: the variance is -1":         func(x *gauss.Batch[float32]) { x.Var[m.Inputs()] = -1 },
		"row 1, input 2: NaN is not a finite number": func(x *gauss.Batch[float32]) { x.Mean[1] = float32(math.NaN()) },
		"a row has 3 numbers; the network has":       func(x *gauss.Batch[float32]) { *x = gauss.New[float32](1, 3) },
		"do not hold":                                func(x *gauss.Batch[float32]) { x.Rows = 3 },
	} {
		bad := gauss.New[float32](2, m.Inputs())
		spoil(&bad)
		_, err := p.Inputs(t.Context(), bad)
		wantError(t, err, want)
	}
	if _, err := p.Inputs(t.Context(), x); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Row(ended, good("", nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end the context gives %v", err)
	}
	for want, o := range map[string]predict.Options{
		"the level of the intervals is 1":           {Interval: 1},
		"the level of a quantile is 1.5":            {Quantiles: []float64{1.5}},
		"bound the standard deviation instead":      {MinProbability: 0.5},
		"the bound of the standard deviation is -1": {MaxStd: -1},
	} {
		_, err := m.NewPredictor(o)
		wantError(t, err, want)
	}
	_, err = opened(t, resin()).NewPredictor(predict.Options{MaxStd: 1})
	wantError(t, err, "the model predicts classes, which have no standard deviation")
	_, err = opened(t, resin()).NewPredictor(predict.Options{Quantiles: []float64{0.5}})
	wantError(t, err, "the model predicts classes, which have no quantiles")
	many := make([]map[string]any, 4500) // more than a chunk
	for i := range many {
		many[i] = good("", nil)
	}
	many[4321] = good("minutes", "long")
	_, err = p.Rows(t.Context(), many)
	wantError(t, err, "row 4322, column minutes")
	_, err = predict.Open(strings.NewReader("x,y\n1,2\n"), 8)
	wantError(t, err, "cannot read the model")
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want %q", err, want)
	}
}

// Missing values go where the training put them.
func TestImpute(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,z,y\n")
	for i := range 100 {
		x := fmt.Sprint(i % 10)
		if i%7 == 0 {
			x = ""
		}
		fmt.Fprintf(&b, "%s,%d,%d\n", x, i%13, i%10)
	}
	r, err := table.NewReader(strings.NewReader(b.String()), "t.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := table.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	quick := tabular.Config{Ensemble: 1, Noise: tabular.Embedded, KL: 0.3, Activation: "leaky-relu", Depth: 1, Width: 8, Steps: 30}
	fit, err := fit.Run(t.Context(), f, fit.Config{Targets: []string{"y"}, Impute: true, Network: quick}, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := predictor(t, opened(t, fit.Model), predict.Options{})
	// A network that embeds the noise in its weights has no number for it.
	if rows, sum := written(t, p, "x,z\n4,3\n", predictions.Output{Parts: true}); rows[0]["y_var_noise"] != "" || rows[0]["y_var_weights"] == "" || !sum.NoiseInWeights {
		t.Errorf("%+v, %+v", rows, sum)
	}
	all, err := p.Rows(t.Context(), []map[string]any{{"x": nil, "z": 3}, {"z": 3}, {"x": "NA", "z": "3"}, {"x": math.NaN(), "z": 3}, {"x": 4, "z": 3}})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range all[1:4] {
		if x.Numbers[0].Mean != all[0].Numbers[0].Mean {
			t.Errorf("way %d to say missing: %v, want %v", i, x.Numbers[0].Mean, all[0].Numbers[0].Mean)
		}
	}
	if all[4].Numbers[0].Mean == all[0].Numbers[0].Mean {
		t.Error("a value is predicted as if it were missing")
	}
}

// A network's likelihood says what its outputs mean.
func TestNetworks(t *testing.T) {
	network := func(l likelihood.Likelihood, layers ...nn.Layer) *predict.Model {
		n, err := model.New(model.Config{Input: nn.Vec(3), Layers: layers, Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		n.Likelihood = l
		path := filepath.Join(t.TempDir(), "n.safetensors")
		if err := n.Save(path); err != nil {
			t.Fatal(err)
		}
		m, err := predict.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	rows := [][]float64{{0.5, -1, 2}, {1, 1, 1}}
	m := network(likelihood.Heteroscedastic{}, nn.Dense{Out: 4})
	if !reflect.DeepEqual(m.Targets(), []string{"y1", "y2"}) || m.Classes() != nil {
		t.Fatalf("targets %v, classes %v", m.Targets(), m.Classes())
	}
	all, err := predictor(t, m, predict.Options{}).Numbers(t.Context(), rows)
	if err != nil || len(all) != 2 || len(all[1].Numbers) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, n := range all[1].Numbers {
		if !(n.Variance.Noise > 0 && n.Variance.Weights > 0 && n.Lo < n.Mean && n.Mean < n.Hi) || math.Abs(n.Dist.Mean()-n.Mean) > 1e-6 {
			t.Errorf("%+v", n)
		}
	}
	if !math.IsNaN(all[0].OOD) {
		t.Errorf("a network knows the ood of a row: %v", all[0].OOD)
	}
	m = network(likelihood.Categorical{}, nn.Dense{Out: 3}, nn.Joint{Map: fn.Softmax()})
	all, err = predictor(t, m, predict.Options{MinProbability: 0.99}).Numbers(t.Context(), rows)
	if err != nil || all[0].Class == nil || len(all[0].Class.Probabilities) != 3 || !all[0].Abstain || all[0].Class.Class != m.Classes()[all[0].Class.Probabilities.Argmax()] {
		t.Fatalf("%+v, %v", all, err)
	}
	if text, err := json.Marshal(answer(all[0])); err != nil || !strings.Contains(string(text), `"probabilities":[`) {
		t.Errorf("the example's server says %s (%v)", text, err)
	}
	m = network(nil, nn.Dense{Out: 1, Fixed: true}) // which varies in nothing
	all, err = predictor(t, m, predict.Options{}).Numbers(t.Context(), rows)
	if err != nil || all[0].Numbers[0].Target != "y" || all[0].Numbers[0].Std != 0 || all[0].Numbers[0].Variance != (predict.Parts{}) {
		t.Errorf("%+v, %v", all, err)
	}
	var _ dist.Dist = all[0].Numbers[0].Dist
	_, err = predictor(t, m, predict.Options{}).Row(t.Context(), map[string]any{"x": 1})
	wantError(t, err, "the model is a network without named columns; give it 3 numbers a row")
	_, err = predictor(t, m, predict.Options{}).Numbers(t.Context(), [][]float64{{1}})
	wantError(t, err, "row 1 has 1 numbers; the network has 3 inputs")
	_, err = m.NewPredictor(predict.Options{MaxOOD: 1})
	wantError(t, err, "only a tabular model can say how unlike them a row is")
}

// Many goroutines share a model: same bits, with the race detector too.
func TestConcurrent(t *testing.T) {
	p := predictor(t, opened(t, strength()), predict.Options{})
	rows := named(t, frame(70, 9)) // both sizes of sessions
	want, err := p.Rows(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for k := range 20 {
				i := (g*20 + k) % len(rows)
				one, err := p.Row(context.Background(), rows[i])
				if err != nil || line(one) != line(want[i]) {
					t.Errorf("row %d: %v, %v", i, one, err)
					return
				}
				if k%10 == 0 {
					all, err := p.Rows(context.Background(), rows)
					if err != nil || line(all[3]) != line(want[3]) {
						t.Errorf("%v, %v", all[3], err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// A row on its own needs little memory: no session is made, no block of a table.
func TestRowIsLean(t *testing.T) {
	p := predictor(t, opened(t, strength()), predict.Options{})
	row := named(t, frame(1, 9))[0]
	predictOne := func() {
		if _, err := p.Row(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	predictOne()
	const n = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		predictOne()
	}
	runtime.ReadMemStats(&after)
	bytes, pieces := (after.TotalAlloc-before.TotalAlloc)/n, (after.Mallocs-before.Mallocs)/n
	if bytes > 4000 || pieces > 40 {
		t.Errorf("a row takes %d bytes in %d pieces", bytes, pieces)
	}
}

// One row at a time, of a model of five networks.
func BenchmarkRow(b *testing.B) {
	p := predictor(b, opened(b, strength()), predict.Options{})
	row := named(b, frame(1, 9))[0]
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := p.Row(context.Background(), row); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// The same row as a table of one line, as it was predicted before there were rows.
func BenchmarkRowAsTable(b *testing.B) {
	p := predictor(b, opened(b, strength()), predict.Options{})
	var text bytes.Buffer
	if err := demo.Table(&text, 1, 9, false); err != nil {
		b.Fatal(err)
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, err := table.NewReader(strings.NewReader(text.String()), "row.csv", table.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := predictions.Write(context.Background(), p, r, &bytes.Buffer{}, predictions.Output{Parts: true}, nil); err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
