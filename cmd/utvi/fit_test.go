package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"utvi/internal/sweep"
	"utvi/internal/uci"
)

// quickly are settings of a network that is trained in no time.
var quickly = []string{"--noise", "learned", "--kl", "0.3", "--activation", "leaky-relu", "--depth", "1", "--width", "16", "--steps", "120", "--ensemble", "1"}

// resin is a folder with a table and a model of it, made once.
var resin = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(binary), "resin")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"example", "table", "--rows", "300", "-o", "resin.csv"},
		{"example", "table", "--rows", "100", "--seed", "2", "-o", "new.csv"},
		append([]string{"fit", "resin.csv", "--target", "strength"}, quickly...),
	} {
		cmd := exec.Command(binary, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", errorOf(out)
		}
	}
	return dir, nil
})

type textError string

func (e textError) Error() string { return string(e) }

func errorOf(out []byte) error { return textError(out) }

// inResin returns a fresh folder with copies of the table and the model.
func inResin(t *testing.T) string {
	t.Helper()
	from, err := resin()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"resin.csv", "new.csv", "strength.utvi"} {
		if err := os.WriteFile(filepath.Join(dir, name), readFile(t, filepath.Join(from, name)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFitWrites(t *testing.T) {
	dir, err := resin()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"strength.utvi", "strength-report/report.html", "strength-report/metrics.json", "strength-report/fit.yaml",
		"strength-report/figures/predicted.png", "strength-report/figures/calibration.png", "strength-report/figures/training.png", "strength-report/figures/dependence.png", "strength-report/figures/importance.png"} {
		if len(readFile(t, filepath.Join(dir, name))) < 100 {
			t.Errorf("%s is almost empty", name)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "strength.utvi.checkpoint")); err == nil {
		t.Error("checkpoints were left")
	}
	if text := string(readFile(t, filepath.Join(dir, "strength-report", "fit.yaml"))); !strings.Contains(text, "\n  bins: 0 # ") {
		t.Errorf("the settings do not say which bins were chosen:\n%s", text)
	}
	// The settings it printed back give the same model.
	again := filepath.Join(t.TempDir(), "again.utvi")
	code, _, errs := utvi(t, "fit", filepath.Join(dir, "resin.csv"), "--config", filepath.Join(dir, "strength-report", "fit.yaml"), "--out", again, "--report", "none")
	if code != 0 {
		t.Fatal(errs)
	}
	if !bytes.Equal(readFile(t, again), readFile(t, filepath.Join(dir, "strength.utvi"))) {
		t.Error("the printed settings give another model")
	}
}

func TestPredictEvalCalibrateInspect(t *testing.T) {
	dir := inResin(t)
	m, table := filepath.Join(dir, "strength.utvi"), filepath.Join(dir, "new.csv")
	code, plain, errs := utvi(t, "predict", m, table, "--keep", "minutes", "--max-std", "2")
	rows, err := csv.NewReader(strings.NewReader(plain)).ReadAll()
	if code != 0 || err != nil || len(rows) != 101 || strings.Join(rows[0], " ") != "minutes strength_mean strength_std strength_lo strength_hi strength_var_weights strength_var_inputs strength_var_noise ood abstain" {
		t.Fatalf("exit %d, %v, %s\n%s", code, err, errs, plain)
	}
	for _, name := range []string{"out.csv", "out.tsv", "out.json", "out.parquet"} {
		if code, _, errs := utvi(t, "predict", m, table, "-o", filepath.Join(dir, name)); code != 0 {
			t.Errorf("%s: %s", name, errs)
		}
	}
	_, quantiles, _ := utvi(t, "predict", m, table, "--quantiles", "0.05,0.95", "--digits", "17", "--budget=false")
	rows, _ = csv.NewReader(strings.NewReader(quantiles)).ReadAll()
	if strings.Join(rows[0], " ") != "strength_mean strength_std strength_lo strength_hi strength_q0.05 strength_q0.95 ood" {
		t.Fatalf("quantiles:\n%s", quantiles)
	}
	for _, row := range rows[1:] {
		var v [6]float64
		for i := range v {
			v[i], _ = strconv.ParseFloat(row[i], 64)
		}
		if math.Abs(v[2]-v[4]) > 1e-5 || math.Abs(v[3]-v[5]) > 1e-5 || len(row[0]) < 15 {
			t.Fatalf("the quantiles of the ends of an interval are not its ends, or digits are missing: %v", row)
		}
	}
	if code, out, _ := utvi(t, "inspect", m); code != 0 || !strings.Contains(out, "regression of strength") || !strings.Contains(out, "calibration   none") {
		t.Errorf("inspect:\n%s", out)
	}
	aside := filepath.Join(dir, "aside", "corrected.utvi")
	if code, out, errs := utvi(t, "calibrate", m, filepath.Join(dir, "resin.csv"), "-o", aside); code != 0 || !strings.Contains(out, "Stored in "+aside) {
		t.Errorf("calibrate -o: %s%s", out, errs)
	}
	if _, again, _ := utvi(t, "predict", m, table, "--keep", "minutes", "--max-std", "2"); again != plain {
		t.Error("calibrate -o changes the model that it reads")
	}
	code, out, errs := utvi(t, "calibrate", m, filepath.Join(dir, "resin.csv"))
	if code != 0 || !strings.Contains(out, "before") || !strings.Contains(out, "Stored in") {
		t.Fatalf("calibrate: %s%s", out, errs)
	}
	if !strings.Contains(errs, "trained with about 100 % of these rows") {
		t.Errorf("calibrate does not know the rows it was trained with: %s", errs)
	}
	if _, out, _ := utvi(t, "inspect", m); !strings.Contains(out, "conformal intervals from 300 rows") {
		t.Errorf("inspect:\n%s", out)
	}
	if _, _, errs := utvi(t, "predict", m, table, "--quantiles", "0.05,0.95", "-o", filepath.Join(dir, "q.csv")); !strings.Contains(errs, "lo and hi are conformal, quantiles are those of the predicted distribution") {
		t.Errorf("predict says nothing about intervals that are no quantiles: %s", errs)
	}
	_, corrected, errs := utvi(t, "predict", m, table, "--keep", "minutes", "--max-std", "2")
	if corrected == plain || !strings.Contains(errs, "predictions are calibrated: σ × ") {
		t.Errorf("predict does not apply the calibration, or does not say so: %s", errs)
	}
	code, out, errs = utvi(t, "eval", m, table, "--json", "--report", filepath.Join(dir, "r"))
	var e struct {
		Rows       int
		Calibrated bool
		Targets    []struct{ Numbers map[string]any }
	}
	if err := json.Unmarshal([]byte(out), &e); err != nil || code != 0 || e.Rows != 100 || !e.Calibrated || e.Targets[0].Numbers["rmse"] == nil {
		t.Errorf("eval: %v %s %s", err, out, errs)
	}
	if code, out, _ := utvi(t, "calibrate", m, "--remove"); code != 0 || !strings.Contains(out, "Calibration removed from") {
		t.Errorf("remove: %s", out)
	}
	if _, again, _ := utvi(t, "predict", m, table, "--keep", "minutes", "--max-std", "2"); again != plain {
		t.Error("without its calibration the model predicts otherwise than before")
	}
}

// A table's model is verified on rows of its table, whatever their order and format.
func TestVerifyTable(t *testing.T) {
	dir := inResin(t)
	m, table := filepath.Join(dir, "strength.utvi"), filepath.Join(dir, "new.csv")
	code, want, errs := utvi(t, "verify", m, "--data", table, "--rows", "5", "--networks", "20", "--json")
	if code != 0 || !strings.Contains(want, `"rows": 5`) {
		t.Fatalf("exit %d: %s%s", code, want, errs)
	}
	rows, err := csv.NewReader(bytes.NewReader(readFile(t, table))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var turned strings.Builder
	for _, r := range rows {
		slices.Reverse(r)
		turned.WriteString(strings.Join(r, "\t") + "\n")
	}
	other := filepath.Join(dir, "turned.tsv")
	if err := os.WriteFile(other, []byte(turned.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, got, errs := utvi(t, "verify", m, "--data", other, "--rows", "5", "--networks", "20", "--json"); code != 0 || got != want {
		t.Errorf("exit %d: columns in another order give another result: %s", code, errs)
	}
	// Of a large table the first rows are compared, and a line says so.
	large := filepath.Join(dir, "large.csv")
	text := string(readFile(t, table))
	body := text[strings.Index(text, "\n")+1:]
	if err := os.WriteFile(large, []byte(text+strings.Repeat(body, 9)), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := utvi(t, "verify", m, "--data", large, "--networks", "2"); code != 0 || !strings.Contains(out, "2 networks drawn, 256 rows") || !strings.Contains(errs, "The first 256 rows are used") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, _, errs := utvi(t, "verify", m, "--data", written(t, "temperature,minutes\n1,2\n")); code != 1 || !strings.Contains(errs, "lacks the columns temperature_std, resin") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// Bad tables and files give an error of one sentence, exit status 1, and no output.
func TestBadTables(t *testing.T) {
	dir := inResin(t)
	for _, c := range []struct{ table, args, says string }{
		{"x,y\n1,abc\n" + numbers(60), "fit", `"abc" is text`},
		{"x,y\nabc,1\n" + numbers(60), "fit", `"abc" is text in a column of numbers`},
		{"x,y\n1,2\n3,\n4,\n", "fit", "too few rows: 1 with a target, 2 without; at least 11 are needed"},
		{"x,y\n1,2\n,3\n" + numbers(60), "fit", "line 3, column x: the value is missing; --impute accepts missing values, --ignore 'x' leaves"},
		{"x,y\n1,2\nNaN,3\n" + numbers(60), "fit", "line 3, column x: \"NaN\" stands for a missing value; --impute accepts"},
		{"x,y\n1,2\ninf,3\n" + numbers(60), "fit", "not a finite number"},
		{"x,z\n1,2\n3,4\n", "fit", "has no column y"},
		{"x,y\n1,2\n1,2,3\n4,5\n", "fit", "line 3: 3 fields where 2 are expected"},
		{"x,y\n", "fit", "has no rows"},
		{"x,y\n1,2\n", "fit", "has too few rows: 1; at least 11 are needed, 10 to learn from and 1 to hold out"},
		{"", "fit", "is empty"},
		{"x,y\n" + strings.Repeat("1,5\n2,5\n", 10), "fit", "is 5 in all 20 training rows"},
		{"x,y\n1,5\n2,5\n", "fit", "has too few rows: 2; at least 11 are needed, 10 to learn from and 1 to hold out"},
		{"x,y\n1,5\n2,6\n3,7\n4,8\n5,9\n", "fit", "has too few rows: 5; at least 11 are needed, 10 to learn from and 1 to hold out"},
		{"minutes,resin\n1,amber\n", "predict", "lacks the columns temperature, temperature_std, which the model needs"},
		{"temperature,temperature_std,minutes,resin\nhot,1,2,amber\n", "predict", `line 2, column temperature: "hot" is text`},
		{"temperature,temperature_std,minutes,resin\n1,1,2,amber\n1,1,,amber\n", "predict --strict", "line 3, column minutes: the value is missing"},
		{"temperature,temperature_std,minutes,resin\n1,-1,2,amber\n", "predict", "the standard deviation is -1"},
		{"temperature,temperature_std,minutes,resin\n1,1,2\n", "predict", "3 fields where 4"},
		{"temperature,temperature_std,minutes,resin\n", "predict", "has no rows"},
		{"temperature,temperature_std,minutes,resin\n1,1,2,amber\n", "eval", "lacks the target strength"},
		{"temperature,temperature_std,minutes,resin,strength\n1,1,2,amber,x\n", "eval", `"x" is text`},
		{"temperature,temperature_std,minutes,resin,strength\n1,1,2,amber,4\n", "calibrate", "at least 10 held-out rows"},
	} {
		table, out := filepath.Join(dir, "bad.csv"), filepath.Join(dir, "out")
		if err := os.WriteFile(table, []byte(c.table), 0o666); err != nil {
			t.Fatal(err)
		}
		m := filepath.Join(dir, "strength.utvi")
		args := map[string][]string{
			"fit":     {"fit", table, "--target", "y", "--out", out, "--report", out + "-report"},
			"predict": {"predict", m, table, "-o", out},

			"predict --strict": {"predict", "--strict", m, table, "-o", out},

			"eval":      {"eval", m, table},
			"calibrate": {"calibrate", m, table},
		}[c.args]
		before := readFile(t, m)
		code, stdout, errs := utvi(t, args...)
		if code != 1 || stdout != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("%s of %q: exit %d, stdout %q, stderr %q; want one line with %q", c.args, c.table, code, stdout, errs, c.says)
		}
		left, _ := filepath.Glob(filepath.Join(dir, "out*"))
		temps, _ := filepath.Glob(filepath.Join(dir, ".*"))
		if len(left)+len(temps) > 0 || !bytes.Equal(before, readFile(t, m)) {
			t.Errorf("%s of %q left %v %v", c.args, c.table, left, temps)
		}
	}
}

// numbers are rows of two numbers.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,%d\n", i, i*i)
	}
	return b.String()
}

// Files of another kind, and outputs that cannot be written.
func TestBadFiles(t *testing.T) {
	dir := inResin(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	m, table := in("strength.utvi"), in("new.csv")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"predict", table, table}, "new.csv"},
		{[]string{"predict", in("none.utvi"), table}, "none.utvi"},
		{[]string{"predict", m, in("none.csv")}, "none.csv"},
		{[]string{"predict", m, m}, "strength.utvi"},
		{[]string{"predict", m, dir}, "it is a folder"},
		{[]string{"predict", m, table, "-o", in("new.csv/out.csv")}, "new.csv is not a folder"},
		{[]string{"predict", m, table, "--keep", "nosuch"}, "no column nosuch to keep"},
		{[]string{"fit", in("resin.csv"), "--target", "strength", "--out", dir}, "it is a folder"},
		{[]string{"fit", in("resin.csv"), "--target", "strength", "--out", filepath.Join(table, "m.utvi")}, "not a folder"},
		{[]string{"fit", in("resin.csv"), "--target", "strength", "--resume"}, "nothing to resume"},
		{[]string{"fit", in("resin.csv"), "--config", in("none.yaml")}, "none.yaml"},
		{[]string{"eval", m, table, "--report", filepath.Join(table, "r")}, "not a folder"},
		{[]string{"bench", "uci", "--data", dir}, "holds no set"},
	} {
		code, stdout, errs := utvi(t, c.args...)
		if code != 1 || stdout != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("utvi %v: exit %d, stdout %q, stderr %q; want one line with %q", c.args, code, stdout, errs, c.says)
		}
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer full.Close()
		cmd := exec.Command(binary, "predict", m, table)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &errs
		if err := cmd.Run(); err == nil || errs.String() != "utvi: cannot write to standard output: no space left on device\n" {
			t.Errorf("a full disk: %v, %q", err, errs.String())
		}
	}
}

func TestFitMisuse(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"fit", "takes one table, not 0 arguments"},
		{"fit x.csv", "no target is given; name the column to predict with --target"},
		{"fit x.csv --target y --task cluster", `the task is "cluster"`},
		{"fit x.csv --target y --holdout 2", "must lie between 0 and 1"},
		{"fit x.csv --target y --input-std 3", "--input-std takes a column and a number"},
		{"fit x.csv --target y --width -1", "the width is -1"},
		{"fit x.csv --target y --noise loud", `unknown noise "loud"`},
		{"fit x.csv --target y --jobs 0", "--jobs is 0"},
		{"fit x.csv --target y --device gpu", `unknown device "gpu"; use cpu, cuda`},
		{"fit x.csv --target y --header maybe", "--header takes auto, yes or no"},
		{"fit x.csv --target y --delimiter ab", "--delimiter takes one character"},
		{"fit x.csv --target y --decimal ;", "--decimal takes point, comma or auto"},
		{"predict m.utvi", "takes a model file and a table, not 1 argument"},
		{"predict m.utvi x.csv --max-std 0", "--max-std is 0"},
		{"fit x.csv --target y --group a --time b", "not by both; use --group a or use --time b"},
		{"predict m.utvi x.csv --digits 18", "--digits is 18; it must be 1 to 17"},
		{"calibrate m.utvi", "takes a model file and a table"},
		{"example table --rows 0", "--rows is 0"},
		{"example chair", `unknown command "chair"; the commands are measure, table`},
		{"bench uci", "--data is missing"},
		{"bench uci --data . --splits 0", "--splits is 0"},
	} {
		code, out, errs := utvi(t, strings.Fields(c.args)...)
		if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("utvi %s: exit %d, stdout %q, stderr %q; want exit 2 and one line with %q", c.args, code, out, errs, c.says)
		}
	}
	m := filepath.Join(inResin(t), "strength.utvi")
	for _, args := range [][]string{{"--interval", "1"}, {"--quantiles", "0.5,1"}, {"--min-prob", "0.5"}, {"--format", "xml"}} {
		if code, _, errs := utvi(t, append([]string{"predict", m, "x.csv"}, args...)...); code != 2 || strings.Count(errs, "\n") != 1 {
			t.Errorf("predict %v: exit %d, %s", args, code, errs)
		}
	}
	if code, _, errs := utvi(t, "calibrate", m, filepath.Join(filepath.Dir(m), "new.csv"), "--method", "temperature"); code != 2 || !strings.Contains(errs, "choose from scale, isotonic, conformal") {
		t.Errorf("calibrate: exit %d, %s", code, errs)
	}
}

