package predict_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/internal/calibrate"
	"utvi/internal/modelfile"
	"utvi/internal/schema"
	"utvi/model"
	"utvi/nn"
	"utvi/predict"
	"utvi/table"
)

// documented is a model's networks with the documents of its file.
func documented(t *testing.T, m *predict.Model) *model.Ensemble {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.utvi")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	e, err := model.LoadEnsemble(path)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What stands beside the networks in a file fits them, or the file is refused.
func TestFilesThatDoNotFit(t *testing.T) {
	m := resin().Model
	changed := func(change func(s *schema.Schema)) modelfile.Document {
		text, err := json.Marshal(m.Schema)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		change(s)
		text, err = json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return &modelfile.Table{Schema: text}
	}
	target := func(s *schema.Schema) *schema.Column {
		return &s.Columns[slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Role == schema.Target })]
	}
	for want, doc := range map[string]modelfile.Document{
		"the table has 2 inputs, the network 3": changed(func(s *schema.Schema) {
			s.Columns = slices.DeleteFunc(s.Columns, func(c schema.Column) bool { return c.Name == "strength" })
		}),
		"the table and the network have different targets": changed(func(s *schema.Schema) {
			target(s).Levels = append(target(s).Levels, "zinc")
			target(s).Counts = nil
		}),
		"table schema: the task \"guess\" is unknown":                       changed(func(s *schema.Schema) { s.Task = "guess" }),
		"there are 2 calibrations for 1 targets":                            &modelfile.Calibration[json.RawMessage]{json.RawMessage("{}"), json.RawMessage("{}")},
		"calibration: a temperature of 0":                                   &modelfile.Calibration[json.RawMessage]{json.RawMessage(`{"temperature":{"rows":300,"temperature":0}}`)},
		"the histogram of column \"nothing\": the table has no such column": &modelfile.Histograms[schema.Histogram]{{Column: "nothing", Counts: []int{1}}},
		"the memory of training rows is damaged":                            &modelfile.Memory{Rows: 3},
		"the memory of training rows is damaged ":                           &modelfile.Memory{Rows: -1, Columns: []string{"x"}},
	} {
		e := documented(t, m)
		if err := e.Documents.Put(doc); err != nil {
			t.Fatal(err)
		}
		_, err := predict.FromEnsemble(e)
		wantError(t, err, strings.TrimSpace(want))
		path := filepath.Join(t.TempDir(), "bad.utvi")
		if err := e.Save(path); err != nil {
			t.Fatal(err)
		}
		_, err = predict.OpenFile(path)
		wantError(t, err, "cannot load the model "+path+": ")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = predict.Open(bytes.NewReader(b), int64(len(b)))
		wantError(t, err, "cannot load the model: ")
	}
	for name, text := range map[string]string{"table": `{"format":1,"schema":3`, "calibration": `[{"scale":`, "histograms": `{}`, "memory": `[]`, "tabular": `[]`} {
		e := documented(t, m)
		e.Documents[name] = json.RawMessage(text)
		if got, err := predict.FromEnsemble(e); err == nil || got != nil && name != "memory" {
			t.Errorf("a damaged document %s: %v, %v", name, got, err)
		}
	}
	e := documented(t, m)
	delete(e.Documents, "table")
	bare, err := predict.FromEnsemble(e)
	if err != nil || bare.Schema != nil || bare.Inputs() != m.Inputs() {
		t.Errorf("networks for tables without a table: %+v, %v", bare, err)
	}
	_, err = predict.OpenFile(filepath.Join(t.TempDir(), "none"))
	wantError(t, err, "no such file")
	if _, err := predict.New(strength().Net, m.Schema, nil); err == nil {
		t.Error("networks of another table were accepted")
	}
}

