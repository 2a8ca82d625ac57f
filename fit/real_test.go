package fit

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/dist"
	"utvi/internal/calibrate"
	"utvi/predict"
	"utvi/rng"
)

func spec(targets ...string) Config {
	return Config{Targets: targets, Network: quick}
}

// TestSetAside fits a table with rows that have no target, and scores and calibrates by
// such a table.
func TestSetAside(t *testing.T) {
	text := example(t, 200, 3)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, i := range []int{5, 50, 150} {
		lines[i] = lines[i][:strings.LastIndex(lines[i], ",")+1] + []string{"", "-", "NA"}[i%3]
	}
	text = strings.Join(lines, "\n") + "\n"
	var warned []string
	r, err := Run(t.Context(), read(t, text), spec("strength"), Options{Warn: func(w Warning) { warned = append(warned, w.String()) }})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Model
	if m.Facts.SetAside != 3 || m.Facts.Rows != 197 || m.Facts.Refitted != r.Evaluation.Rows || !slices.Contains(warned, "t.csv: 3 rows have no target and are set aside; \"NA\" (t.csv line 6) stands for a missing target") || !slices.Equal(warned, texts(r.Warnings)) {
		t.Errorf("%+v, %d rows scored, warnings %q", m.Facts, r.Evaluation.Rows, warned)
	}
	e, err := m.Evaluate(t.Context(), read(t, text).Rows(nil), nil)
	if err != nil || e.Rows != 197 || e.NoTarget != 3 || !slices.Contains(e.Notes, "3 rows have no target; they are left out of the scores") {
		t.Errorf("%+v, %v", e, err)
	}
	c, err := m.Calibrate(t.Context(), read(t, text).Rows(nil), []Method{Scale}, nil)
	if err != nil || c.Used != 197 || c.NoTarget != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := m.Evaluate(t.Context(), read(t, lines[0]+"\n"+lines[5]+"\n").Rows(nil), nil); err == nil || !strings.Contains(err.Error(), "no row can be scored: 1 row has no target") {
		t.Error(err)
	}
}

