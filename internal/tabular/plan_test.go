package tabular

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
)

// rowsOf are n rows of w inputs.
func rowsOf(n, w int) Data {
	return Data{Set: data.Set{X: gauss.Fixed(w, make([]float32, n*w)), Y: make([]float32, n)}}
}

// The number of rows decides what the configuration leaves open.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		rows                             int
		batch, steps, trial, folds, used int
		apart                            bool
		width, candidates                int
	}{
		{10, 64, 1250, 1250, 10, 10, false, 50, 11},
		{199, 64, 1250, 1250, 10, 10, false, 50, 11},
		{200, 64, 1250, 1250, 10, 5, false, 50, 11},
		{500, 64, 1250, 1250, 10, 5, false, 50, 11},
		{600, 64, 1250, 1250, 8, 4, false, 50, 11},
		{833, 64, 1250, 1250, 8, 3, false, 50, 11},
		{834, 64, 1250, 1250, 8, 2, false, 50, 7},
		{4999, 64, 1250, 1250, 8, 2, false, 50, 7},
		{5000, 128, 3889, 1296, 16, 1, true, 100, 6},
		{49_999, 128, 12298, 4099, 16, 1, true, 100, 6},
		{50_000, 256, 12298, 4099, 16, 1, true, 100, 6},
		{1_000_000, 256, 27_500, 9_166, 16, 1, true, 100, 6},
	} {
		p := Config{}.plan(rowsOf(c.rows, 1))
		if p.Batch != c.batch || p.Steps != c.steps || p.trial != c.trial || p.folds != c.folds || p.used != c.used || p.apart != c.apart {
			t.Errorf("%d rows: %+v", c.rows, p)
		}
		if p.Ensemble != 5 || p.Rate != 5e-3 || p.candidate[0].Width != c.width || len(p.candidate) != c.candidates {
			t.Errorf("%d rows: %d members, rate %v, %d candidates, the first %v", c.rows, p.Ensemble, p.Rate, len(p.candidate), p.candidate[0])
		}
	}
	ordered := rowsOf(100, 1)
	ordered.Ordered = true
	if p := (Config{}).plan(ordered); p.used != 1 || p.folds != 8 {
		t.Errorf("rows in order: %d of %d folds", p.used, p.folds)
	}
	given := Config{Ensemble: 2, Rate: 0.1, Batch: 7, Steps: 31, Validation: 0.3}
	for _, n := range []int{100, 60_000} {
		p := given.plan(rowsOf(n, 1))
		if p.Ensemble != 2 || p.Rate != 0.1 || p.Batch != 7 || p.Steps != 31 || p.folds != 3 {
			t.Errorf("what was given became %+v", p)
		}
	}
	if p := (Config{Steps: 2}).plan(rowsOf(5000, 1)); p.trial != 1 {
		t.Errorf("a trial of %d steps", p.trial)
	}
	if p := (Config{Validation: 0.5}).plan(rowsOf(100, 1)); p.folds != 2 || p.used != 2 {
		t.Errorf("half of the rows is one of %d folds, of which %d are held out", p.folds, p.used)
	}
}

// What is set is the same in all candidates; those that become equal are tried once.
func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		Config
		rows    int
		classes bool
		want    int
	}{
		{Config{}, 100, true, 10},
		{Config{}, 1000, true, 8},
		{Config{}, 6000, true, 6},
		{Config{}, 833, false, 11},
		{Config{}, 834, false, 7},
		{Config{KL: 0.5}, 1000, false, 7},
		{Config{KL: 0.5, Bins: -1}, 1000, false, 6},
		{Config{KL: 0.5, Bins: -1, Waves: -1}, 1000, false, 4},
		{Config{KL: 0.5, Bins: -1, Waves: -1}, 100, false, 3}, // shorter trainings of the same networks are not tried
		{Config{Waves: 3}, 1000, false, 6},
		{Config{Waves: 3}, 100, false, 10},
		{Config{Noise: Learned, KL: 0.5, Activation: "tanh", Width: 7, Depth: 3, Rule: "gh(5)"}, 100, false, 1},
		{Config{Depth: 2, Activation: "gelu"}, 100, true, 6},
	} {
		d := rowsOf(c.rows, 1)
		d.X.Width = 3
		if c.classes {
			d.Classes = 2
		}
		set := c.candidates(d)
		if len(set) != c.want {
			t.Errorf("%+v: %d candidates, want %d: %v", c.Config, len(set), c.want, set)
		}
		for i, x := range set {
			if c.Noise != "" && x.Noise != c.Noise || c.KL != 0 && x.KL != c.KL || c.Activation != "" && x.Activation != c.Activation ||
				c.Width != 0 && x.Width != c.Width || c.Depth != 0 && x.Depth != c.Depth || x.Rule != c.Rule {
				t.Errorf("%+v: %v", c.Config, x)
			}
			if c.classes != (x.Noise == "") || slices.Contains(set[:i], x) {
				t.Errorf("%+v: %v", c.Config, set)
			}
		}
	}
	for _, x := range []struct{ shorter, others, want int }{{0, 1250, 1250}, {1, 1250, 1250}, {2, 1250, 625}, {4, 1250, 312}, {4, 20, 8}, {4, 5, 5}} {
		if n := (Candidate{shorter: x.shorter}).steps(x.others); n != x.want {
			t.Errorf("a training %d times as short as one of %d steps has %d, want %d", x.shorter, x.others, n, x.want)
		}
	}
	if s := (Candidate{Noise: Learned, KL: 0.3, Activation: "gelu", Width: 50, Depth: 2}).String(); s != "learned 2×50 gelu, KL 0.3" {
		t.Error(s)
	}
	if s := (Candidate{KL: 1, Activation: "gelu", Width: 50, Depth: 2}).String(); s != "2×50 gelu, KL 1" {
		t.Error(s)
	}
	// (inputs·w + (depth−1)·w² + 300)·(batch + 20)
	if w := (Candidate{Width: 10, Depth: 3}).work(4, 64); w != (4*10+2*100+300)*84 {
		t.Errorf("the work is %v", w)
	}
}