// plain is a network of two inputs without a table.
func plain(t *testing.T) *predict.Model {
	t.Helper()
	n, err := model.New(model.Config{Input: nn.Vec(2), Layers: []nn.Layer{nn.Dense{Out: 1}}, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	m, err := predict.FromEnsemble(&model.Ensemble{Members: []*model.Model{n}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A network alone has no table to be saved with, no calibration and no named columns.
func TestNetworksHaveNoTable(t *testing.T) {
	m := plain(t)
	wantError(t, m.Save(filepath.Join(t.TempDir(), "m")), "only a tabular model is saved with its table")
	_, err := m.WithCalibration(nil)
	wantError(t, err, "only a tabular model can be calibrated")
	panicked := func(f func()) (what any) {
		defer func() { what = recover() }()
		f()
		return nil
	}
	if got := panicked(func() { m.NewRowBuilder() }); got != "predict: rows of named values need a tabular model" {
		t.Errorf("rows of named values for a network: %v", got)
	}
	p, other := predictor(t, m, predict.Options{}), predictor(t, plain(t), predict.Options{})
	all := loaded(t, "a,b\n1,2\n3,4\n")
	err = predict.Stream(t.Context(), p, all.Rows(nil), nil, func(b *predict.Batch) (int, error) {
		if got := panicked(func() { b.Use(other) }); got != "predict: the predictor belongs to another model" {
			t.Errorf("a predictor of another model: %v", got)
		}
		want := b.Numbers(1)[0].Hi
		b.Use(predictor(t, m, predict.Options{Interval: 0.5}))
		if got := b.Numbers(1)[0].Hi; !(got < want) {
			t.Errorf("half of the numbers lie below %v, 90 %% below %v", got, want)
		}
		return 0, nil
	}, func(int) error { return nil })
	if err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"a\n1\n":          "a.csv has 1 columns; the network has 2 inputs",
		"a,b\n1,2\n3,x\n": `a.csv line 3, column b: "x" is not a finite number`,
		"a,b\n1,2\n,4\n":  `a.csv line 3, column a: "" is not a finite number`,
	} {
		rows := loaded(t, text).Rows(nil)
		err := predict.Stream(t.Context(), p, rows, nil, func(*predict.Batch) (int, error) { return 0, nil }, func(int) error { return nil })
		wantError(t, err, want)
		_, err = m.ReadInputs(loaded(t, text).Rows(nil), 0)
		wantError(t, err, want)
	}
	for most, want := range map[int]int{0: 2, 1: 1, 2: 2, 3: 2} {
		x, err := m.ReadInputs(all.Rows(nil), most)
		if err != nil || x.Rows != want || x.Var != nil || !slices.Equal(x.Mean, []float32{1, 2, 3, 4}[:2*want]) {
			t.Errorf("at most %d rows are %+v, %v", most, x, err)
		}
	}
	broken := errors.New("broken")
	_, err = m.ReadInputs(failingSource{all.Rows(nil), broken}, 0)
	if !errors.Is(err, broken) {
		t.Errorf("rows that cannot be read: %v", err)
	}
	err = predict.Stream(t.Context(), p, failingSource{all.Rows(nil), broken}, nil, func(*predict.Batch) (int, error) { return 0, nil }, func(int) error { return nil })
	if !errors.Is(err, broken) {
		t.Errorf("a stream of rows that cannot be read: %v", err)
	}
}

// Values of every kind are those of a table's cells.
func TestKindsOfValues(t *testing.T) {
	text := "id,flag,y\n"
	for i := range 60 {
		text += []string{"18446744073709551615", "x", "7"}[i%3] + "," + []string{"true", "false"}[i%2] + "," + string(rune('0'+i%7)) + "\n"
	}
	m := opened(t, fittedTo(t, text, ""))
	p := predictor(t, m, predict.Options{})
	type name string
	type yes bool
	var nothing *int
	predicted := func(id, flag any) float64 {
		got, err := p.Row(t.Context(), map[string]any{"id": id, "flag": flag})
		if err != nil {
			t.Fatal(err)
		}
		return got.Numbers[0].Mean
	}
	big := predicted("18446744073709551615", "true")
	for i, got := range []float64{predicted("18446744073709551615", true), predicted(name("18446744073709551615"), yes(true)), predicted("18446744073709551615", name("true"))} {
		if got != big {
			t.Errorf("way %d: %v, want %v", i, got, big)
		}
	}
	if got := predicted("18446744073709551615", false); got == big {
		t.Error("false is true")
	}
	if got, want := predicted(uint(7), yes(false)), predicted("7", "false"); got != want {
		t.Errorf("7 is %v, want %v", got, want)
	}
	_, err := p.Row(t.Context(), map[string]any{"id": nothing, "flag": true})
	wantError(t, err, "row 1, column id: the value is missing")
}

type failingSource struct {
	table.Source
	err error
}

func (f failingSource) Next() (*table.Chunk, error) {
	c, err := f.Source.Next()
	if err == io.EOF {
		err = f.err
	}
	return c, err
}

// Counts are whole: their intervals and quantiles, corrected or not, and a copy that stays valid.
func TestCountsAreWhole(t *testing.T) {
	text := "x,z,y\n"
	for i := range 200 {
		text += string(rune('0'+i%10)) + "," + string(rune('0'+i*3%7)) + "," + []string{"0", "1", "4", "2", "9", "3"}[i%6] + "\n"
	}
	m := opened(t, fittedTo(t, text, "poisson"))
	if !m.Counts() {
		t.Fatal("the model predicts no counts")
	}
	conformal, err := m.WithCalibration([]calibrate.Calibration{{Conformal: &calibrate.Conformal{Ranked: calibrate.Ranked{Rows: 19, Scores: []float64{
		0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9}}}}})
	if err != nil {
		t.Fatal(err)
	}
	row := [][]float64{{4, 2}, {9, 0}}
	for name, m := range map[string]*predict.Model{"plain": m, "conformal": conformal} {
		all, err := predictor(t, m, predict.Options{Interval: 0.8, Quantiles: []float64{0.1, 0.5, 0.9}}).Numbers(t.Context(), row)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			n := x.Numbers[0]
			for _, v := range append(n.Quantiles, n.Lo, n.Hi) {
				if v != math.Trunc(v) || v < 0 {
					t.Errorf("%s: %v of %+v is no count", name, v, n)
				}
			}
			if d := n.Dist; d.Quantile(0.5) != n.Quantiles[1] || d.CDF(n.Quantiles[1]) != d.CDF(n.Quantiles[1]+0.4) || !(n.Lo < n.Mean && n.Mean < n.Hi) {
				t.Errorf("%s: %+v, the median is %v", name, n, d.Quantile(0.5))
			}
			below, above := n.Mean-n.Lo, n.Hi-n.Mean
			if reach := 1.6 * n.Std; name == "conformal" && (math.Abs(above-reach) > 1 || n.Lo > 0 && math.Abs(below-reach) > 1) {
				t.Errorf("1.6 of %v around %v reach from %v to %v", n.Std, n.Mean, n.Lo, n.Hi)
			}
		}
		if all[0].Numbers[0].Dist.Mean() == all[1].Numbers[0].Dist.Mean() {
			t.Errorf("%s: rows share a distribution", name)
		}
		none, err := predictor(t, m, predict.Options{Interval: -1}).Numbers(t.Context(), row)
		if err != nil || !math.IsNaN(none[0].Numbers[0].Lo) || !math.IsNaN(none[0].Numbers[0].Hi) || none[0].Numbers[0].Mean != all[0].Numbers[0].Mean {
			t.Errorf("%s: without intervals %+v, %v", name, none[0].Numbers[0], err)
		}
	}
}

// Rows that cannot be read abstain, and the others are predicted as ever.
func TestUnreadRows(t *testing.T) {
	for name, m := range map[string]*predict.Model{"numbers": opened(t, strength()), "classes": opened(t, resin())} {
		p := predictor(t, m, predict.Options{SetAside: true, Quantiles: nil})
		head := strings.Join(m.Columns(), ",")
		good := map[string]string{"numbers": "140,1,30,birch", "classes": "140,1,30,40"}[name]
		bad := map[string]string{"numbers": "140,1,long,birch", "classes": "140,1,long,40"}[name]
		var got []predict.Prediction
		err := predict.Stream(t.Context(), p, loaded(t, head+"\n"+good+"\n"+bad+"\n"+good+"\n").Rows(nil), nil, func(b *predict.Batch) ([]predict.Prediction, error) {
			var all []predict.Prediction
			for row := range b.Len() {
				if b.Unread(row) != (row == 1) || b.Finite(row) != (row != 1) {
					t.Errorf("%s: row %d is unread %v, finite %v", name, row, b.Unread(row), b.Finite(row))
				}
				all = append(all, b.Prediction(row))
			}
			return all, nil
		}, func(all []predict.Prediction) error {
			got = append(got, all...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if line(got[0]) != line(got[2]) || !got[1].Abstain || got[0].Abstain || !math.IsNaN(got[1].OOD) {
			t.Errorf("%s: %+v", name, got)
		}
		if c := got[1].Class; c != nil && (c.Class != "" || !math.IsNaN(c.Probabilities[0])) {
			t.Errorf("the class of a row that cannot be read is %+v", c)
		}
		if n := got[1].Numbers; n != nil && (n[0].Dist != nil || !math.IsNaN(n[0].Mean) || !math.IsNaN(n[0].Std)) {
			t.Errorf("the number of a row that cannot be read is %+v", n)
		}
	}
}

// Networks that agree on a row leave no doubt about it, and its share is of what could be.
func TestClassDoubt(t *testing.T) {
	p := predictor(t, opened(t, resin()), predict.Options{})
	err := predict.Stream(t.Context(), p, frame(40, 3).Rows(nil), nil, func(b *predict.Batch) (int, error) {
		k := len(p.Model().Classes())
		for row := range b.Len() {
			variance, share := b.ClassDoubt(row)
			most := 0.0
			for _, q := range b.RawClasses(row) {
				most += q * (1 - q)
			}
			if !(share > 0 && share < 1) || k != 3 || math.Abs(share*most-variance) > 1e-12 {
				t.Errorf("row %d: %v, a share of %v of %v", row, variance, share, most)
			}
		}
		return 0, nil
	}, func(int) error { return nil })
	if err != nil {
		t.Error(err)
	}
}