// TestNotFiniteEvaluated leaves out rows that overflow the network, and says so.
func TestNotFiniteEvaluated(t *testing.T) {
	m, err := Load("../internal/golden/testdata/single.utvi") // of version 0.1.0
	if err != nil {
		t.Fatal(err)
	}
	text := example(t, 50, 4) + "1e22,1,30,birch,44\n"
	e, err := m.Evaluate(t.Context(), read(t, text).Rows(nil), nil)
	if err != nil || e.Rows != 50 || e.NotFinite != 1 || math.IsNaN(e.Targets[0].Numbers.LL.Value) || !strings.Contains(strings.Join(e.Notes, "\n"), "1 row has a prediction that is not finite, far outside the training data (the first at t.csv line 52)") {
		t.Errorf("%+v, %v", e, err)
	}
	if c, err := m.Calibrate(t.Context(), read(t, text).Rows(nil), []Method{Conformal}, nil); err != nil || c.Used != 50 || len(c.Notes) == 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestKnownRows tells training rows from new ones, also if the sketch does not hold them
// all.
func TestKnownRows(t *testing.T) {
	m := fitted(t)
	old, fresh := example(t, 400, 1), example(t, 400, 9)
	some := strings.Join(strings.SplitAfter(old, "\n")[:60], "") + strings.Join(strings.SplitAfter(fresh, "\n")[1:], "")
	for _, size := range []int{len(m.Sketch), 200} {
		p := *m.Model
		p.Sketch = m.Sketch[:size]
		short := Model{&p, m.Facts}
		for name, x := range map[string]struct {
			text     string
			from, to float64
		}{"old": {old, 0.8, 1}, "fresh": {fresh, 0, 0}, "some": {some, 0.04, 0.25}} {
			e, err := short.Evaluate(t.Context(), read(t, x.text).Rows(nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			warned := slices.ContainsFunc(e.Notes, func(s string) bool { return strings.HasPrefix(s, "the model was trained with about ") })
			if e.Trained < x.from || e.Trained > x.to || warned != (x.to > 0) {
				t.Errorf("%s, %d hashes: %v of the rows are known, notes %q", name, size, e.Trained, e.Notes)
			}
			c, err := short.Calibrate(t.Context(), read(t, x.text).Rows(nil), []Method{Scale}, nil)
			if err != nil || c.Seen != (x.to > 0) {
				t.Errorf("%s, %d hashes: calibration: %+v, %v", name, size, c, err)
			}
		}
	}
}

// TestWarnings plants a copy of the target, in several forms, and repeated rows.
func TestWarnings(t *testing.T) {
	key := rng.New(4)
	var b, c strings.Builder
	b.WriteString("x,linear,log,near,z,empty,odd,y\n")
	c.WriteString("x,code,part,kind\n")
	for i := range 120 {
		k := i
		if i >= 100 {
			k = i - 100 // repeated rows
		}
		x, z := rng.Normal(key, uint64(2*k)), rng.Normal(key, uint64(2*k+1))
		y := math.Exp(x + 0.3*z)
		odd := z
		if k%10 == 0 {
			odd = -999
		}
		fmt.Fprintf(&b, "%.4f,%.6f,%.6f,%.4f,%.4f,,%.2f,%.6f\n", x, 3-2*y, math.Log(y), y+0.2*z, z, odd, y)
		kind := k % 3
		fmt.Fprintf(&c, "%.4f,%c,%d,k%d\n", x, 'p'+rune(kind), kind/2, kind)
	}
	got := map[string][]string{}
	for name, x := range map[string]struct{ text, target string }{"numbers": {b.String(), "y"}, "classes": {c.String(), "kind"}} {
		f, conf := read(t, x.text), spec(x.target)
		conf.Holdout = 0.3
		conf.Network.Steps, conf.Network.Ensemble = 8, 1
		if name == "classes" {
			conf.Network.Noise = ""
		}
		r, err := Run(t.Context(), f, conf, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got[name] = texts(r.Warnings)
		if r.Model.Facts.Repeated < 0.1 {
			t.Errorf("%s: %v of the held-out rows are repeated", name, r.Model.Facts.Repeated)
		}
	}
	for name, want := range map[string][]string{
		"numbers": {"column empty has no values and is left out", "% of the values are -999, far from all others; ", "column linear is a copy of the target y, or a linear function of it; ", "column log holds the target y in another form: ", " of 36 held-out rows also occur among the training rows, with the same target; "},
		"classes": {"column code determines the class: each of its values belongs to one kind; ", " of 36 held-out rows also occur among the training rows, with the same target; "},
	} {
		if len(got[name]) != len(want) {
			t.Errorf("%s: %q", name, got[name])
			continue
		}
		for i, w := range want {
			if !strings.Contains(got[name][i], w) {
				t.Errorf("%s: %q, want %q", name, got[name][i], w)
			}
		}
	}
	if r, err := resin(); err != nil || len(r.Warnings) != 0 {
		t.Errorf("a sound table draws %q, %v", r.Warnings, err)
	}
}

// TestBaseline compares the scores without a network with their definition.
func TestBaseline(t *testing.T) {
	m := fitted(t)
	text := example(t, 60, 5)
	e, err := m.Evaluate(t.Context(), read(t, text).Rows(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := m.Schema.Encode(read(t, text).Rows(nil))
	if err != nil {
		t.Fatal(err)
	}
	y := m.Schema.Targets()[0]
	var ll, square float64
	for _, z := range set.Y {
		v := float64(z)*y.SD + y.Mean
		ll += dist.Normal{Mu: y.Mean, Sigma: y.SD}.LogPDF(v) / 60
		square += (v - y.Mean) * (v - y.Mean) / 60
	}
	got := e.Targets[0]
	if b := got.Baseline; math.Abs(b.LL-ll) > 1e-6 || math.Abs(b.RMSE-math.Sqrt(square)) > 1e-6 {
		t.Errorf("the baseline is %+v, want %v and %v", b, ll, math.Sqrt(square))
	}
	if r2 := *got.Numbers.R2; r2 < 0.3 || r2 > 1 {
		t.Errorf("R² is %v", r2)
	}
	conf := spec("resin")
	conf.Network.Noise = ""
	r, err := Run(t.Context(), read(t, example(t, 300, 1)), conf, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Evaluation.Targets[0].Scores
	if s.Baseline == nil || s.Baseline.Accuracy < 0.1 || s.Baseline.Accuracy > 0.6 || s.Baseline.LL > -0.9 || s.Baseline.LL < -1.3 {
		t.Errorf("the baseline of classes is %+v", s.Baseline)
	}
	var b strings.Builder
	if err := s.WriteTable(&b); err != nil || !strings.Contains(b.String(), "most frequent class  accuracy ") || !strings.Contains(b.String(), "\nclass  rows  precision  recall") || !strings.Contains(b.String(), "\nbirch  ") {
		t.Errorf("%s, %v", b.String(), err)
	}
	path := filepath.Join(t.TempDir(), "m.utvi")
	if err := r.Model.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := Load(path)
	if err != nil || back.Facts.Held[0].Baseline.Accuracy != s.Baseline.Accuracy || len(back.Facts.Held[0].Classes.Classes) != 3 {
		t.Errorf("read back as %+v, %v", back, err)
	}
	// Sets of classes cover what they say, on fresh rows.
	if _, err := r.Model.Calibrate(t.Context(), read(t, example(t, 400, 2)).Rows(nil), []Method{Temperature, Conformal}, nil); err != nil {
		t.Fatal(err)
	}
	after, err := r.Model.Evaluate(t.Context(), read(t, example(t, 400, 3)).Rows(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range after.Targets[0].Sets {
		if x.Coverage < x.Level-0.07 || x.Level > 0.8 && x.Coverage > x.Level+0.05 || x.Width < 1 || x.Width > 3 {
			t.Errorf("sets of %v cover %v, size %v", x.Level, x.Coverage, x.Width)
		}
	}
}

// TestConstantInTraining moves the one row that differs to the training rows.
func TestConstantInTraining(t *testing.T) {
	for target, rare := range map[string]string{"kind": "rare", "y": "7"} {
		for seed := range uint64(6) {
			text := "x," + target + "\n"
			for i := range 40 {
				v := map[string]string{"kind": "common", "y": "3.843"}[target]
				if i == 11 {
					v = rare
				}
				text += fmt.Sprintf("%d,%s\n", i*i%17, v)
			}
			conf := spec(target)
			conf.Holdout = 0.4
			conf.Seed = seed + 1
			conf.Network.Steps = 8
			conf.Task = "regression"
			if target == "kind" {
				conf.Task, conf.Network.Noise = "", ""
			}
			if _, err := Run(t.Context(), read(t, text), conf, Options{}); err != nil {
				t.Errorf("%s, seed %d: %v", target, seed, err)
			}
			if _, err := Run(t.Context(), read(t, strings.ReplaceAll(text, ","+rare+"\n", ","+map[string]string{"kind": "common", "y": "3.843"}[target]+"\n")), conf, Options{}); err == nil || !strings.Contains(err.Error(), "in all 40 training rows; there is nothing to learn") {
				t.Errorf("%s, constant: %v", target, err)
			}
		}
	}
}

// TestWorseCalibration plants heavy tails: a scale fitted to them makes the predictions
// worse, and is left out with a word.
func TestWorseCalibration(t *testing.T) {
	key := rng.New(8)
	f := fitter{methods: []Method{Scale, Conformal}}
	for i := range 4000 { // Student's t with two degrees of freedom, scaled to fit well
		z := rng.Normal(key, uint64(3*i)) / math.Sqrt(-math.Log(rng.Uniform(key, uint64(3*i+1))))
		f.held = append(f.held, outcome{y: []float64{z}, d: []dist.Dist{dist.Normal{Sigma: 1.1}}, weight: 1})
	}
	none := &calibrate.Calibration{}
	before := f.score("y", none, none)
	after, bad := f.judge("y", before)
	if len(bad) != 1 || bad[0].method != Scale || !strings.Contains(bad[0].sentence("y"), "y: scale is left out: it would change the calibration error of held-out rows from 0.") {
		t.Fatalf("left out: %+v", bad)
	}
	if after.Numbers.CalibrationError != before.Numbers.CalibrationError {
		t.Errorf("the calibration error went from %v to %v", before.Numbers.CalibrationError, after.Numbers.CalibrationError)
	}
	// Predictions that are twice too narrow are corrected.
	for i := range f.held {
		f.held[i].y[0] = 2.2 * rng.Normal(key, uint64(i))
	}
	if _, bad := f.judge("y", f.score("y", none, none)); len(bad) != 0 {
		t.Errorf("a good correction was left out: %+v", bad)
	}

	// A model is not stored with a correction that makes it worse.
	m := fitted(t)
	text := example(t, 1500, 9)
	out, _ := written(t, m, text, predict.Options{}, 1)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, mean := range out["strength_mean"] {
		z := rng.Normal(key, uint64(3*i)) / math.Sqrt(-math.Log(rng.Uniform(key, uint64(3*i+1))))
		line := lines[i+1]
		lines[i+1] = fmt.Sprintf("%s,%.4f", line[:strings.LastIndex(line, ",")], mean+out["strength_std"][i]*0.75*z)
	}
	c, err := m.Calibrate(t.Context(), read(t, strings.Join(lines, "\n")+"\n").Rows(nil), []Method{Scale}, nil)
	if err != nil || len(c.Dropped) != 1 || m.Calibration != nil {
		t.Errorf("%+v, %v; the model has %+v", c, err, m.Calibration)
	}
}

// TestForgedScores refuses a file whose scores are of nothing.
func TestForgedScores(t *testing.T) {
	m := fitted(t)
	m.Facts.Held = []Scores{{}}
	path := filepath.Join(t.TempDir(), "m.utvi")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "of neither numbers nor classes") {
		t.Error(err)
	}
}

// TestByPosition says that names are missing.
func TestByPosition(t *testing.T) {
	m := fitted(t)
	_, rows, _ := strings.Cut(example(t, 30, 6), "\n")
	e, err := m.Evaluate(t.Context(), read(t, rows).Rows(nil), nil)
	if err != nil || !slices.Contains(e.Notes, byPosition) {
		t.Errorf("%+v, %v", e, err)
	}
	conf := spec("c5") // a table is not compared with itself
	conf.Network.Steps = 8
	r, err := Run(t.Context(), read(t, rows), conf, Options{})
	if err != nil || slices.Contains(r.Evaluation.Notes, byPosition) {
		t.Errorf("%+v, %v", r, err)
	}
	if few := "30 rows are few: intervals may cover far more or less than they say"; !slices.Contains(texts(r.Warnings), few) {
		t.Errorf("warnings %q, want %q", r.Warnings, few)
	}
	text, err := json.Marshal(e)
	if err != nil || !strings.Contains(string(text), "position") {
		t.Errorf("%s, %v", text, err)
	}
}
