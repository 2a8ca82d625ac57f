package predict_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"utvi/fit"
	"utvi/internal/calibrate"
	"utvi/internal/predictions"
	"utvi/internal/schema"
	"utvi/predict"
	"utvi/table"
)

// written are predictions of a table's text as maps from column to text.
func written(t *testing.T, p *predict.Predictor, text string, o predictions.Output) ([]map[string]string, predictions.Summary) {
	t.Helper()
	r, err := table.NewReader(strings.NewReader(text), "new.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	sum, err := predictions.Write(t.Context(), p, r, &b, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, l := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			if _, twice := row[name]; twice {
				t.Errorf("the column %s is written twice", name)
			}
			row[name] = l[i]
		}
		all = append(all, row)
	}
	return all, sum
}

const (
	plainRow = "temperature,temperature_std,minutes,resin,strength\n140,1,30,birch,44\n"
	wildRow  = plainRow + "1e22,1,30,birch,44\n"
)

// TestNotFinite predicts a row that overflows networks of files of version 0.1.0: it must
// not pass as certain.
func TestNotFinite(t *testing.T) {
	for name, file := range map[string]string{"numbers": "single", "classes": "resin"} {
		m, err := predict.OpenFile("../internal/golden/testdata/" + file + ".utvi")
		if err != nil {
			t.Fatal(err)
		}
		p := predictor(t, m, predict.Options{MaxOOD: 1e6})
		rows, sum := written(t, p, wildRow, predictions.Output{Parts: true, Median: name == "numbers", Explain: 2})
		if sum.NotFinite != 1 || sum.First != "new.csv line 3" || sum.Abstained != 1 {
			t.Errorf("%s: the summary is %+v", name, sum)
		}
		bad := rows[1]
		if bad["abstain"] != "1" || rows[0]["abstain"] != "0" || bad["ood"] != "+Inf" {
			t.Errorf("%s: %v", name, bad)
		}
		for _, column := range []string{"strength_mean", "strength_std", "strength_lo", "strength_median", "strength_var_weights", "resin", "p_birch", "entropy", "strength_why1", "strength_why1_mean", "strength_unsure1_std", "resin_why1_prob"} {
			if bad[column] != "" {
				t.Errorf("%s: %s is %q", name, column, bad[column])
			}
		}
		var all []predict.Prediction
		all, err = p.Rows(t.Context(), []map[string]any{{"temperature": 1e22, "temperature_std": 1, "minutes": 30, "resin": "birch", "strength": 44}})
		if err != nil || !all[0].Abstain || !math.IsInf(all[0].OOD, 1) {
			t.Fatalf("%s: %+v, %v", name, all, err)
		}
		if c := all[0].Class; c != nil && (c.Class != "" || !math.IsNaN(c.Entropy)) {
			t.Errorf("the class is %+v", c)
		}
		for _, n := range all[0].Numbers {
			if !math.IsNaN(n.Mean) || !math.IsNaN(n.Hi) || n.Dist != nil {
				t.Errorf("the number is %+v", n)
			}
		}
	}
}