// Stopped twice at some time, a fit gives a model that serves, and in the end the very
// same bits.
func TestFitInterrupted(t *testing.T) {
	dir := inResin(t)
	args := append([]string{"fit", "resin.csv", "--target", "strength", "--out", "a.utvi", "--report", "none"}, quickly...)
	args = append(args, "--steps", "3000", "--ensemble", "2", "--jobs", "1")
	// run fits, and sends Ctrl-C when the fit says that it has come so far.
	run := func(out, soFar string, more ...string) (int, string) {
		cmd := exec.Command(binary, append(append([]string{}, args...), append(more, "--out", out)...)...)
		cmd.Dir = dir
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			fmt.Fprintln(&errs, lines.Text())
			if soFar != "" && strings.HasPrefix(lines.Text(), soFar) {
				cmd.Process.Signal(syscall.SIGINT)
			}
		}
		cmd.Wait()
		return cmd.ProcessState.ExitCode(), errs.String()
	}
	if code, errs := run("whole.utvi", ""); code != 0 {
		t.Fatal(errs)
	}
	stopped := 0
	code, errs := run("a.utvi", "20 % done")
	for _, next := range []string{"60 % done", ""} {
		if code != 75 {
			break
		}
		stopped++
		if !strings.Contains(errs, "stopping: writing the best model so far") {
			t.Errorf("Ctrl-C is not answered: %q", errs)
		}
		if _, err := os.Stat(filepath.Join(dir, "a.utvi")); err == nil {
			if !strings.Contains(errs, "holds the best model so far; continue with --resume") {
				t.Errorf("it says %q", errs)
			}
			if code, _, errs := utvi(t, "predict", filepath.Join(dir, "a.utvi"), filepath.Join(dir, "new.csv")); code != 0 {
				t.Errorf("the model so far: %s", errs)
			}
		}
		code, errs = run("a.utvi", next, "--resume")
	}
	if code != 0 || stopped < 2 {
		t.Fatalf("stopped %d times, then exit %d: %s", stopped, code, errs)
	}
	if !bytes.Equal(readFile(t, filepath.Join(dir, "a.utvi")), readFile(t, filepath.Join(dir, "whole.utvi"))) {
		t.Error("a fit that was stopped and resumed is not that which was not")
	}
}

