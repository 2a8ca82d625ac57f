package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/internal/sweep"
)

// Tables that a plan predicts in pieces have the bytes that one process gives them, whoever ran the
// pieces and however often; what is not whole is not written.
func TestPredictPlan(t *testing.T) {
	const model = "../../internal/golden/testdata/strength.utvi"
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	var b strings.Builder
	for i := range 9000 { // more than two chunks; rows 6000 to 6999 cannot be read
		minutes := fmt.Sprint(20 + i%37)
		if i/1000 == 6 {
			minutes = "long"
		}
		fmt.Fprintf(&b, "%d,%g,1,%s,%s\n", i, 140+float64(i%50)/7, minutes, []string{"birch", "cedar"}[i%2])
	}
	const head = "id,temperature,temperature_std,minutes,resin\n"
	if err := os.Mkdir(file("old"), 0o777); err != nil {
		t.Fatal(err)
	}
	tables := []string{writeText(t, file("days.csv"), head+b.String()), writeText(t, filepath.Join(dir, "old", "days.csv"), head+"1,140,1,30,birch\n")}
	flags := []string{"--samples", "1", "--keep", "id", "--quantiles", "0.2"}
	must := func(args ...string) (out, errs string) {
		t.Helper()
		code, out, errs := utvi(t, args...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		return out, errs
	}
	plan := file("plan.json")
	if out, _ := must(append([]string{"predict", model, tables[0], tables[1], "--plan", plan, "--rows-per-trial", "1000"}, flags...)...); out != "Wrote 10 trials to "+plan+".\n" {
		t.Fatal(out)
	}
	must("sweep", "run", plan)
	check := func() {
		t.Helper()
		_, errs := must("sweep", "collect", plan)
		if want := "1000 of 9000 rows have a cell that cannot be read and are not predicted; the first: " + tables[0] + ` line 6002, column minutes: "long" is text`; !strings.Contains(errs, want) {
			t.Errorf("%s\nwant %s", errs, want)
		}
		for i, name := range []string{"days.csv", "days-2.csv"} {
			want, _ := must(append([]string{"predict", model, tables[i]}, flags...)...)
			if got := readFile(t, file("plan.summary/"+name)); string(got) != want {
				t.Errorf("%s differs from what one process writes", name)
			}
			os.Remove(file("plan.summary/" + name))
		}
	}
	check()

	p, err := sweep.LoadPlan(plan)
	if err != nil {
		t.Fatal(err)
	}
	piece := func(i int, ending string) string { return filepath.Join(file("plan.trials"), p.Trials[i].ID()+ending) }
	os.WriteFile(piece(3, ".csv"), []byte("1\n"), 0o666)
	if code, _, errs := utvi(t, "sweep", "collect", plan); code == 0 || !strings.Contains(errs, "is not what its trial wrote; remove "+piece(3, ".result.json")) {
		t.Errorf("a damaged piece: exit %d, %s", code, errs)
	}
	os.Remove(piece(3, ".result.json"))
	if _, errs := must("sweep", "collect", plan); !strings.Contains(errs, "the predictions of 1 table are not written: trials are not done") {
		t.Errorf("a piece that is not done: %s", errs)
	}
	if _, err := os.Stat(file("plan.summary/days.csv")); err == nil {
		t.Error("half of the predictions are written")
	}
	must("sweep", "trial", plan, "--index", "3")
	check()

	os.Remove(piece(9, ".result.json"))
	writeText(t, tables[1], head+"1,140,1,30,birch\n2,140,1,30,birch\n")
	if code, _, errs := utvi(t, "sweep", "run", plan); code == 0 || !strings.Contains(errs, "bytes and had ") || !strings.Contains(errs, " when the plan was made; make the plan again") {
		t.Errorf("a table that has grown: exit %d, %s", code, errs)
	}
}

// What a plan cannot hold is refused before anything is written.
func TestPredictPlanRefusals(t *testing.T) {
	const model = "../../internal/golden/testdata/strength.utvi"
	dir := t.TempDir()
	table := writeText(t, filepath.Join(dir, "a.csv"), "temperature,temperature_std,minutes,resin\n140,1,30,birch\n")
	other := writeText(t, filepath.Join(dir, "b.csv"), "temperature,temperature_std,resin\n140,1,birch\n")
	plan := filepath.Join(dir, "plan.json")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{table, table}, "takes a model file and one table, not 2 tables; --plan takes several"},
		{[]string{table, "--rows-per-trial", "5"}, "--rows-per-trial applies to a plan"},
		{[]string{"--plan", plan}, "--plan takes a model file and at least one table"},
		{[]string{table, "--plan", plan, "-o", "x.csv"}, "--output and --plan exclude each other"},
		{[]string{table, "--plan", plan, "--format", "parquet"}, "choose the format csv, tsv or json, not parquet"},
		{[]string{table, "--plan", plan, "--keep", "id"}, "has no column id to keep"},
		{[]string{table, other, "--plan", plan}, "minutes"},
		{[]string{"-", "--plan", plan}, "--plan takes files of tables"},
		{[]string{table, "--plan", plan, "--interval", "1.5"}, "it must lie between 0 and 1"},
	} {
		code, out, errs := utvi(t, append([]string{"predict", model}, c.args...)...)
		if code == 0 || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit %d, %s%s", c.args, code, out, errs)
		}
	}
	if _, err := os.Stat(plan); err == nil {
		t.Error("a plan is written")
	}
}