// TestExtras compares quantiles, probabilities and samples with the distribution.
func TestExtras(t *testing.T) {
	p := predictor(t, strength().Model, predict.Options{Quantiles: []float64{0.05, 0.95}, Above: []float64{40, -5}})
	o := predictions.Output{Median: true, Samples: 400, Seed: 3}
	text := plainRow + "150,5,10,cedar,30\n"
	rows, _ := written(t, p, text, o)
	all, err := p.Rows(t.Context(), []map[string]any{{"temperature": 150, "temperature_std": 5, "minutes": 10, "resin": "cedar"}})
	if err != nil {
		t.Fatal(err)
	}
	want := all[0].Numbers[0]
	number := func(name string) float64 {
		v, err := strconv.ParseFloat(rows[1][name], 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	near := func(name string, want, tolerance float64) {
		if got := number(name); !(math.Abs(got-want) <= tolerance) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	near("strength_median", want.Dist.Quantile(0.5), 1e-3)
	near("strength_q0.05", want.Quantiles[0], 1e-3)
	near("strength_q0.95", want.Quantiles[1], 1e-3)
	near("strength_above_40", 1-want.Dist.CDF(40), 1e-6)
	near("strength_above_-5", want.Above[1], 1e-6)
	below := 0
	for i := range 400 {
		if number(fmt.Sprintf("strength_sample%d", i+1)) < want.Quantiles[0] {
			below++
		}
	}
	if below < 5 || below > 40 {
		t.Errorf("%d of 400 samples are below the 5 %% quantile", below)
	}
	alone, _ := written(t, p, text+"150,5,10,cedar,30\n", o)
	if alone[1]["strength_sample7"] != rows[1]["strength_sample7"] || alone[2]["strength_sample7"] == rows[1]["strength_sample7"] {
		t.Error("samples depend on other rows, or not on their own")
	}
	classes := predictor(t, resin().Model, predict.Options{})
	for _, s := range []string{"amber", "birch", "cedar"} {
		found := false
		drawn, _ := written(t, classes, plainRow, predictions.Output{Samples: 300})
		for k, v := range drawn[0] {
			found = found || strings.HasPrefix(k, "resin_sample") && v == s
		}
		if !found {
			t.Errorf("%s is never drawn", s)
		}
	}
	for _, o := range []predict.Options{{Above: []float64{1}}, {Quantiles: []float64{0.5}}} {
		if _, err := resin().NewPredictor(o); err == nil {
			t.Errorf("classes took %+v", o)
		}
	}
}

// TestExplain compares the effects with predictions of rows in which the columns are
// typical.
func TestExplain(t *testing.T) {
	m := strength().Model
	p := predictor(t, m, predict.Options{})
	row := map[string]any{"temperature": 170, "temperature_std": 5, "minutes": 55, "resin": "cedar"}
	typical := map[string]map[string]any{}
	for _, s := range m.Schema.Spans() {
		with := map[string]any{}
		for k, v := range row {
			with[k] = v
		}
		if s.Column.Type == schema.Categorical {
			with[s.Column.Name] = s.Column.Levels[0]
		} else {
			with[s.Column.Name] = s.Column.Mean
			if s.Column.StdFrom != "" {
				with[s.Column.StdFrom] = 0
			}
		}
		typical[s.Column.Name] = with
	}
	base, err := p.Row(t.Context(), row)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := written(t, p, "temperature,temperature_std,minutes,resin\n170,5,55,cedar\n", predictions.Output{Explain: 99})
	if _, more := rows[0]["strength_why4"]; more {
		t.Error("three columns give four explanations")
	}
	last := math.Inf(1)
	for i := 1; i <= 3; i++ {
		name := rows[0][fmt.Sprintf("strength_why%d", i)]
		other, err := p.Row(t.Context(), typical[name])
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		mean, _ := strconv.ParseFloat(rows[0][fmt.Sprintf("strength_why%d_mean", i)], 64)
		std, _ := strconv.ParseFloat(rows[0][fmt.Sprintf("strength_why%d_std", i)], 64)
		if math.Abs(mean-(base.Numbers[0].Mean-other.Numbers[0].Mean)) > 1e-3 || math.Abs(std-(base.Numbers[0].Std-other.Numbers[0].Std)) > 1e-3 {
			t.Errorf("%s moved the mean by %v and the std by %v; want %v and %v", name, mean, std, base.Numbers[0].Mean-other.Numbers[0].Mean, base.Numbers[0].Std-other.Numbers[0].Std)
		}
		if math.Abs(mean) > last {
			t.Error("the largest effect is not first")
		}
		last = math.Abs(mean)
	}
	if rows[0]["strength_unsure1"] == "" || rows[0]["strength_unsure1_std"] == "" {
		t.Errorf("no column explains the uncertainty: %v", rows[0])
	}
	classes, _ := written(t, predictor(t, resin().Model, predict.Options{}), plainRow, predictions.Output{Explain: 1})
	if classes[0]["resin_why1"] == "" || classes[0]["resin_why1_prob"] == "" || classes[0]["resin_unsure1_entropy"] == "" {
		t.Errorf("classes are not explained: %v", classes[0])
	}
}

// TestNamesOnce keeps columns whose names the predictions have.
func TestNamesOnce(t *testing.T) {
	p := predictor(t, strength().Model, predict.Options{MaxStd: 9})
	text := "temperature,temperature_std,minutes,resin,strength_mean,ood,strength_lo\n140,1,30,birch,a,b,c\n"
	rows, sum := written(t, p, text, predictions.Output{Keep: []string{"strength_mean", "ood", "strength_lo", "minutes"}})
	if r := rows[0]; r["table_strength_mean"] != "a" || r["table_ood"] != "b" || r["table_strength_lo"] != "c" || r["minutes"] != "30" || r["strength_mean"] == "a" || len(sum.Renamed) != 3 {
		t.Errorf("%v; renamed %q", rows[0], sum.Renamed)
	}
	text = "x,ood\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,%s\n", i%7, []string{"yes", "no"}[i*i%7%2])
	}
	r, err := fit.Run(t.Context(), loaded(t, text), fit.Config{Targets: []string{"ood"}, Network: quick}, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	src, _ := table.NewReader(strings.NewReader(text), "new.csv", table.Options{})
	defer src.Close()
	if _, err := predictions.Write(t.Context(), predictor(t, r.Model.Model, predict.Options{}), src, &b, predictions.Output{Format: predictions.JSON}, nil); err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(b.String(), "\n")
	var all map[string]any
	if err := json.Unmarshal([]byte(line), &all); err != nil || all["ood"] != "yes" && all["ood"] != "no" || all["ood_2"] == nil || strings.Count(line, `"ood"`) != 1 {
		t.Errorf("%s: %v", line, err)
	}
}

// TestDigitsKept predicts numbers around 1e9 that differ by less than 1.
func TestDigitsKept(t *testing.T) {
	text := "x,y\n"
	for i := range 80 {
		text += fmt.Sprintf("%d,%.2f\n", i%9, 1e9+float64(i%9)/4+0.1*float64(i%3))
	}
	r, err := fit.Run(t.Context(), loaded(t, text), fit.Config{Targets: []string{"y"}, Network: quick}, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := predictor(t, r.Model.Model, predict.Options{})
	rows, _ := written(t, p, "x\n1\n8\n", predictions.Output{Median: true})
	all, err := p.Rows(t.Context(), []map[string]any{{"x": 1}, {"x": 8}})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		n := all[i].Numbers[0]
		for name, want := range map[string]float64{"y_mean": n.Mean, "y_lo": n.Lo, "y_hi": n.Hi, "y_median": n.Dist.Quantile(0.5)} {
			if got, err := strconv.ParseFloat(row[name], 64); err != nil || math.Abs(got-want) > 1e-4*n.Std {
				t.Errorf("%s is %s, want %.9f ± %.1g", name, row[name], want, 1e-4*n.Std)
			}
		}
	}
}

// TestClassSets writes conformal sets of classes.
func TestClassSets(t *testing.T) {
	m, err := resin().WithCalibration([]calibrate.Calibration{{Sets: &calibrate.Sets{Ranked: calibrate.Ranked{Rows: 9, Scores: []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}}}}})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := written(t, predictor(t, m, predict.Options{Interval: 0.8}), plainRow, predictions.Output{})
	for _, name := range []string{"amber", "birch", "cedar"} {
		p, err := strconv.ParseFloat(rows[0]["p_"+name], 64)
		if in := strings.Contains("|"+rows[0]["resin_set"]+"|", "|"+name+"|"); err != nil || in != (p >= 0.2 || name == rows[0]["resin"]) {
			t.Errorf("%s with probability %v: the set is %s", name, p, rows[0]["resin_set"])
		}
	}
	if _, err := m.NewPredictor(predict.Options{Interval: 0.99}); err == nil || !strings.Contains(err.Error(), "need at least 99 held-out rows") {
		t.Error(err)
	}
}
