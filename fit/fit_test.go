package fit

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/demo"
	"utvi/internal/predictions"
	"utvi/internal/tabular"
	"utvi/predict"
	"utvi/table"
)

// quick is a network that is trained in no time.
var quick = tabular.Config{Ensemble: 2, Noise: tabular.Learned, KL: 0.3, Activation: "leaky-relu", Depth: 1, Width: 16, Steps: 200, Batch: 64}

func read(t *testing.T, text string) *table.Frame {
	t.Helper()
	r, err := table.NewReader(strings.NewReader(text), "t.csv", table.Options{})
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

func example(t *testing.T, n int, seed uint64) string {
	t.Helper()
	var b bytes.Buffer
	if err := demo.Table(&b, n, seed, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var resin = sync.OnceValues(func() (*Result, error) {
	var b bytes.Buffer
	demo.Table(&b, 400, 1, false)
	r, err := table.NewReader(&b, "resin.csv", table.Options{})
	if err != nil {
		return nil, err
	}
	f, err := table.Load(r)
	if err != nil {
		return nil, err
	}
	return Run(context.Background(), f, Config{Targets: []string{"strength"}, Network: quick}, Options{})
})

// fitted is a model of the example's table, of its own for every caller.
func fitted(t *testing.T) *Model {
	t.Helper()
	r, err := resin()
	if err != nil {
		t.Fatal(err)
	}
	m := *r.Model
	return &m
}

// written returns what is written for a table, by column.
func written(t *testing.T, m *Model, text string, o predict.Options, workers int) (map[string][]float64, string) {
	t.Helper()
	var b bytes.Buffer
	pool := compute.NewPool(workers)
	defer pool.Close()
	p, err := m.NewPredictor(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := predictions.Write(t.Context(), p, read(t, text).Rows(nil), &b, predictions.Output{Parts: true}, pool); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]float64{}
	for _, row := range rows[1:] {
		for j, s := range row {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				v = math.NaN()
			}
			all[rows[0][j]] = append(all[rows[0][j]], v)
		}
	}
	return all, b.String()
}

func TestThereAndBack(t *testing.T) {
	m := fitted(t)
	path := filepath.Join(t.TempDir(), "m.utvi")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	text := example(t, 300, 2)
	_, want := written(t, m, text, predict.Options{}, 1)
	if _, got := written(t, back, text, predict.Options{}, 3); got != want {
		t.Error("a model that was saved and loaded predicts something else")
	}
	was, _ := json.Marshal(m.Facts)
	if is, _ := json.Marshal(back.Facts); !bytes.Equal(is, was) {
		t.Errorf("facts\n%s\nwant\n%s", is, was)
	}
	// Columns are found by name: turned round, with one more, without the target.
	var turned strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Split(line, ",")
		slices.Reverse(f)
		f[0] = []string{"extra", "7"}[min(i, 1)]
		turned.WriteString(strings.Join(f, ",") + "\n")
	}
	if _, got := written(t, back, turned.String(), predict.Options{}, 2); got != want {
		t.Error("columns in another order are predicted otherwise")
	}
}

// What is written agrees with the distributions.
func TestPredictions(t *testing.T) {
	m := fitted(t)
	text := example(t, 100, 3)
	for _, k := range []int{1, 2} {
		net := *m.Net
		members := *m.Net.Members
		members.Members = members.Members[:k]
		net.Members = &members
		inner, err := predict.New(&net, m.Schema, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := written(t, &Model{Model: inner}, text, predict.Options{Interval: 0.8, MaxStd: 1.5}, 1)
		p, err := inner.NewPredictor(predict.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x, err := inner.ReadInputs(read(t, text).Rows(nil), 0)
		if err != nil {
			t.Fatal(err)
		}
		all, err := p.Inputs(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		for row, one := range all {
			d := one.Numbers[0].Dist
			want := map[string]float64{"strength_mean": d.Mean(), "strength_std": d.SD(), "strength_lo": d.Quantile(0.1), "strength_hi": d.Quantile(0.9)}
			for name, v := range want {
				if math.Abs(got[name][row]-v) > 1e-4 {
					t.Fatalf("%d members, row %d: %s is %g, want %g", k, row, name, got[name][row], v)
				}
			}
			sum := got["strength_var_weights"][row] + got["strength_var_inputs"][row] + got["strength_var_noise"][row]
			if sd := got["strength_std"][row]; math.Abs(sum/(sd*sd)-1) > 1e-4 {
				t.Fatalf("row %d: the parts of the variance sum to %g, std² is %g", row, sum, sd*sd)
			}
			if abstain := got["abstain"][row] == 1; abstain != (got["strength_std"][row] > 1.5) {
				t.Fatalf("row %d: std %g, abstain %v", row, got["strength_std"][row], abstain)
			}
		}
	}
}

// The scores are those of what predict writes.
func TestEvaluation(t *testing.T) {
	m := fitted(t)
	text := example(t, 5000, 4) // more than a chunk
	got, _ := written(t, m, text, predict.Options{}, 2)
	pool := compute.NewPool(2)
	defer pool.Close()
	e, err := m.Evaluate(t.Context(), read(t, text).Rows(nil), pool)
	if err != nil {
		t.Fatal(err)
	}
	var squares, inside float64
	rows, _ := csv.NewReader(strings.NewReader(text)).ReadAll()
	for i, r := range rows[1:] {
		y, _ := strconv.ParseFloat(r[4], 64)
		d := y - got["strength_mean"][i]
		squares += d * d
		if y >= got["strength_lo"][i] && y <= got["strength_hi"][i] {
			inside++
		}
	}
	s := e.Targets[0].Numbers
	if n := len(e.Targets[0].Sample); n < 100 || n > 5000 {
		t.Errorf("a sample of %d of 5000 rows is kept for figures", n)
	}
	widths := 0
	for _, l := range e.Scores()[0].List() {
		if strings.HasSuffix(l.Name, " intervals, width") {
			widths++
		}
	}
	if widths != len(s.Intervals) || widths == 0 {
		t.Errorf("%d of %d intervals have a width", widths, len(s.Intervals))
	}
	if want := math.Sqrt(squares / 5000); s.Rows != 5000 || math.Abs(s.RMSE.Value/want-1) > 1e-5 {
		t.Errorf("RMSE %g of %d rows, want %g", s.RMSE.Value, s.Rows, want)
	}
	if math.Abs(s.Intervals[1].Coverage-inside/5000) > 1e-3 {
		t.Errorf("coverage %g, want %g", s.Intervals[1].Coverage, inside/5000)
	}
	one := compute.NewPool(1)
	defer one.Close()
	again, err := m.Evaluate(t.Context(), read(t, text).Rows(nil), one)
	if err != nil || again.Targets[0].Numbers.LL != s.LL {
		t.Errorf("with one worker the log-likelihood is %v, with two %v (%v)", again.Targets[0].Numbers.LL, s.LL, err)
	}
}

// A network that is far too sure is put right on rows it has not seen; what is stored
// comes back, and can be taken out.
func TestCalibrate(t *testing.T) {
	m := fitted(t)
	net := *m.Net
	net.Residuals = []tabular.ResidualMixture{{W: []float64{1}, R: []float64{0.25}}} // half the width
	inner, err := predict.New(&net, m.Schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.Model = inner
	pool := compute.NewPool(2)
	defer pool.Close()
	e, err := m.Evaluate(t.Context(), read(t, example(t, 600, 6)).Rows(nil), pool)
	if err != nil || !slices.ContainsFunc(e.Notes, func(s string) bool { return strings.Contains(s, "which chance does not explain") }) {
		t.Errorf("nothing is said of intervals that are too narrow: %v, %v", e, err)
	}
	for _, methods := range [][]Method{{Scale}, {Isotonic}, {Conformal}, {Asymmetric}, {Scale, Isotonic, Conformal}} {
		c, err := m.Calibrate(t.Context(), read(t, example(t, 600, 5)).Rows(nil), methods, pool)
		if err != nil {
			t.Fatal(err)
		}
		if b := c.Before[0].Numbers.Intervals[1].Coverage; b > 0.75 {
			t.Errorf("%v: %g covered before", methods, b)
		}
		if a := c.After[0].Numbers.Intervals[1].Coverage; math.Abs(a-0.9) > 0.06 {
			t.Errorf("%v: %g covered after", methods, a)
		}
		path := filepath.Join(t.TempDir(), "m.utvi")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		back, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		e, err := back.Evaluate(t.Context(), read(t, example(t, 600, 6)).Rows(nil), pool)
		if err != nil {
			t.Fatal(err)
		}
		if a := e.Targets[0].Numbers.Intervals[1].Coverage; math.Abs(a-0.9) > 0.06 || !e.Calibrated {
			t.Errorf("%v: %g of fresh rows covered", methods, a)
		}
		got, _ := written(t, back, example(t, 50, 7), predict.Options{}, 1)
		for i, sd := range got["strength_std"] {
			sum := got["strength_var_weights"][i] + got["strength_var_inputs"][i] + got["strength_var_noise"][i]
			if math.Abs(sum/(sd*sd)-1) > 1e-4 {
				t.Fatalf("%v: the parts of the variance sum to %g, std² is %g", methods, sum, sd*sd)
			}
		}
	}
	if _, err := m.Calibrate(t.Context(), read(t, example(t, 600, 5)).Rows(nil), nil, pool); err == nil || !strings.Contains(err.Error(), "no calibration method is given") {
		t.Errorf("without a method: %v", err)
	}
	if _, err := m.Calibrate(t.Context(), read(t, example(t, 600, 5)).Rows(nil), []Method{Temperature}, pool); err == nil {
		t.Error("a temperature for numbers was accepted")
	}
	if _, err := m.Calibrate(t.Context(), read(t, example(t, 5, 5)).Rows(nil), []Method{Scale}, pool); err == nil {
		t.Error("5 rows were enough")
	}
}

// Columns that mean nothing matter least; curves follow the story.
func TestInsight(t *testing.T) {
	r, err := resin()
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range r.Evaluation.Notes {
		if strings.Contains(note, "was stopped") {
			t.Errorf("nobody stopped the fit: %s", note)
		}
	}
	order := r.Insight.Importance
	if len(order) != 3 || !(order[0].Loss > order[2].Loss) || !(order[2].Loss > 0.05) {
		t.Errorf("importance %v", order)
	}
	for _, d := range r.Insight.Dependence {
		c := d.Targets[0]
		if len(c.Mean) != len(d.Values) || len(c.Lo) != len(d.Values) || len(c.Hi) != len(d.Values) {
			t.Fatalf("%s: %d values, %d means", d.Column.Name, len(d.Values), len(c.Mean))
		}
		switch d.Column.Name {
		case "resin":
			at := func(level string) float64 { return c.Mean[slices.Index(d.Column.Levels, level)] }
			if !(at("birch") > at("amber") && at("amber") > at("cedar")) {
				t.Errorf("resins %v: %.3g", d.Column.Levels, c.Mean)
			}
		case "minutes":
			if !(c.Mean[0]+5 < c.Mean[30]) {
				t.Errorf("minutes: %.3g", c.Mean)
			}
		}
	}
}

func TestClasses(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,noise,kind\n")
	for i := range 300 {
		x := float64(i%100)/50 - 1
		fmt.Fprintf(&b, "%g,%d,%s\n", x, i*7%13, []string{"low", "high"}[min(1, max(0, i%100/50))])
	}
	c := quick
	c.Noise = ""
	r, err := Run(t.Context(), read(t, b.String()), Config{Targets: []string{"kind"}, Network: c}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Evaluation.Targets[0]
	if s.Classes.Accuracy.Value < 0.9 || r.Insight.Importance[0].Column != "x" {
		t.Errorf("accuracy %v, importance %v", s.Classes.Accuracy, r.Insight.Importance)
	}
	got, text := written(t, r.Model, "x,noise\n-0.9,1\n0.9,2\n0.01,3\n", predict.Options{MinProbability: 0.95}, 1)
	if head, _, _ := strings.Cut(text, "\n"); head != "kind,p_high,p_low,entropy,ood,abstain" {
		t.Errorf("the header is %s", head)
	}
	if !(got["p_low"][0] > 0.9 && got["p_high"][1] > 0.9) || fmt.Sprint(got["abstain"]) != "[0 0 1]" {
		t.Errorf("predicted\n%s", text)
	}
	pool := compute.NewPool(1)
	defer pool.Close()
	fix, err := r.Model.Calibrate(t.Context(), read(t, b.String()).Rows(nil), []Method{Temperature}, pool)
	if err != nil || fix.After[0].Classes.LL.Value < fix.Before[0].Classes.LL.Value-0.02 {
		t.Errorf("calibrated: %+v, %v", fix, err)
	}
	if fix.After[0].Classes.LL == fix.Before[0].Classes.LL {
		t.Error("the temperature changes no score")
	}
	both, err := r.Model.Calibrate(t.Context(), read(t, b.String()).Rows(nil), []Method{Temperature, Conformal}, pool)
	if err != nil || len(fix.After[0].Sets) != 0 || len(both.After[0].Sets) == 0 {
		t.Errorf("sets of classes are scored although there are none, or not: %v, %v, %v", fix.After, both, err)
	}
}
