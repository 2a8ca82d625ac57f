package fit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/data"
	"utvi/dist"
	"utvi/gauss"
	"utvi/internal/calibrate"
	"utvi/internal/compute"
	"utvi/internal/schema"
	"utvi/internal/tabular"
	"utvi/metric"
	"utvi/model"
	"utvi/nn"
	"utvi/predict"
	"utvi/table"
)

func pool(t *testing.T) *compute.Pool {
	t.Helper()
	p := compute.NewPool(1)
	t.Cleanup(p.Close)
	return p
}

func refused(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: got %v, want %q", what, err, want)
	}
}

// What is said of rows, columns and classes, in the singular and of many.
func TestWords(t *testing.T) {
	names := strings.Split("a b c d e f g h i j k", " ")
	for got, want := range map[string]string{
		some(names[:10]): "a, b, c, d, e, f, g, h, i, j", some(names): "a, b, c, d, e, f, g, h, i, j …",
		isAre(1): "is", isAre(2): "are", rows(1): "1 row is", rows(2): "2 rows are", have(1): "1 row has", have(0): "0 rows have",
		fmt.Sprint(few(warning("x"), "%d more")):                   "[x]",
		fmt.Sprint(few(slices.Repeat(warning("x"), 5), "%d more")): "[x x x x x]", fmt.Sprint(few(slices.Repeat(warning("x"), 7), "%d more")): "[x x x x x 2 more]",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, c := range []struct {
		t    tally
		want string
	}{
		{tally{}, ""}, {tally{noTarget: 1}, "1 row has no target"},
		{tally{unread: 2, firstUnread: "a"}, "2 rows have a cell that cannot be read (the first: a)"},
		{tally{notFinite: 1, first: "b"}, "1 row has a prediction that is not finite, far outside the training data (the first at b)"},
		{tally{notFinite: 3, first: "b", pictures: true}, "3 rows have no prediction, because an image cannot be read (the first at b)"},
		{tally{noTarget: 1, unread: 1, firstUnread: "a", notFinite: 1, first: "b"}, "1 row has no target, 1 row has a cell that cannot be read (the first: a), 1 row has a prediction that is not finite, far outside the training data (the first at b)"},
	} {
		if got := c.t.leftOut(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for z, want := range map[float64]string{6.1: "much worse", 6: "worse", 3.1: "worse", 3: "as", 0: "as", -3: "as", -3.1: "better"} {
		if got := (Promise{Promised: z, SE: 1}).Verdict(); !strings.HasPrefix(got, want+" ") {
			t.Errorf("%g standard errors are %q", z, got)
		}
	}
	for gain, want := range map[Gain]bool{{-3, 1}: false, {-3.1, 1}: true, {3.1, 1}: false, {}: false} {
		if gain.Loses() != want {
			t.Errorf("%+v loses: %v", gain, gain.Loses())
		}
	}
}

// Targets that are far from all others are counted, and one is named.
func TestFarTargets(t *testing.T) {
	table := func(n int, far ...float64) string {
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range n {
			y := float64(i%7) - 3
			if i < len(far) {
				y = far[i]
			}
			fmt.Fprintf(&b, "%d,%g\n", i*7%11, y)
		}
		return b.String()
	}
	for _, c := range []struct {
		text string
		want string
	}{
		{table(100), ""}, {table(100, 900), "target y: the value 900 is far from all others; check it"},
		{table(100, -900), "target y: the value -900 is far from all others; check it"},
		{table(100, 900, 1000), "target y: 2 of 100 values are far from all others, such as 1000; check them"},
		{table(100, 900, 1000, 900), ""}, // a part of the distribution
		{table(100, 41.9), ""}, {table(100, 42.1), "target y: the value 42.1 is far from all others; check it"},
	} {
		f := read(t, c.text)
		s, err := schema.Infer(f.Rows(nil), schema.Spec{Targets: []string{"y"}})
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.Encode(f.Rows(nil))
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(survey{schema: s, data: &tabular.Data{Set: *d}}.outlyingTargets())
		if got != "["+c.want+"]" {
			t.Errorf("%.30q: %s, want %q", c.text, got, c.want)
		}
	}
}

// What warns of few rows, repeated rows and columns without values.
func TestEdgesOfWarnings(t *testing.T) {
	set := func(n int) *tabular.Data {
		return &tabular.Data{Set: data.Set{X: gauss.Batch[float32]{Rows: n}}}
	}
	for _, c := range []struct{ rows, held, want int }{{20, 30, 0}, {20, 29, 2}, {21, 29, 1}, {50, 0, 0}, {49, 0, 1}, {100, 1, 1}} {
		if got := (survey{data: set(c.rows), held: c.held}).tooFewRows(); len(got) != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	for _, c := range []struct{ missing, rows, want int }{{3, 3, 1}, {2, 3, 0}} {
		s := &schema.Schema{Rows: c.rows, Columns: []schema.Column{{Name: "a", Role: schema.Dropped, Stats: schema.Stats{Missing: c.missing}}, {Name: "b", Role: schema.Dropped}}}
		if got := (survey{schema: s}).emptyColumns(); len(got) != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	s := &schema.Schema{Rows: 1, Columns: []schema.Column{{Name: "a", Role: schema.Dropped, Stats: schema.Stats{Missing: 1}}, {Name: "b", Role: schema.Dropped, Stats: schema.Stats{Missing: 1}}}}
	if got := fmt.Sprint(survey{schema: s}.emptyColumns()); got != "[2 columns have no values and are left out: a, b]" {
		t.Error(got)
	}
	for _, c := range []struct {
		s    survey
		want string
	}{
		{survey{}, "[]"}, {survey{file: "f", missing: 1}, "[f: 1 row has no target and is set aside]"},
		{survey{file: "f", missing: 2, mark: "-"}, "[f: 2 rows have no target and are set aside; - stands for a missing target]"},
	} {
		if got := fmt.Sprint(c.s.setAside()); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	d := &tabular.Data{Set: data.Set{X: gauss.Batch[float32]{Rows: 3, Width: 2, Mean: []float32{1, 1, 1, 2, 1, 3}}, Targets: 1, Y: []float32{2, 4, 6}}}
	if a, b := correlation(d, 0, 0), correlation(d, 1, 0); a != 0 || math.Abs(b-1) > 1e-12 {
		t.Errorf("a constant input has the correlation %g, a multiple %g", a, b)
	}
	for _, c := range []struct {
		names []string
		want  bool
	}{{[]string{"1", "2", "10"}, true}, {[]string{"2", "1"}, false}, {[]string{"1", "1.0"}, false}, {[]string{"1", "a"}, false}} {
		if got := ranks(c.names); (got != nil) != c.want {
			t.Errorf("%q have the ranks %v", c.names, got)
		}
	}
	for _, c := range []struct {
		c          Config
		rows, want int
	}{
		{Config{}, 1000, 5}, {Config{}, tabular.LeastRows - 1, 0}, {Config{Time: "t"}, 1000, 0}, {Config{Images: ImageConfig{Column: "i"}}, 1000, 0},
		{Config{}, tabular.LeastRows + 1, tabular.LeastRows + 1},
	} {
		if got := c.c.FewestFolds(c.rows); got != c.want {
			t.Errorf("%d rows need %d folds, want %d", c.rows, got, c.want)
		}
	}
	for _, c := range []struct {
		c             Config
		columns, want int
	}{{Config{}, 1, memoryRows}, {Config{Memory: -1}, 1, 0}, {Config{Memory: 7}, 1, 7}, {Config{Memory: 7}, memoryCells, 1}} {
		if got := c.c.kept(c.columns); got != c.want {
			t.Errorf("%+v of %d columns keeps %d", c.c.Memory, c.columns, got)
		}
	}
	if shares(&schema.Column{TargetStats: schema.TargetStats{Counts: []int{0, 0}}}) != nil || !slices.Equal(shares(&schema.Column{TargetStats: schema.TargetStats{Counts: []int{1, 3}}}), []float64{0.25, 0.75}) {
		t.Error("the shares of classes are wrong")
	}
}

// Gains are weighted means; rows without weight do not count.
func TestGainsByWeight(t *testing.T) {
	var a, b gainTally
	if a.gain() != (Gain{}) {
		t.Errorf("no rows gain %+v", a.gain())
	}
	a.add(1, 2)
	a.add(100, 0)
	b.add(4, 1)
	a.merge(b)
	if g := a.gain(); g.Value != 2 || math.Abs(g.SE-1) > 1e-12 {
		t.Errorf("%+v", g)
	}
}

// A dependence is cut to its first values, in all its curves, and stays as it was.
func TestHeadOfDependence(t *testing.T) {
	curve := func(k float64) Curve {
		return Curve{Name: "c", Log: true, Mean: []float64{k, 2, 3}, Lo: []float64{k + 1, 5, 6}, Hi: []float64{k + 2, 8, 9}}
	}
	d := Dependence{Values: []float64{1, 2, 3}, Log: true, Targets: []Curve{curve(1), curve(2)}, Classes: []Curve{curve(3)}}
	got := fmt.Sprint(d.Head(1))
	want := fmt.Sprint(Dependence{Values: []float64{1}, Log: true,
		Targets: []Curve{{"c", true, []float64{1}, []float64{2}, []float64{3}}, {"c", true, []float64{2}, []float64{3}, []float64{4}}},
		Classes: []Curve{{"c", true, []float64{3}, []float64{4}, []float64{5}}}})
	if got != want || len(d.Values) != 3 || len(d.Targets[0].Mean) != 3 {
		t.Errorf("%s, want %s", got, want)
	}
}

// Scores of classes as tables and lists show them.
func TestScoresOfClasses(t *testing.T) {
	var all metric.Classification
	for i := range 40 {
		all.Add(i%2, dist.Categorical{0.75 - 0.5*float64(i%2), 0.25 + 0.5*float64(i%2)}, 1)
	}
	c := all.Scores()
	s := Scores{Target: "k", Classes: &c, Names: []string{"a", "b\x07"}, Baseline: &Baseline{LL: -0.69, Accuracy: 0.5}, Sets: []metric.CoverageScore{{Level: 0.9, Coverage: 0.95, Width: 1.5}}}
	var list []string
	for _, x := range s.List() {
		list = append(list, x.Name)
	}
	if got := strings.Join(list, "; "); got != "accuracy; log-likelihood; Brier score; calibration error; AUROC; 90 % sets cover; 90 % sets, size; accuracy of the most frequent class; log-likelihood without a network" {
		t.Error(got)
	}
	if x := s.List(); x[0].Text != fmt.Sprint(c.Accuracy) || !strings.HasPrefix(x[4].Text, "1.0000 ± ") || x[5].Text != "95.0 %" || x[6].Text != "1.5" || x[7].Text != "0.5" || x[8].Text != "-0.69" || !strings.Contains(x[3].Meaning, " expected by chance") {
		t.Errorf("%q", x)
	}
	plain := c
	plain.AUROC = nil
	plain.ECEChance = 0
	if x := (Scores{Classes: &plain}).List(); len(x) != 4 || x[3].Meaning != "mean distance between probability and frequency" {
		t.Errorf("%q", x)
	}
	var b bytes.Buffer
	if err := s.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"most frequent class", "accuracy 0.5, log-likelihood -0.69", "90 % sets", "cover 95.0 %", "mean size 1.5", "b\uFFFD"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x07") || strings.Contains(b.String(), "rarer") {
		t.Error(b.String())
	}
	many := Scores{Classes: &metric.ClassificationScores{}}
	for i := range 32 {
		many.Names = append(many.Names, fmt.Sprint("n", i))
		many.Classes.Classes = append(many.Classes.Classes, metric.ClassScores{Rows: i})
	}
	rows := many.ClassTable()
	if len(rows) != 31 || rows[1][0] != "n31" || rows[30][0] != "n2" || rows[1][2] != "–" {
		t.Errorf("%d lines, from %q to %q", len(rows), rows[1], rows[len(rows)-1])
	}
	b.Reset()
	if err := many.WriteTable(&b); err != nil || !strings.Contains(b.String(), "… and 2 rarer classes\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	many.Names, many.Classes.Classes = many.Names[:30], many.Classes.Classes[:30]
	if rows := many.ClassTable(); len(rows) != 31 || rows[1][0] != "n0" {
		t.Errorf("30 classes are in the order of %q", rows[1])
	}
	for _, bad := range []Scores{{}, {Numbers: &metric.RegressionScores{}, Classes: &c}} {
		refused(t, "scores", bad.check(), "are of neither numbers nor classes, or of both")
	}
	if (Scores{Numbers: &metric.RegressionScores{}}).ClassTable() != nil || (Scores{Classes: &c, Names: []string{"a"}}).ClassTable() != nil {
		t.Error("there is a table of classes without their scores")
	}
	counts := Scores{Numbers: &metric.RegressionScores{Intervals: []metric.CoverageScore{{Level: 0.9, Unbounded: 3}, {Level: 0.5, Width: 2}}}, Baseline: &Baseline{Counts: true}}
	text := fmt.Sprint(counts.List())
	for _, want := range []string{"{90 % intervals, width infinite 3 intervals have no bounds: too few rows to calibrate by}", "{50 % intervals, width 2 mean, in the target's unit}", "every row gets the negative binomial of the training rows"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

// The columns that a network of another program is stored with say what its rows show.
func TestColumnsOfNetwork(t *testing.T) {
	set := data.Set{X: gauss.Batch[float32]{Rows: 4, Width: 2, Mean: []float32{3, -1, 1, 5, 2, 0, 1, 1}}, Targets: 1, Y: []float32{2, 0, 1, 2}}
	network := func(out int, last nn.Layer) *model.Model {
		n, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: out}, last}, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		n.Facts.Steps = 7
		return n
	}
	numbers := network(1, nn.Noise{Start: 0.5})
	m, err := OfNetwork(numbers, set, NetworkTable{Columns: []string{"a", "y", "b"}, Targets: []string{"y"}, Named: true})
	if err != nil {
		t.Fatal(err)
	}
	r := m.Net.Report
	if m.Facts.Rows != 4 || r.Rows != 4 || !r.Imported || r.Members[0].Steps != 7 || r.Members[0].Noise != tabular.Learned || m.NoiseInWeights() || len(m.Sketch) != 4 || !m.Schema.Named || m.Schema.Rows != 4 {
		t.Errorf("%+v, %+v", m.Facts, r)
	}
	for i, want := range []schema.Stats{{SD: 1, Min: 1, Max: 3}, {SD: 1, Min: 0, Max: 2}, {SD: 1, Min: -1, Max: 5}} {
		if got := m.Schema.Columns[i].Stats; got != want {
			t.Errorf("column %d has %+v, want %+v", i, got, want)
		}
	}
	s, err := NetworkTable{Columns: []string{"y", "a", "b"}, Targets: []string{"y"}, Classes: 4}.schema(set)
	if err != nil || s.Task != schema.Classification || s.Named {
		t.Fatalf("%+v, %v", s, err)
	}
	if c := s.Columns[0]; c.Type != schema.Categorical || !slices.Equal(c.Levels, []string{"0", "1", "2", "3"}) || !slices.Equal(c.Counts, []int{1, 1, 2, 0}) {
		t.Errorf("%+v", c)
	}
	_, err = OfNetwork(numbers, set, NetworkTable{Columns: []string{"a", "a", "y"}, Targets: []string{"y"}})
	refused(t, "columns of one name", err, "the columns cannot be stored with the network: table schema: column a is listed twice")
	_, err = OfNetwork(numbers, set, NetworkTable{Columns: []string{"a", "y"}, Targets: []string{"y"}})
	refused(t, "a column less", err, "the table has 1 inputs, the network 2")
}

// Files whose facts are damaged are refused, and a model gives back what was corrected.
func TestModelsOfFiles(t *testing.T) {
	m := fitted(t)
	for want, change := range map[string]func(p *Model){
		"the hashes of the training rows are out of order":  func(p *Model) { p.Sketch = []uint64{2, 1} },
		"the hashes of the training rows are out of order ": func(p *Model) { p.Sketch = make([]uint64, sketchSize+1) },
		"are of neither numbers nor classes, or of both":    func(p *Model) { p.Facts.Held = []Scores{{Target: "y"}} },
	} {
		q := *m.Model
		bad := &Model{Model: &q, Facts: m.Facts}
		change(bad)
		path := filepath.Join(t.TempDir(), "m.utvi")
		if err := bad.Save(path); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path)
		refused(t, want, err, strings.TrimSpace(want))
		refused(t, want, err, "cannot load the model "+path+": ")
	}
	q := *m.Model
	q.Facts = json.RawMessage(`{"colour":1}`)
	path := filepath.Join(t.TempDir(), "m.utvi")
	if err := q.Save(path); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path)
	refused(t, "unknown facts", err, `unknown field "colour"`)
	_, err = Load(filepath.Join(t.TempDir(), "none"))
	refused(t, "no file", err, "no such file")
	if got := m.CalibrationText(); got != "" {
		t.Errorf("a model that is not calibrated: %s", got)
	}
	p, err := m.WithCalibration([]calibrate.Calibration{{Scale: &calibrate.Scale{Rows: 10, Factor: 2}, Conformal: &calibrate.Conformal{Ranked: calibrate.Ranked{Rows: 3, Scores: []float64{1, 2, 3}}}}})
	if err != nil {
		t.Fatal(err)
	}
	m.Model = p
	if got := m.CalibrationText(); !strings.HasPrefix(got, "σ × 2 fitted on 10 rows; ") {
		t.Error(got)
	}
	if got := m.Shortfalls(); len(got) != 2 || !strings.HasPrefix(got[0], "conformal intervals of 90 %") || !strings.HasPrefix(got[1], "conformal intervals of 95 %") {
		t.Errorf("%q", got)
	}
	if err := m.Uncalibrate(); err != nil || m.Calibration != nil {
		t.Errorf("%v, %v", m.Calibration, err)
	}
	two := []schema.Column{{Name: "a"}, {Name: "b"}}
	if got := describe(two, make([]calibrate.Calibration, 2)); got != "a: none; b: none" {
		t.Error(got)
	}
}

// Tables that do not fit the model, or settings that do not, are refused before anything is done.
func TestCalibrateRefuses(t *testing.T) {
	m := fitted(t)
	text := example(t, 60, 3)
	head, _, _ := strings.Cut(text, "\n")
	for _, c := range []struct {
		text    string
		methods []Method
		want    string
	}{
		{text, []Method{"magic"}, `unknown method "magic" to calibrate a regression; choose from scale, isotonic, conformal, asymmetric`},
		{text, []Method{Temperature}, `unknown method "temperature" to calibrate a regression`},
		{text, nil, "no calibration method is given"},
		{text, []Method{Conformal, Asymmetric}, "exclude each other"},
		{"x,y\n1,2\n", []Method{Scale}, "a.csv lacks the columns"},
		{strings.Replace(text, "strength", "weight", 1), []Method{Scale}, "a.csv lacks the target strength, which predictions are compared with"},
		{strings.Join(strings.Split(text, "\n")[:6], "\n"), []Method{Scale}, "a.csv cannot calibrate the model: a scale of the standard deviation needs at least 10 held-out rows; there are 5"},
	} {
		f := read(t, c.text)
		_, err := m.Calibrate(t.Context(), f.Rows(nil), c.methods, pool(t))
		refused(t, fmt.Sprintf("%.60q by %v", c.text, c.methods), err, strings.Replace(c.want, "a.csv", f.Header().File, 1))
	}
	if m.Calibration != nil {
		t.Error("a calibration that was refused is kept")
	}
	if got := fmt.Sprint(m.DefaultMethods()); got != "[scale conformal]" {
		t.Error(got)
	}
	classes := &Model{Model: &predict.Model{Schema: &schema.Schema{Task: schema.Classification}}}
	if got := fmt.Sprint(classes.DefaultMethods()); got != "[temperature]" {
		t.Error(got)
	}
	refused(t, "classes", classes.CheckMethods([]Method{Scale}), `unknown method "scale" to calibrate a classification; choose from temperature, conformal`)
	_ = head
	// Columns without names are matched by position, and that is said.
	_, body, _ := strings.Cut(text, "\n")
	r, err := table.NewReader(strings.NewReader(body), "b.csv", table.Options{Header: table.NoHeader})
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Calibrate(t.Context(), r, []Method{Scale}, pool(t))
	if err != nil || c.Rows != 60 || c.Used != 60 || !slices.Contains(c.Notes, byPosition) || len(c.Before) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = m.Calibrate(t.Context(), read(t, text).Rows(nil), []Method{Scale}, pool(t))
	if err != nil || slices.Contains(c.Notes, byPosition) || c.Trained != 0 || c.Seen {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = m.Calibrate(t.Context(), read(t, example(t, 300, 1)).Rows(nil), []Method{Scale}, pool(t))
	if err != nil || !(c.Trained > 0.7) || !c.Seen {
		t.Errorf("rows that the model was trained with: %+v, %v", c, err)
	}
}

// The settings of a finished fit say what was chosen where they were open, and only there.
func TestChosenSettings(t *testing.T) {
	m := fitted(t)
	c := m.Facts.Config
	c.Inputs = nil
	var b bytes.Buffer
	if err := c.WriteYAML(&b, m); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if lines[0] != "# A setting that is 0 or empty is found in the table, or is the default." || lines[1] != "# The comment after it says what was chosen." {
		t.Errorf("it begins with %q", lines[:2])
	}
	has := func(want string) {
		t.Helper()
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) == want }) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	member := m.Net.Report.Members[0]
	has("task: auto # regression")
	has("refit: auto # always")
	has("inputs: [] # temperature, minutes, resin")
	has("targets: [strength]")
	has("noise: " + member.Noise)
	has(fmt.Sprintf("rate: 0 # %v", m.Net.Report.Config.Rate))
	has(fmt.Sprintf("width: %d", quick.Width))
	has("bins: 0 # none")
	choices := m.choices()
	for name, want := range map[string]string{"network.kl": fmt.Sprint(member.KL), "network.depth": fmt.Sprint(member.Depth), "network.width": fmt.Sprint(member.Width), "network.activation": member.Activation, "network.waves": "none"} {
		if choices[name] != want {
			t.Errorf("%s is %q, want %q", name, choices[name], want)
		}
	}
	path := filepath.Join(t.TempDir(), "fit.yaml")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if back, err := LoadConfig(path); err != nil || fmt.Sprint(back.complete()) != fmt.Sprint(c.complete()) {
		t.Errorf("%v\n%+v, want\n%+v", err, back, c)
	}
	m.Facts.Refitted = 0
	if got := m.choices()["refit"]; got != "never" {
		t.Error(got)
	}
	_, err := LoadConfig(filepath.Join(t.TempDir(), "none"))
	refused(t, "no file", err, "none")
}

// Columns that cannot be compared have not moved.
func TestMovesOfNothing(t *testing.T) {
	nan := math.NaN()
	c := &told{}
	for _, x := range []struct{ was, is []float64 }{{[]float64{nan}, []float64{1}}, {[]float64{1}, []float64{nan}}, {nil, nil}} {
		c.value = x.was
		m := Move{}
		m.numbers(c, []float64{1}, x.is)
		if m.Unlikely != 1 || m.Distance != 0 {
			t.Errorf("%+v: %+v", x, m)
		}
	}
}

// The first of the rows held out keep all that belongs to them.
func TestFirstOfHeldOut(t *testing.T) {
	x := gauss.New[float32](3, 2)
	for i := range x.Mean {
		x.Mean[i], x.Var[i] = float32(i), float32(10+i)
	}
	h := &holdout{rows: []int{7, 8, 9}, set: &data.Set{X: x, Targets: 2, Y: []float32{1, 2, 3, 4, 5, 6}, Weights: []float32{0.5, 2, 1}}}
	if h.first(3) != h || h.first(4) != h {
		t.Error("all rows are not the rows")
	}
	two := h.first(2)
	if !slices.Equal(two.rows, []int{7, 8}) || two.set.X.Rows != 2 || two.set.X.Width != 2 || !slices.Equal(two.set.X.Mean, []float32{0, 1, 2, 3}) || !slices.Equal(two.set.X.Var, []float32{10, 11, 12, 13}) ||
		!slices.Equal(two.set.Y, []float32{1, 2, 3, 4}) || !slices.Equal(two.set.Weights, []float32{0.5, 2}) || h.set.X.Rows != 3 {
		t.Errorf("%+v", two.set)
	}
	a := h.answers(1, -1)
	if !slices.Equal(a.y, []float32{3, 4, 5, 6}) || a.weight(0) != 2 || a.weight(1) != 1 {
		t.Errorf("from the second row on: %v, weights %v and %v", a.y, a.weight(0), a.weight(1))
	}
	h.set.X.Var = nil
	h.set.Weights = nil
	if two := h.first(2); two.set.X.Var != nil || two.set.Weights != nil {
		t.Errorf("%+v", two.set)
	}
}

// Of the columns that rows are sorted by before they are mixed, the class comes first.
func TestClassesComeFirst(t *testing.T) {
	input, class := &told{Column: &schema.Column{Role: schema.Input}}, &told{Column: &schema.Column{Role: schema.Target}}
	for _, classes := range []bool{true, false} {
		x := &telling{class: classes}
		x.addTag(input)
		x.addTag(class)
		if (x.tags[0] == class) != classes || len(x.tags) != 2 {
			t.Errorf("classes %v: the first is the class: %v", classes, x.tags[0] == class)
		}
	}
}

// Rows in the order of a time are learned from in this order.
func TestOrderOfTime(t *testing.T) {
	f := read(t, "when,x,y\n2026-03-01,1,2\n2026-01-01,2,1\n2026-02-01,3,5\n")
	c := Config{Targets: []string{"y"}, Time: "when"}
	s, err := schema.Infer(f.Rows(nil), c.columns())
	if err != nil {
		t.Fatal(err)
	}
	d, err := trainingData(f, []int{0, 1, 2}, s, c)
	if err != nil || !d.Ordered || !(d.Y[0] < d.Y[2] && d.Y[2] < d.Y[1]) {
		t.Errorf("%v, ordered %v, %v", d.Y, d.Ordered, err)
	}
	c.Time = ""
	d, err = trainingData(f, []int{0, 1, 2}, s, c)
	if err != nil || d.Ordered || !(d.Y[1] < d.Y[0] && d.Y[0] < d.Y[2]) {
		t.Errorf("%v, ordered %v, %v", d.Y, d.Ordered, err)
	}
}

// Scores of rows in parts are those of all rows: what was left out, where variances come from, what
// intervals and sets cover.
func TestTalliesOfParts(t *testing.T) {
	m := fitted(t)
	p, err := m.WithCalibration([]calibrate.Calibration{{Conformal: &calibrate.Conformal{Ranked: calibrate.Ranked{Rows: 3, Scores: []float64{1e-9, 1e-8, 1e6}}}}})
	if err != nil {
		t.Fatal(err)
	}
	m.Model = p
	lines := strings.SplitAfter(example(t, 40, 3), "\n")
	lines[30] = "140,1,long,amber,40\n"
	lines[31] = "150,1,20,amber,\n"
	f := read(t, strings.Join(lines, ""))
	seq := seq(40)
	part := func(m *Model, f *table.Frame, rows []int) *tally {
		x, err := m.tally(t.Context(), f.Rows(rows), pool(t))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	all, second := part(m, f, seq[:20]), part(m, f, seq[20:])
	all.merge(second)
	e := all.close(m)
	x := e.Targets[0]
	if e.Rows != 38 || e.Unread != 1 || e.NoTarget != 1 || x.Numbers.Rows != 38 || len(x.Sample) != 38 || x.Baseline.Gain.SE == 0 || e.NotFinite != 0 {
		t.Errorf("%+v, %d of the sample", e, len(x.Sample))
	}
	v := x.Variance
	if sum := v.Weights + v.Inputs + v.Noise; !(v.Weights > 0 && v.Inputs > 0 && v.Noise > 0) || math.Abs(math.Sqrt(sum)-x.Numbers.Sharpness) > 1e-3*x.Numbers.Sharpness {
		t.Errorf("the parts of the variance are %+v, the sharpness %g", v, x.Numbers.Sharpness)
	}
	if i := x.Numbers.Intervals; i[0].Coverage != 0 || i[1].Unbounded != 38 || i[2].Unbounded != 38 {
		t.Errorf("conformal intervals cover %+v", i)
	}
	first := part(m, f, seq[:20]).close(m).Targets[0].Numbers.RMSE.Value
	rest := second.close(m).Targets[0].Numbers.RMSE.Value
	if got, want := x.Numbers.RMSE.Value, math.Sqrt((20*first*first+18*rest*rest)/38); math.Abs(got-want) > 1e-9*want {
		t.Errorf("the RMSE is %g, of the parts %g", got, want)
	}

	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,%s\n", i%12, []string{"low", "high"}[i%12/6])
	}
	classes := read(t, b.String())
	r, err := Run(t.Context(), classes, Config{Targets: []string{"y"}, Holdout: -1, Network: quickClasses()}, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	m = r.Model
	m.Model, err = m.WithCalibration([]calibrate.Calibration{{Sets: &calibrate.Sets{Ranked: calibrate.Ranked{Rows: 3, Scores: []float64{0.999999, 0.999999, 1}}}}})
	if err != nil {
		t.Fatal(err)
	}
	all = part(m, classes, seq[:20])
	all.merge(part(m, classes, seq[20:]))
	e = all.close(m)
	x = e.Targets[0]
	n := 0
	for _, row := range x.Confusion {
		for _, k := range row {
			n += k
		}
	}
	if e.Rows != 40 || n != 40 || len(x.Sets) != 3 || x.Sets[0].Coverage != 1 || !(x.Baseline.Gain.SE > 0) || x.Baseline.Accuracy != 0.55 && x.Baseline.Accuracy != 0.45 || !slices.Equal(x.Names, []string{"high", "low"}) {
		t.Errorf("%+v: %v, %+v, baseline %+v", e, x.Confusion, x.Sets, x.Baseline)
	}
}

// Columns are remembered as the schema reads them, wherever they stand in the table; those of few
// values are not mixed.
func TestTellingReadsColumns(t *testing.T) {
	m := fitted(t)
	f := read(t, example(t, 30, 5))
	x := newTelling(f, m.Schema, m.Net)
	turned := newTelling(read(t, "strength,resin,minutes,temperature_std,temperature\n40,amber,20,1,140\n41,birch,21,1,150\n"), m.Schema, m.Net)
	for i, name := range []string{"temperature", "temperature_std", "minutes", "resin", "strength"} {
		if x.columns[i].Name != name || x.columns[i].at != i || turned.columns[i].at != 4-i {
			t.Errorf("column %d is %s, read at %d, and at %d of a table in another order", i, x.columns[i].Name, x.columns[i].at, turned.columns[i].at)
		}
	}
	if got := turned.columns[0].value; !slices.Equal(got, []float64{140, 150}) {
		t.Errorf("the temperatures are %v", got)
	}
	if got := turned.columns[3].text; !slices.Equal(got, []string{"amber", "birch"}) || !slices.Equal(turned.columns[3].tag, []int{0, 1}) {
		t.Errorf("the resins are %q", got)
	}
	var mixed []string
	for _, c := range x.numbers {
		mixed = append(mixed, c.Name)
	}
	if got := strings.Join(mixed, " "); !strings.Contains(got, "temperature") || !strings.Contains(got, "strength") || strings.Contains(got, "resin") || len(turned.numbers) != 0 {
		t.Errorf("mixed are %s; of two rows %d columns", got, len(turned.numbers))
	}
	for n, want := range map[int]int{fewValues: 0, fewValues + 1: 1} {
		text := "x,y\n"
		for i := range 30 {
			text += fmt.Sprintf("%d,%d\n", i%n, i%2)
		}
		f := read(t, text)
		s, err := schema.Infer(f.Rows(nil), schema.Spec{Targets: []string{"y"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := newTelling(f, s, m.Net); len(got.numbers) != want || !got.class || len(got.tags) != 2-want || got.tags[0].Role != schema.Target {
			t.Errorf("of %d values, %d columns are mixed, %d are not", n, len(got.numbers), len(got.tags))
		}
	}
}

// A row of a class that only held-out rows have is learned from, unless the rows are split by groups
// or by time.
func TestClassesChangeSides(t *testing.T) {
	f := read(t, "x,g,y\n1,a,k\n2,a,l\n3,a,k\n4,b,l\n5,b,m\n6,b,k\n7,c,k\n8,c,l\n")
	for _, c := range []struct {
		spec schema.Spec
		want int // rows to learn from
	}{{schema.Spec{Targets: []string{"y"}}, 6}, {schema.Spec{Targets: []string{"y"}, Group: "g"}, 5}, {schema.Spec{Targets: []string{"x"}}, 5}} {
		p, s, err := parted{frame: f, train: []int{0, 1, 2, 3, 6}, heldOut: []int{4, 5, 7}}.learnColumns(c.spec)
		if err != nil || len(p.train) != c.want || len(p.heldOut) != 8-c.want {
			t.Errorf("%+v: %d rows to learn from, %v", c.spec, len(p.train), err)
			continue
		}
		if k := len(s.Classes()); s.Task == schema.Classification && k != c.want-3 {
			t.Errorf("%+v: %d classes", c.spec, k)
		}
	}
}
