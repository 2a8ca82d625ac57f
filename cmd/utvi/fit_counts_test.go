package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"utvi/dist"
	"utvi/rng"
)

// visits is a table of counts that depend on one of 80 shops.
func visits(rows int, key uint64, shop func(i int) string) string {
	var b strings.Builder
	b.WriteString("shop,rain,visits\n")
	k := rng.New(key)
	for i := range rows {
		number := int(80 * rng.Uniform(k, uint64(3*i)))
		name := fmt.Sprintf("shop %d", number)
		if shop != nil {
			name = shop(i)
		}
		rain := rng.Normal(k, uint64(3*i+1))
		mean := math.Exp(0.7 + 0.6*rng.Normal(rng.New(99), uint64(number)) - 0.4*rain)
		var c dist.Counts
		c.Add(1, mean, mean)
		fmt.Fprintf(&b, "%s,%.4f,%.0f\n", name, rain, dist.Whole{Dist: &c}.Quantile(rng.Uniform(k, uint64(3*i+2))))
	}
	return b.String()
}

// Counts and a column with many levels go all the way: fit, predict, eval, calibrate,
// inspect, export.
func TestCountsAndLevels(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	table, test := write("visits.csv", visits(900, 1, nil)), write("test.csv", visits(600, 2, nil))
	m := filepath.Join(dir, "m.utvi")
	run := func(args ...string) string {
		t.Helper()
		code, out, errs := utvi(t, args...)
		if code != 0 {
			t.Fatalf("%v: exit %d, %s", args, code, errs)
		}
		return out
	}
	out := run("fit", table, "--target", "visits", "--out", m, "--steps", "600", "--activation", "leaky-relu", "--depth", "1", "--width", "16", "--ensemble", "2", "--report", filepath.Join(dir, "r"))
	for _, want := range []string{"80 levels, embedded; other; missing", "visits is predicted as a count (poisson): held-out rows are more probable so"} {
		if !strings.Contains(strings.ReplaceAll(out, "negative-binomial", "poisson"), want) {
			t.Errorf("fit does not say %q:\n%s", want, out)
		}
	}
	if out := run("inspect", m); !strings.Contains(out, "visits is predicted as a count") {
		t.Errorf("inspect:\n%s", out)
	}
	columns := func(out string) (map[string]int, [][]string) {
		t.Helper()
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		at := map[string]int{}
		for i, name := range rows[0] {
			at[name] = i
		}
		return at, rows[1:]
	}
	whole := []string{"visits", "visits_lo", "visits_hi", "visits_median", "visits_q0.99", "visits_sample1", "visits_sample2"}
	check := func(out string) {
		t.Helper()
		at, rows := columns(out)
		inside := 0.0
		for _, row := range rows {
			v := map[string]float64{}
			for name, i := range at {
				v[name], _ = strconv.ParseFloat(row[i], 64)
			}
			for _, name := range whole {
				if v[name] != math.Trunc(v[name]) || v[name] < 0 {
					t.Fatalf("%s is %v", name, v[name])
				}
			}
			if v["visits_above_3"] != v["visits_above_3.5"] || v["visits_above_3"] <= v["visits_above_4"] || v["visits_lo"] > v["visits_mean"] || v["visits_hi"] < math.Floor(v["visits_mean"]) {
				t.Fatalf("the row is %v", v)
			}
			if v["visits_lo"] <= v["visits"] && v["visits"] <= v["visits_hi"] {
				inside++
			}
		}
		if share := inside / float64(len(rows)); share < 0.87 || share > 0.98 {
			t.Errorf("90 %% intervals cover %.3f", share)
		}
	}
	args := []string{"predict", m, test, "--keep", "visits", "--median", "--quantiles", "0.99", "--above", "3,3.5,4", "--samples", "2", "--explain", "1"}
	check(run(args...))
	var e struct {
		Targets []struct {
			Numbers struct {
				LL struct{ Value float64 }
			}
			Baseline struct {
				LL     float64
				Counts bool
			}
		}
	}
	score := func() float64 {
		t.Helper()
		if err := json.Unmarshal([]byte(run("eval", m, test, "--json")), &e); err != nil {
			t.Fatal(err)
		}
		return e.Targets[0].Numbers.LL.Value
	}
	before := score()
	// Without a network: about the best negative binomial of the counts themselves.
	at, rows := columns(visits(600, 2, nil))
	var counts []float64
	for _, row := range rows {
		v, _ := strconv.ParseFloat(row[at["visits"]], 64)
		counts = append(counts, v)
	}
	average := 0.0
	variance := 0.0
	want := 0.0
	for _, v := range counts {
		average += v / 600
	}
	for _, v := range counts {
		variance += (v - average) * (v - average) / 600
	}
	for _, v := range counts {
		want += dist.LogCount(v, average, variance) / 600
	}
	if b := e.Targets[0].Baseline; math.Abs(b.LL-want) > 0.02 || !b.Counts {
		t.Errorf("the score without a network is %+v, want about %.4f", b, want)
	}

	// New shops: wider, and out of distribution.
	known := run("predict", m, write("known.csv", visits(200, 3, nil)))
	fresh := run("predict", m, write("fresh.csv", visits(200, 3, func(i int) string { return fmt.Sprintf("new %d", i) })))
	mean := func(out, column string) (sum float64) {
		at, rows := columns(out)
		for _, row := range rows {
			v, _ := strconv.ParseFloat(row[at[column]], 64)
			sum += v / float64(len(rows))
		}
		return sum
	}
	if a, b := mean(known, "visits_std"), mean(fresh, "visits_std"); b < 1.15*a {
		t.Errorf("new shops have std %.3f, known ones %.3f", b, a)
	}
	if a, b := mean(known, "ood"), mean(fresh, "ood"); b < 1 || a > 1 {
		t.Errorf("new shops have an ood of %.3f, known ones of %.3f", b, a)
	}

	graph := filepath.Join(dir, "m.onnx")
	if out := run("export", m, "-o", graph); !strings.Contains(out, "the graph has no quantiles") {
		t.Errorf("export: %s", out)
	}
	if code, _, errs := utvi(t, "export", m, "-o", graph, "--quantiles", "0.5"); code == 0 || !strings.Contains(errs, "leave out --quantiles") {
		t.Errorf("export with quantiles: %s", errs)
	}
	run("calibrate", m, write("more.csv", visits(700, 4, nil)))
	check(run(args...))
	if after := score(); math.Abs(after-before) > 0.05 {
		t.Errorf("calibration changes the log-likelihood from %.4f to %.4f", before, after)
	}
	if _, err := os.Stat(filepath.Join(dir, "r", "report.html")); err != nil {
		t.Error(err)
	}
}