// noiseOf is the variance of the noise that a network predicts for its last target.
func noiseOf(t *testing.T, m *model.Model, l likelihood.Likelihood) float64 {
	t.Helper()
	m.Likelihood = l
	e, err := model.NewEnsemble(m)
	if err != nil {
		t.Fatal(err)
	}
	h, err := e.NewHead(1)
	if err != nil {
		t.Fatal(err)
	}
	p := h.Predict(gauss.Fixed(m.Inputs(), make([]float32, m.Inputs())))
	return float64(p.Noise[p.Width-1])
}

// The networks of candidates have the outputs their likelihood asks for.
func TestCandidateNetworks(t *testing.T) {
	d := rowsOf(10, 3)
	d.Targets = 2
	for noise, outputs := range map[string]int{Embedded: 2, Learned: 2, Heteroscedastic: 4} {
		m, l, err := Candidate{Noise: noise, KL: 1, Activation: "tanh", Width: 5, Depth: 2, Independent: true}.net(d, 1)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := l.Targets(m.Outputs()); m.Outputs() != outputs || n != 2 || err != nil {
			t.Errorf("%s: %d outputs, %d targets, %v", noise, m.Outputs(), n, err)
		}
		want := map[string]float64{Learned: 0.09, Embedded: 0}
		if v := noiseOf(t, m, l); noise == Heteroscedastic && !(v > 0) || noise != Heteroscedastic && math.Abs(v-want[noise]) > 1e-6 {
			t.Errorf("%s: noise %v", noise, v)
		}
		if len(m.Config.Layers) != 5 && (noise != Learned || len(m.Config.Layers) != 6) {
			t.Errorf("%s: %d layers", noise, len(m.Config.Layers))
		}
	}
	correlated, by, err := Candidate{KL: 1, Noise: Learned, Activation: "tanh", Width: 5, Depth: 2}.net(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := correlated.Config.Layers[0].(nn.Correlated); !ok || len(correlated.Config.Layers) != 2 || math.Abs(noiseOf(t, correlated, by)-0.09) > 1e-6 {
		t.Errorf("correlated units: %v, learned noise %v", correlated.Config.Layers, noiseOf(t, correlated, by))
	}
	d.Targets, d.Classes = 0, 3
	m, l, err := Candidate{KL: 1, Activation: "tanh", Rule: "gh(5)", Width: 5, Depth: 1}.net(d, 1)
	if err != nil || m.Outputs() != 3 || l.String() != "categorical" {
		t.Errorf("classes: %v, %v", l, err)
	}
	for _, c := range []Candidate{{KL: 1, Activation: "tan", Width: 5, Depth: 1}, {KL: 1, Activation: "tanh", Rule: "gh", Width: 5, Depth: 1}} {
		if _, _, err := c.net(d, 1); err == nil {
			t.Errorf("%v was built", c)
		}
	}
}

// Rows of a group are in one fold, and folds are of one size.
func TestFolds(t *testing.T) {
	d := rowsOf(40, 1)
	count := func(fold []int, n int) []int {
		c := make([]int, n)
		for _, f := range fold {
			c[f]++
		}
		return c
	}
	if c := count(d.folds(8, rng.New(1)), 8); slices.Min(c) != 5 || slices.Max(c) != 5 {
		t.Errorf("folds of %v rows", c)
	}
	if slices.Equal(d.folds(8, rng.New(1)), d.folds(8, rng.New(2))) {
		t.Error("two seeds give the same folds")
	}
	d.Groups = make([]int32, 40)
	for i := range d.Groups {
		d.Groups[i] = int32(100 - i%10)
	}
	fold := d.folds(5, rng.New(1))
	for i, f := range fold {
		if f != fold[i%10] {
			t.Errorf("row %d is in fold %d, its group in %d", i, f, fold[i%10])
		}
	}
	if c := count(fold, 5); slices.Min(c) != 8 || slices.Max(c) != 8 {
		t.Errorf("folds of %v rows", c)
	}
	d.Ordered = true
	for n, held := range map[int]int{8: 5, 30: 1, 100: 1} {
		fold := d.folds(n, rng.New(1))
		in, out := split(fold, 0)
		if len(out) != held || len(in) != 40-held || out[0] != 40-held || in[len(in)-1] != 39-held {
			t.Errorf("%d folds in order hold out %v", n, out)
		}
	}
}

func TestPick(t *testing.T) {
	d := Data{Set: data.Set{X: gauss.Batch[float32]{Rows: 3, Width: 2, Mean: []float32{1, 2, 3, 4, 5, 6}, Var: []float32{10, 20, 30, 40, 50, 60}},
		Y: []float32{7, 8, 9, 10, 11, 12}, Targets: 2, Weights: []float32{1, 2, 5}}, Groups: []int32{1, 2, 3}}
	p := d.pick([]int{2, 0})
	if got, want := fmt.Sprint(p.X.Rows, p.X.Width, p.X.Mean, p.X.Var, p.Y, p.Weights, p.Groups), "2 2 [5 6 1 2] [50 60 10 20] [11 12 7 8] [5 1] []"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if d.total() != 8 || d.weight(1) != 2 || rowsOf(3, 1).total() != 3 {
		t.Errorf("the rows count for %v", d.total())
	}
	// Weights of mean 1 come last.
	if k, y := d.table(); k != 3 || fmt.Sprint(y) != "[7 8 0.375 9 10 0.75 11 12 1.875]" {
		t.Errorf("%d targets %v", k, y)
	}
	d.Weights = nil
	if k, y := d.table(); k != 2 || !slices.Equal(y, d.Y) {
		t.Errorf("%d targets %v", k, y)
	}
}

// Data that differ in anything have another digest.
func TestDigest(t *testing.T) {
	make1 := func() Data {
		return Data{Set: data.Set{X: gauss.New[float32](2, 2), Y: []float32{1, 2}, Weights: []float32{1, 1}}, Groups: []int32{1, 2}}
	}
	seen := map[string]string{make1().digest(): "as it was"}
	for what, change := range map[string]func(d *Data){
		"mean": func(d *Data) { d.X.Mean[3] = 1 }, "variance": func(d *Data) { d.X.Var[3] = 1 }, "target": func(d *Data) { d.Y[1] = 3 },
		"weight": func(d *Data) { d.Weights[1] = 2 }, "group": func(d *Data) { d.Groups[1] = 1 }, "order": func(d *Data) { d.Ordered = true },
		"classes": func(d *Data) { d.Classes = 3 }, "no variance": func(d *Data) { d.X.Var = nil }, "shape": func(d *Data) { d.X.Rows, d.X.Width = 4, 1 },
		"no weights": func(d *Data) { d.Weights = nil },
	} {
		d := make1()
		change(&d)
		if was, ok := seen[d.digest()]; ok {
			t.Errorf("%s has the digest of %s", what, was)
		}
		seen[d.digest()] = what
	}
	if same := make1(); seen[same.digest()] != "as it was" {
		t.Error("the same data have two digests")
	}
}

func TestDataCheck(t *testing.T) {
	nan := float32(math.NaN())
	for want, change := range map[string]func(d *Data){
		"there are 9 rows":          func(d *Data) { *d = rowsOf(9, 1) },
		"10 rows of 0 inputs":       func(d *Data) { d.X.Width = 0 },
		"need 20 numbers, not 19":   func(d *Data) { d.X.Mean = d.X.Mean[1:] },
		"variances or none, not 3":  func(d *Data) { d.X.Var = make([]float32, 3) },
		"and 1 classes; there must": func(d *Data) { d.Classes = 1 },
		"2 targets and 3 classes":   func(d *Data) { d.Targets, d.Classes = 2, 3 },
		"need 20 numbers, not 10":   func(d *Data) { d.Targets = 2 },
		"weights or none, not 3":    func(d *Data) { d.Weights = make([]float32, 3) },
		"there are 10 rows and 3 groups; give one group for each row": func(d *Data) { d.Groups = make([]int32, 3) },
		"input 1 of row 3 is NaN":                                     func(d *Data) { d.X.Mean[7] = nan },
		"the variance of input 0 of row 2 is -1":                      func(d *Data) { d.X.Var = make([]float32, 20); d.X.Var[4] = -1 },
		"target 0 of row 9 is NaN":                                    func(d *Data) { d.Y[9] = nan },
		"the class of row 2 is 3":                                     func(d *Data) { d.Classes = 3; d.Y[2] = 3 },
		"the class of row 0 is 0.5":                                   func(d *Data) { d.Classes = 3; d.Y[0] = 0.5 },
		"the class of row 1 is -1":                                    func(d *Data) { d.Classes = 3; d.Y[1] = -1 },
		"all 10 rows are in one group":                                func(d *Data) { d.Groups = make([]int32, 10) },
		"the weight of row 4 is -1":                                   func(d *Data) { d.Weights = make([]float32, 10); d.Weights[4] = -1 },
		"all weights are 0":                                           func(d *Data) { d.Weights = make([]float32, 10) },
		"a row has -1 targets":                                        func(d *Data) { d.Targets = -1 },
	} {
		d := rowsOf(10, 2)
		change(&d)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	d := rowsOf(10, 2)
	d.Groups, d.Ordered = make([]int32, 10), true
	if err := d.Check(); err != nil {
		t.Errorf("one group in order: %v", err)
	}
}

func TestConfigCheck(t *testing.T) {
	for want, c := range map[string]Config{
		"the ensemble is 101; it must be 1 to 100": {Ensemble: 101}, "the width is -1": {Width: -1}, "the depth is 101": {Depth: 101},
		"the number of steps is -1": {Steps: -1}, "the batch is 1048577": {Batch: 1<<20 + 1}, "parallel is -1": {Parallel: -1},
		"the weight of the KL is -1": {KL: -1}, "the weight of the KL is +Inf": {KL: math.Inf(1)}, "the learning rate is -1": {Rate: -1}, "the learning rate is NaN": {Rate: math.NaN()},
		"held out is 0.009": {Validation: 0.009}, "held out is 0.51": {Validation: 0.51},
		`unknown noise "x"`: {Noise: "x"}, "the activation: ": {Activation: "no such"}, "the rule: ": {Rule: "x"},
	} {
		if err := c.Check(false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	full := Config{Ensemble: 100, Width: 1 << 16, Depth: 100, Steps: 1e9, Batch: 1 << 20, Parallel: 1 << 16, KL: 2, Rate: 1, Validation: 0.01, Noise: Learned, Activation: "tanh", Rule: "gh(5)"}
	for _, c := range []Config{{}, full, {Validation: 0.5}} {
		if err := c.Check(false); err != nil {
			t.Error(err)
		}
	}
	if (Config{Noise: Learned}).Check(true) == nil {
		t.Error("classes have noise")
	}
}

// Every fold has its share of a rare class.
func TestFoldsOfClasses(t *testing.T) {
	d := rowsOf(160, 1)
	d.Classes = 2
	for i := range d.Y {
		d.Y[i] = 0
		if i%10 == 0 {
			d.Y[i] = 1
		}
	}
	for seed := range uint64(20) {
		rare := make([]int, 8)
		for i, f := range d.folds(8, rng.New(seed)) {
			if d.Y[i] == 1 {
				rare[f]++
			}
		}
		for f, n := range rare {
			if n != 2 {
				t.Fatalf("seed %d: fold %d has %d rows of the rare class, want 2: %v", seed, f, n, rare)
			}
		}
	}
}

// Tables with embedded columns also try networks without these. What is trained so does not differ
// between levels.
func TestCandidatesWithoutLevels(t *testing.T) {
	d := rowsOf(1000, 2)
	d.Levels = []int{0, 70}
	all := (Config{}).candidates(d)
	var without, evidence int
	for _, c := range all {
		if c.NoLevels {
			without++
		}
		if c.KL == 1 && c.Depth > 0 {
			evidence++
		}
	}
	if without != 2 || evidence != 1 {
		t.Errorf("%d candidates without levels, %d with the KL of the evidence: %v", without, evidence, all)
	}
	c := all[0]
	c.NoLevels = true
	net, _, err := c.net(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := gauss.Fixed(2, []float32{0.5, 0, 0.5, 69})
	out := net.NewPredictor(2).Predict(x)
	if out.Mean[0] != out.Mean[out.Width] || out.Var[0] != out.Var[out.Width] {
		t.Errorf("levels matter: %v, %v", out.Mean, out.Var)
	}
}

// A candidate that overfits within a trial is trained no longer as a member.
func TestMembersStopWhereTrialsDid(t *testing.T) {
	r := &run{plan: plan{Config: Config{Steps: 900}, trial: 300}}
	if got := r.schedule(Trial{Stop: 1}); got != 300 {
		t.Errorf("a trial that stopped at once has members with a schedule of %d steps", got)
	}
	if got := r.schedule(Trial{Stop: 8}); got != 900 {
		t.Errorf("a trial that never stopped has members with a schedule of %d steps", got)
	}
}
