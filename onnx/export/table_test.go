package export

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"utvi/dist"
	tablefit "utvi/fit"
	"utvi/internal/calibrate"
	"utvi/internal/compute"
	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/internal/widths"
	"utvi/nn"
	"utvi/predict"
	"utvi/table"
)

// goods is a table of numbers, also skewed ones, names, missing values, dates and deviations.
func goods(n int, seed uint64) string {
	r, dates := rand.New(rand.NewPCG(seed, 9)), rand.New(rand.NewPCG(seed, 10))
	var b strings.Builder
	b.WriteString("size,size_std,shop,day,weight,price,sold,grade,cost,cost_std,opened,seen,visits\n")
	shops := []string{"north", "south", "east, far", "\"old\" town"}
	for i := range n {
		size := 5 + 2*r.NormFloat64()
		shop := r.IntN(len(shops))
		day := 45000 + r.IntN(900)
		weight := math.Exp(2 * r.NormFloat64())
		price := 3*size + 4*float64(shop) + 0.01*float64(day-45000) + (0.3+0.2*size/5)*r.NormFloat64()
		cell := func(v float64, missing float64) string {
			if r.Float64() < missing {
				return ""
			}
			return fmt.Sprint(float32(v))
		}
		name := shops[shop]
		if r.Float64() < 0.05 {
			name = ""
		}
		if i%37 == 5 {
			name = fmt.Sprintf("shop %d", i) // rarer
		}
		opened := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, dates.IntN(2200)).Format(time.DateOnly)
		if dates.IntN(12) == 0 {
			opened = ""
		}
		seen := time.Unix(1.6e9+dates.Int64N(1e8), dates.Int64N(1e9)).In(time.FixedZone("", 1800*(dates.IntN(49)-24))).Format(time.RFC3339Nano)
		visits := int(math.Exp(0.2*size+0.3*float64(shop)-0.5) * (0.3 + 1.4*dates.Float64()))
		fmt.Fprintf(&b, "%s,%v,%q,%d,%s,%v,%v,%s,%v,%v,%s,%s,%d\n", cell(size, 0), float32(0.1+0.3*r.Float64()), name, day, cell(weight, 0.1), price, 2*price+r.NormFloat64(), []string{"A", "B", "C"}[min(2, int(math.Abs(price)/15))], float32(math.Exp(price/6+0.3*r.NormFloat64())), float32(0.1+r.Float64()), opened, seen, visits)
	}
	return strings.ReplaceAll(b.String(), `\"old\"`, `""old""`)
}