// Killed while rows still come, predict leaves no file of that name.
func TestPredictKilled(t *testing.T) {
	dir := inResin(t)
	out := filepath.Join(dir, "out.csv")
	cmd := exec.Command(binary, "predict", filepath.Join(dir, "strength.utvi"), "-", "-o", out)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rows := readFile(t, filepath.Join(dir, "new.csv"))
	head, rest, _ := bytes.Cut(rows, []byte("\n"))
	in.Write(append(head, '\n'))
	for range 2000 { // several rounds of chunks
		in.Write(rest)
	}
	for range 6000 { // more than any machine takes that has not hung
		if begun, _ := filepath.Glob(filepath.Join(dir, ".out.csv.tmp-*")); len(begun) > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := os.Stat(out); err == nil {
		t.Error("half a file is there")
	}
}

func TestBenchUCI(t *testing.T) {
	dir := t.TempDir()
	for _, set := range []string{"a", "b"} {
		os.Mkdir(filepath.Join(dir, set), 0o777)
		for name, text := range map[string]string{
			"data.txt": strings.ReplaceAll(numbers(40), ",", " ") + "\n\n", "index_features.txt": "0\n", "index_target.txt": "1.0\n", "n_splits.txt": "3\n", "n_hidden.txt": "50\n",
		} {
			os.WriteFile(filepath.Join(dir, set, name), []byte(text), 0o666)
		}
	}
	plan := filepath.Join(dir, "plan.json")
	code, _, errs := utvi(t, "bench", "uci", "--data", dir, "--splits", "99", "--plan", plan)
	if want := "--splits is 99, but a has 3, b has 3; ask for fewer, or leave the flag out"; code != 2 || !strings.Contains(errs, want) {
		t.Errorf("more splits than there are: %d: %s", code, errs)
	}
	code, out, errs := utvi(t, "bench", "uci", "--data", dir, "--sets", "b,a", "--splits", "2", "--protocol", "--plan", plan)
	if code != 0 || out != "Wrote 4 trials to "+plan+".\n" {
		t.Fatalf("%s%s", out, errs)
	}
	p, err := loadPlan(plan)
	if err != nil {
		t.Fatal(err)
	}
	var results []*sweep.Result
	for i, x := range p.Trials {
		data, _ := json.Marshal(uci.Result{Set: x.Group, LL: float64(-i), RMSE: float64(i), Covered: 8 + i, Rows: 10, Fifths: [5]uci.Fifth{{Covered: 1, Rows: 2}, {Covered: i % 2, Rows: 2}}})
		results = append(results, &sweep.Result{Data: data, Run: sweep.RunRecord{Seconds: 2}})
	}
	scores, err := (&uciBench{sets: []string{"b", "a"}}).scores(p, results)
	if err != nil {
		t.Fatal(err)
	}
	if one := uci.Average("a", []uci.Result{{LL: 1}}, 2); one.LLSE != nil || one.Splits != 1 {
		t.Errorf("one split has the scores %+v", one)
	}
	got, _ := json.Marshal(scores)
	want := `[{"set":"b","splits":2,"ll":-0.5,"ll_se":0.5,"rmse":0.5,"rmse_se":0.5,"coverage90":0.85,"coverage90_by_sd":[0.5,0.25,0,0,0],"seconds":4},{"set":"a","splits":2,"ll":-2.5,"ll_se":0.5,"rmse":2.5,"rmse_se":0.5,"coverage90":1.05,"coverage90_by_sd":[0.5,0.25,0,0,0],"seconds":4}]`
	if string(got) != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	if code, _, errs := utvi(t, "bench", "uci", "--data", dir, "--sets", "c"); code != 1 || !strings.Contains(errs, `has no set "c"; it has a, b`) {
		t.Errorf("exit %d, %s", code, errs)
	}
}
