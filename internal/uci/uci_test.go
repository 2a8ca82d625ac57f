package uci_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/dist"
	"utvi/internal/tabular"
	"utvi/internal/uci"
	"utvi/rng"
)

// write makes a folder with one set of two splits: y = 100 + 10(a − 2b) + noise, in
// the first column, and a constant column.
func write(t *testing.T, change func(files map[string]string)) string {
	t.Helper()
	dir := t.TempDir()
	var data, train, test strings.Builder
	key := rng.New(1)
	for i := range 120 {
		n := func(k int) float64 { return rng.Normal(key, uint64(3*i+k)) }
		a, b := n(0), n(1)
		fmt.Fprintf(&data, " %.6f  %.6f 7 %.6f\n", 100+10*(a-2*b)+3*n(2), a, b)
		if i < 20 {
			fmt.Fprintf(&test, "%d\n", i)
		} else {
			fmt.Fprintf(&train, "%.18e\n", float64(i))
		}
	}
	files := map[string]string{
		"data.txt": data.String() + "\n\n", "index_features.txt": "1.0\n2.0\n3.0\n", "index_target.txt": "0.000e+00\n",
		"index_train_0.txt": train.String(), "index_test_0.txt": test.String() + "\n", "n_splits.txt": "1\n\n", "n_hidden.txt": "10",
	}
	change(files)
	if err := os.Mkdir(filepath.Join(dir, "lines"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "lines", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRunSplit(t *testing.T) {
	dir := write(t, func(map[string]string) {})
	names, err := uci.Names(dir)
	if err != nil || len(names) != 1 || names[0] != "lines" {
		t.Fatalf("sets %v, %v", names, err)
	}
	c := tabular.Config{Ensemble: 2, Noise: tabular.Learned, Activation: "leaky-relu", KL: 0.3, Width: 10, Depth: 1, Steps: 1000, Seed: 1}
	r, err := uci.RunSplit(t.Context(), dir, "lines", 0, c, false, false)
	if err != nil {
		t.Fatal(err)
	}
	// The true model scores −½ ln 2πe·9 = −2.52.
	if r.Rows != 20 || math.Abs(r.LL+2.52) > 0.5 || math.Abs(r.RMSE-3) > 1 || r.Covered < 14 || r.Seconds <= 0 {
		t.Errorf("%+v", r)
	}
	covered, rows := 0, 0
	for _, f := range r.Fifths {
		covered, rows = covered+f.Covered, rows+f.Rows
	}
	if covered != r.Covered || rows != r.Rows || r.Fifths[4].Rows != 4 {
		t.Errorf("%d of %d rows are covered, by fifths %v", r.Covered, r.Rows, r.Fifths)
	}
	again, err := uci.RunSplit(t.Context(), dir, "lines", 0, c, false, false)
	again.Seconds = r.Seconds
	if err != nil || again != r {
		t.Errorf("%+v, then %+v (%v)", r, again, err)
	}
	c.Steps = 50
	r, err = uci.RunSplit(t.Context(), dir, "lines", 0, c, true, false)
	if err != nil || !strings.Contains(r.Chosen, "1×10 relu") {
		t.Errorf("the protocol has one layer of 10 ReLU units, not %q (%v)", r.Chosen, err)
	}
}

func TestBadFolders(t *testing.T) {
	for want, change := range map[string]func(f map[string]string){
		"line 2: the line has 1 numbers; the lines before it have 4": func(f map[string]string) { f["data.txt"] = "1 2 3 4\n5\n" },
		`line 1: "x" is not a finite number`:                         func(f map[string]string) { f["data.txt"] = "1 x\n" },
		"data.txt holds no rows":                                     func(f map[string]string) { f["data.txt"] = "\n" },
		"7 is not an index below 4":                                  func(f map[string]string) { f["index_features.txt"] = "7\n" },
		"1.5 is not an index":                                        func(f map[string]string) { f["index_features.txt"] = "1.5\n" },
		"must name one column":                                       func(f map[string]string) { f["index_target.txt"] = "0\n1\n" },
		"n_splits.txt":                                               func(f map[string]string) { delete(f, "n_splits.txt") },
		"120 is not an index below 120":                              func(f map[string]string) { f["index_test_0.txt"] = "120\n" },
		"the target is the same in all rows":                         func(f map[string]string) { f["index_target.txt"] = "2\n"; f["index_features.txt"] = "1\n" },
	} {
		dir := write(t, change)
		if _, err := uci.RunSplit(t.Context(), dir, "lines", 0, tabular.Config{}, false, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want …%s…", err, want)
		}
	}
	dir := write(t, func(f map[string]string) { delete(f, "n_hidden.txt") })
	if _, err := uci.Open(dir, "lines"); err != nil {
		t.Errorf("a set without n_hidden.txt: %v", err)
	}
	if _, err := uci.RunSplit(t.Context(), dir, "lines", 3, tabular.Config{}, false, false); err == nil || !strings.Contains(err.Error(), "the splits 0 to 0, not 3") {
		t.Error(err)
	}
	if _, err := uci.Names("/none"); err == nil || !strings.Contains(err.Error(), "cannot read /none: no such file or directory; it must be a folder with") {
		t.Error(err)
	}
	if _, err := uci.Names(t.TempDir()); err == nil || !strings.Contains(err.Error(), "holds no set") {
		t.Error(err)
	}
}

func ExamplePublished() {
	for _, f := range uci.Published("yacht")[1:3] {
		fmt.Printf("%s %.2f ± %.2f\n", f.Method, f.LL, f.Plus)
	}
	// Output:
	// PBP -1.63 ± 0.02
	// MC dropout 2016 -1.55 ± 0.03
}

// Whole numbers can be counts, as in utvi fit: then scores are probabilities.
func TestCounts(t *testing.T) {
	var mass float64
	dir := write(t, func(files map[string]string) {
		var b strings.Builder
		key := rng.New(3)
		for i := range 120 {
			x := rng.Normal(key, uint64(2*i))
			var c dist.Counts
			c.Add(1, math.Exp(0.8+0.7*x), math.Exp(0.8+0.7*x))
			y := dist.Whole{Dist: &c}.Quantile(rng.Uniform(key, uint64(2*i+1)))
			if i < 20 {
				mass += dist.LogCount(y, math.Exp(0.8+0.7*x), 0) / 20
			}
			fmt.Fprintf(&b, "%.0f %.4f 7 %.4f\n", y, x, rng.Normal(key, uint64(1000+i)))
		}
		files["data.txt"] = b.String()
	})
	c := tabular.Config{Ensemble: 2, Noise: tabular.Poisson, Activation: "leaky-relu", KL: 0.3, Width: 10, Depth: 1, Steps: 500, Seed: 1}
	r, err := uci.RunSplit(t.Context(), dir, "lines", 0, c, false, false)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(r.Chosen, "poisson") || math.Abs(r.LL-mass) > 0.2 || r.Covered < 16 {
		t.Errorf("%+v; the true distribution scores %.3f", r, mass)
	}
}

// Of a gap the test rows are the middle third by one input; a constant has none.
func TestGaps(t *testing.T) {
	dir := write(t, func(map[string]string) {})
	s, err := uci.Open(dir, "lines")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CutGaps(); err != nil || s.Splits != 2 {
		t.Fatalf("%d gaps, %v; want those of two inputs", s.Splits, err)
	}
	c := tabular.Config{Ensemble: 1, Noise: tabular.Learned, Activation: "leaky-relu", KL: 0.3, Width: 10, Depth: 1, Steps: 1000, Seed: 1}
	r, err := uci.RunSplit(t.Context(), dir, "lines", 1, c, false, true)
	if err != nil || r.Rows != 40 || r.RMSE > 5 {
		t.Errorf("%+v, %v; want 40 test rows of 120, and an RMSE of about 3", r, err)
	}
	if _, err := s.Run(t.Context(), 2, c); err == nil || !strings.Contains(err.Error(), "the splits 0 to 1, not 2") {
		t.Error(err)
	}
	constant := write(t, func(files map[string]string) { files["index_features.txt"] = "2\n" })
	s, err = uci.Open(constant, "lines")
	if err == nil {
		err = s.CutGaps()
	}
	if err == nil || !strings.Contains(err.Error(), "no input with 6 values or more") {
		t.Error(err)
	}
}