func goodsFrame(t testing.TB, text string) *table.Frame {
	t.Helper()
	r, err := table.NewReader(strings.NewReader(text), "goods.csv", table.Options{})
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

// tableModels are models of every kind that fit makes, or the one that is named.
func tableModels(t *testing.T, only string) map[string]*predict.Model {
	t.Helper()
	rows := goodsFrame(t, goods(500, 1))
	quick := tabular.Config{Ensemble: 3, KL: 0.3, Activation: "leaky-relu", Depth: 2, Width: 16, Steps: 80, Batch: 64}
	all := map[string]*predict.Model{}
	dates := []string{"opened", "seen"}
	add := func(name string, c tablefit.Config, noise string, change func(c *tabular.Config), methods ...tablefit.Method) {
		if only != "" && only != name {
			return
		}
		if !strings.HasPrefix(name, "dates") {
			c.Ignore = slices.Concat(c.Ignore, dates)
		}
		if c.Targets[0] != "visits" {
			c.Ignore = slices.Concat(c.Ignore, []string{"visits"})
		}
		c.Network = quick
		c.Network.Noise = noise
		if change != nil {
			change(&c.Network)
		}
		r, err := tablefit.Run(context.Background(), rows, c, tablefit.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if methods != nil {
			pool := compute.NewPool(1)
			defer pool.Close()
			if _, err := r.Model.Calibrate(context.Background(), goodsFrame(t, goods(400, 2)).Rows(nil), methods, pool); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		m, err := predict.New(r.Model.Net, r.Model.Schema, r.Model.Calibration)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = m
	}
	drop := []string{"sold", "grade", "size_std", "cost", "cost_std"}
	price := tablefit.Config{Targets: []string{"price"}, Ignore: drop, Impute: true}
	uncertain := tablefit.Config{Targets: []string{"price"}, Ignore: []string{"sold", "grade"}, Impute: true} // also a skewed input with deviations
	add("heteroscedastic", price, tabular.Heteroscedastic, nil)
	add("learned", price, tabular.Learned, nil)
	add("embedded", price, tabular.Embedded, nil)
	add("one-network", price, tabular.Heteroscedastic, func(c *tabular.Config) { c.Ensemble = 1 })
	add("uncertain", uncertain, tabular.Heteroscedastic, nil)
	add("uncertain-learned", uncertain, tabular.Learned, nil)
	add("targets", tablefit.Config{Targets: []string{"price", "sold"}, Ignore: []string{"grade", "size_std", "cost", "cost_std"}, Impute: true}, tabular.Heteroscedastic, nil)
	bins := func(c *tabular.Config) { c.Bins = 8 }
	add("bins", price, tabular.Heteroscedastic, bins)
	add("bins-uncertain", uncertain, tabular.Heteroscedastic, bins)
	cost := tablefit.Config{Targets: []string{"cost"}, Ignore: []string{"price", "sold", "grade", "size_std", "cost_std"}, Impute: true}
	add("transformed", cost, tabular.Heteroscedastic, nil)
	add("transformed-calibrated", cost, tabular.Heteroscedastic, bins, "scale", "conformal")
	add("transformed-targets", tablefit.Config{Targets: []string{"cost", "price"}, Ignore: []string{"sold", "grade", "size_std", "cost_std"}, Impute: true}, tabular.Learned, nil)
	add("calibrated", price, tabular.Heteroscedastic, nil, "scale", "conformal")
	add("asymmetric", price, tabular.Learned, nil, "asymmetric")
	add("scaled", price, tabular.Heteroscedastic, nil, "scale")
	add("isotonic", price, tabular.Heteroscedastic, nil, "isotonic")
	add("isotonic-conformal", price, tabular.Heteroscedastic, nil, "scale", "isotonic", "conformal")
	add("isotonic-transformed", cost, tabular.Heteroscedastic, nil, "scale", "isotonic")
	add("classes", tablefit.Config{Targets: []string{"grade"}, Ignore: []string{"price", "sold", "size_std", "cost", "cost_std"}, Impute: true}, "", nil)
	add("classes-calibrated", tablefit.Config{Targets: []string{"grade"}, Ignore: []string{"price", "sold", "size_std", "cost", "cost_std"}, Impute: true}, "", nil, "temperature")
	add("classes-conformal", tablefit.Config{Targets: []string{"grade"}, Ignore: []string{"price", "sold", "size_std", "cost", "cost_std"}, Impute: true}, "", nil, "temperature", "conformal")
	full := []string{"sold", "size_std", "cost", "cost_std", "shop", "weight"} // columns without missing values are left
	add("complete", tablefit.Config{Targets: []string{"price"}, Ignore: append(full, "grade")}, tabular.Heteroscedastic, nil)
	add("classes-complete", tablefit.Config{Targets: []string{"grade"}, Ignore: append(full, "price")}, "", nil, "conformal")
	many := tablefit.Config{Targets: []string{"price"}, Ignore: drop, Impute: true, MaxLevels: 2}
	add("levels", many, tabular.Heteroscedastic, nil)
	add("levels-bins", many, tabular.Learned, bins)
	count := tablefit.Config{Targets: []string{"visits"}, Ignore: slices.Concat(drop, []string{"price"}), Impute: true, MaxLevels: 2}
	add("counts", count, tabular.NegativeBinomial, nil)
	add("counts-poisson", count, tabular.Poisson, nil, "scale")
	add("counts-conformal", count, tabular.NegativeBinomial, bins, "scale", "conformal")
	add("dates", price, tabular.Heteroscedastic, nil)
	add("dates-uncertain", uncertain, tabular.Learned, bins)
	return all
}

// A model of a table gives the predictions of utvi, row by row: names and numbers of any
// kind, missing ones, calibrated or not.
func TestTableConformance(t *testing.T) {
	needsRuntime(t)
	names := []string{}
	models := tableModels(t, "")
	for _, name := range []string{"one-network", "uncertain", "targets", "transformed"} { // whatever held-out rows said
		models[name].Net.Residuals[0].Level = &widths.Level{Power: 0.3, Least: 0.05, Most: 0.5, Tilt: 0.4, Low: -0.5, High: 0.3}
	}
	for _, name := range []string{"uncertain", "targets"} {
		models[name].Net.Residuals[0].Level.Curve = &widths.Curve{Along: 0.7, At: []float64{-4, -3, -2.5, -1}, Log: []float64{0.5, -0.5, 0, 1}}
	}
	models["targets"].Net.Residuals[1].Level = &widths.Level{Least: 1, Most: 1, Curve: &widths.Curve{At: []float64{-3, -1}, Log: []float64{1, -1}}}
	wild := &calibrate.Levels{Rows: 100, From: []float64{1e-7, 1e-3, 0.4, 0.41, 1 - 1e-5}, To: []float64{0.05, 0.2, 0.3, 0.6, 0.95}}
	tame := &calibrate.Levels{Rows: 100, From: []float64{1e-4, 0.4, 0.41, 0.99}, To: []float64{0.05, 0.3, 0.6, 0.95}}
	scale := &calibrate.Scale{Rows: 100, Factor: 1.3}
	both := slices.Clone(models["isotonic-conformal"].Calibration)
	both[0].Levels = tame                                    // whether or not rows keep theirs
	for name, c := range map[string][]calibrate.Calibration{ // also more than rows would say
		"isotonic-conformal":  both,
		"heteroscedastic":     {{Levels: wild}},
		"one-network":         {{Levels: wild, Scale: scale}},
		"transformed":         {{Levels: tame}},
		"transformed-targets": {{Levels: tame}, {Levels: &calibrate.Levels{Rows: 100}}},
		"targets":             {{Scale: scale}, {Levels: tame}},
	} {
		m, err := models[name].WithCalibration(c)
		if err != nil {
			t.Fatal(err)
		}
		models[name+"-bent"] = m
	}
	s := *models["learned"].Schema
	s.Columns = slices.Clone(s.Columns)
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Role == schema.Target { // predictions beyond 0 and 1 end there
			c.Mean = 0.5
			c.SD = 0.4
			c.Most = 1
		}
	}
	share, err := predict.New(models["learned"].Net, &s, nil)
	if err != nil {
		t.Fatal(err)
	}
	models["share"] = share
	for name := range models {
		names = append(names, name)
	}
	slices.Sort(names)
	var runs []*run
	var want [][]predict.Prediction
	for _, name := range names {
		m := models[name]
		file, err := Table(m, TableOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := goods(200, 3)
		if m.Schema.Impute { // also what no training row lacks
			text = regexp.MustCompile(`,45[0-5][0-9]{2},`).ReplaceAllString(text, ",,")
		}
		rows, inputs := cells(t, m, goodsFrame(t, text))
		o := predict.Options{}
		if m.Classes() == nil && !m.Counts() {
			o.Quantiles = TableOptions{}.orDefault().Quantiles
		}
		p, err := m.NewPredictor(o)
		if err != nil {
			t.Fatal(err)
		}
		predictions, err := p.Rows(t.Context(), rows)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if lost, ok := unpredictable[name]; ok { // by what is missing in the last row
			v := inputs[lost].Data
			v[len(v)-1] = "NaN"
			predictions = predictions[:len(predictions)-1]
		}
		runs = append(runs, &run{Name: "table-" + name, Inputs: inputs, model: file})
		want = append(want, predictions)
	}
	warped := false
	knots := false
	embedded := false
	dated := 0
	for _, m := range models {
		warped = warped || m.Net.Warps != nil
		for _, c := range m.Schema.Columns {
			knots = knots || c.Scale != nil && len(c.Scale.X) > 0
			dated = max(dated, len(c.Parts))
		}
		embedded = embedded || nn.Any(m.Networks.Members[0].Config.Layers, func(l nn.Layer) bool { _, ok := l.(nn.Piecewise); return ok })
	}
	levels := func(name string) bool {
		return nn.Any(models[name].Networks.Members[0].Config.Layers, func(l nn.Layer) bool { _, ok := l.(nn.Embed); return ok })
	}
	if !levels("levels") || !models["counts"].Counts() {
		t.Error("the model of many levels embeds none, or that of counts predicts none")
	}
	if !warped || !knots || !embedded || dated != 3 {
		t.Errorf("no model has a transformed target (%v), a scale with knots (%v), embedded numbers (%v) or the 3 parts of a time (%d)", warped, knots, embedded, dated)
	}
	for _, name := range []string{"isotonic-conformal-bent", "isotonic-transformed"} {
		if models[name].Calibration == nil || models[name].Calibration[0].Levels == nil {
			t.Errorf("the model %s has no bent levels", name)
		}
	}
	runAll(t, runs)
	for i, r := range runs {
		if r.outputs == nil {
			continue
		}
		worst, where := compareTable(want[i], models[names[i]].Classes(), r.outputs)
		t.Logf("%s: off by %.2g standard deviations", r.Name, worst)
		unpredicted(t, r, len(want[i]))
		if c := models[names[i]].Calibration; c != nil && c[0].Sets != nil {
			sizes := map[int]bool{}
			for _, p := range want[i] {
				sizes[len(p.Class.Set)] = true
			}
			if _, ok := r.outputs["set"]; !ok || len(sizes) < 2 {
				t.Errorf("%s: the graph has sets: %v; their sizes are %v", r.Name, ok, sizes)
			}
		}
		if !(worst <= tolerance) {
			t.Errorf("%s: off by %.2g %s", r.Name, worst, where)
		}
	}
}

// unpredictable are inputs without which a model cannot predict a row: the number itself,
// if the model does not impute, the number's deviation, the time's offset.
var unpredictable = map[string]string{"complete": "size", "classes-complete": "size", "uncertain": "size_std", "dates": "seen_offset"}

// unpredicted checks that rows beyond the predicted ones have no numbers, no label and no set.
func unpredicted(t *testing.T, r *run, rows int) {
	t.Helper()
	for name, x := range r.outputs {
		per := 1
		for _, d := range x.Dims[1:] {
			per *= d
		}
		for _, s := range x.Strings[min(len(x.Strings), rows*per):] {
			if s != "" {
				t.Errorf("%s: %s of a row that cannot be predicted is %q", r.Name, name, s)
			}
		}
		for _, v := range x.floats()[min(len(x.Data), rows*per):] {
			if wrong := !math.IsNaN(v); name == "set" && v != 0 || name != "set" && wrong {
				t.Errorf("%s: %s of a row that cannot be predicted is %v", r.Name, name, v)
			}
		}
	}
}

// cells are the rows of a table for a model, as named values and as inputs of its graph.
func cells(t *testing.T, m *predict.Model, f *table.Frame) (rows []map[string]any, inputs map[string]tensor) {
	t.Helper()
	c, err := f.Rows(nil).Next()
	if err != nil {
		t.Fatal(err)
	}
	inputs = map[string]tensor{}
	n := c.Rows()
	rows = make([]map[string]any, n)
	for i := range rows {
		rows[i] = map[string]any{}
	}
	for _, col := range m.Schema.Columns {
		if col.Role != schema.Input && col.Role != schema.Std {
			continue
		}
		at := f.Header().Column(col.Name)
		x := tensor{Dims: []int{n, 1}, Double: col.Type == schema.Times}
		offset := x
		for i := range n {
			kind, v := c.Cell(i, at)
			switch {
			case col.Type == schema.Categorical:
				x.Strings = append(x.Strings, c.Text(i, at))
				rows[i][col.Name] = c.Text(i, at)
				if kind == table.Missing {
					rows[i][col.Name] = nil
				}
			case col.Type == schema.Times && kind != table.Missing:
				rows[i][col.Name] = c.Text(i, at)
				v, err := time.Parse(col.Layout, c.Text(i, at))
				if err != nil {
					t.Fatal(err)
				}
				_, ahead := v.Zone()
				x.Data = append(x.Data, float64(v.UnixNano())/1e9)
				offset.Data = append(offset.Data, ahead)
			case kind == table.Missing:
				x.Data = append(x.Data, "NaN")
				rows[i][col.Name] = nil
			default:
				x.Data = append(x.Data, v)
				rows[i][col.Name] = v
			}
		}
		inputs[col.Name] = x
		if zoned(&col) {
			inputs[offsetOf(&col)] = offset
		}
	}
	return rows, inputs
}

// compareTable returns the largest difference in standard deviations; of probabilities and
// of ood, in units of 1. A change dσ changes a variance by 2σ·dσ.
func compareTable(want []predict.Prediction, classes []string, out map[string]tensor) (worst float64, where string) {
	note := func(e, scale float64, format string, args ...any) {
		e /= scale
		if e > worst || math.IsNaN(e) {
			worst, where = e, fmt.Sprintf(format, args...)
			if math.IsNaN(e) {
				worst = math.Inf(1)
			}
		}
	}
	ood := out["ood"].floats()
	for i, p := range want {
		note(math.Abs(ood[i]-p.OOD), 1+p.OOD, "in the ood of row %d: %v, want %v", i, ood[i], p.OOD)
		if p.Class != nil {
			k := len(p.Class.Probabilities)
			for j, q := range p.Class.Probabilities {
				note(math.Abs(out["probabilities"].floats()[i*k+j]-q), 1, "in probability %d of row %d", j, i)
			}
			if set, ok := out["set"]; ok {
				var got []string
				for j, class := range classes {
					if set.floats()[i*k+j] != 0 {
						got = append(got, class)
					}
				}
				if !slices.Equal(got, p.Class.Set) {
					note(math.Inf(1), 1, "in the set of row %d: %q, want %q", i, got, p.Class.Set)
				}
			}
			if out["label"].Strings[i] != p.Class.Class {
				note(math.Inf(1), 1, "in the label of row %d: %s, want %s", i, out["label"].Strings[i], p.Class.Class)
			}
			continue
		}
		for j, n := range p.Numbers {
			at := i*len(p.Numbers) + j
			slack := rounding * math.Abs(n.Mean)
			check := func(name string, got, want float64) {
				note(max(0, math.Abs(got-want)-slack), n.Std, "in %s of row %d: %v, want %v ± %v", name, i, got, want, n.Std)
			}
			for name, v := range map[string]float64{"mean": n.Mean, "std": n.Std, "lo": n.Lo, "hi": n.Hi} {
				if _, whole := n.Dist.(dist.Whole); whole && out[name].Data == nil {
					continue // intervals of counts are in the graph if they are conformal
				}
				check(name, out[name].floats()[at], v)
			}
			for name, v := range map[string]float64{"variance_weights": n.Variance.Weights, "variance_inputs": n.Variance.Inputs, "variance_noise": n.Variance.Noise} {
				note(math.Abs(out[name].floats()[at]-v), 2*n.Std*n.Std, "in %s of row %d: %v, want %v", name, i, out[name].floats()[at], v)
			}
			for q, v := range n.Quantiles {
				check(fmt.Sprintf("quantile %d", q), out["quantiles"].floats()[at*len(n.Quantiles)+q], v)
			}
		}
	}
	return worst, where
}

// What a graph cannot hold is refused.
func TestTableRefusals(t *testing.T) {
	counts := tableModels(t, "counts")["counts"]
	if _, err := Table(counts, TableOptions{Quantiles: []float64{0.5}}); err == nil || !strings.Contains(err.Error(), "whose quantiles a graph cannot compute") {
		t.Errorf("quantiles of counts: %v", err)
	}
	bent, err := counts.WithCalibration([]calibrate.Calibration{{Levels: &calibrate.Levels{Rows: 100}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Table(bent, TableOptions{}); err == nil || !strings.Contains(err.Error(), "calibrate without isotonic") {
		t.Errorf("corrected levels of counts: %v", err)
	}
	m := tableModels(t, "scaled")["scaled"]
	if _, err := Table(m, TableOptions{Quantiles: []float64{2}}); err == nil || !strings.Contains(err.Error(), "the level of a quantile is 2") {
		t.Errorf("a level of 2: %v", err)
	}
}
