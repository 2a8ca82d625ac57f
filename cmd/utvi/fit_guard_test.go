package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"utvi/internal/filelock"
)

// No output takes the place of what it is made from, or of a fit's report.
func TestOutputsSpareInputs(t *testing.T) {
	dir := inResin(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	m, table := in("strength.utvi"), in("new.csv")
	if err := os.Symlink(table, in("link.csv")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(in("r"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("r/fit.yaml"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	model, rows := readFile(t, m), readFile(t, table)
	lines := bytes.SplitAfterN(rows, []byte("\n"), 5)
	if err := os.WriteFile(in("three.csv"), bytes.Join(lines[:4], nil), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{2, "new.csv; name another file", []string{"predict", m, table, "-o", table}},
		{2, "new.csv; name another file", []string{"predict", m, table, "-o", in("link.csv")}},
		{2, "strength.utvi; name another file", []string{"predict", m, table, "-o", m, "--format", "csv"}},
		{2, "predictions cannot be written as .xlsx", []string{"predict", m, table, "-o", in("out.xlsx")}},
		{2, "predictions cannot be written as .gz", []string{"predict", m, table, "-o", in("out.csv.gz")}},
		{2, "output would overwrite the input", []string{"fit", table, "--target", "strength", "--out", table}},
		{1, "would overwrite the report of a fit", []string{"eval", m, table, "--report", in("r")}},
		{1, "new.csv is not a utvi model file", []string{"eval", table, table}},
		{1, "new.csv is not a utvi model file", []string{"inspect", table}},
		{1, "new.csv is not a utvi model file", []string{"verify", table}},
		{2, "give the table with --data " + table, []string{"verify", m, table}},
		{2, "new.csv; name another file", []string{"calibrate", m, table, "-o", table}},
		{1, "new.csv is not a utvi model file", []string{"serve", table}},
		{1, "utvi: cannot read nofile.yaml: no such file or directory", []string{"fit", table, "--config", "nofile.yaml"}},
		{1, in("three.csv") + " cannot calibrate the model: a scale of the standard deviation needs at least 10 held-out rows; there are 3", []string{"calibrate", m, in("three.csv")}},
		{2, `a is not defined; add "; a = 1" or "; a = learned 1"`, []string{"fit", table, "--target", "strength", "--activation", "a*x"}},
		{2, "--holdout 0 would leave no rows", []string{"fit", table, "--target", "strength", "--holdout", "0"}},
		{2, "--kl 0 would", []string{"fit", table, "--target", "strength", "--kl", "0.0"}},
		{2, "give only one of them", []string{"fit", table, "--target", "strength", "--resume", "--fresh"}},
	} {
		code, out, errs := utvi(t, c.args...)
		if code != c.code || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("utvi %v: exit %d, stdout %q, stderr %q; want %d and one line with %q", c.args, code, out, errs, c.code, c.says)
		}
	}
	if !bytes.Equal(model, readFile(t, m)) || !bytes.Equal(rows, readFile(t, table)) {
		t.Error("an input was changed")
	}
}

// Twelve rows do not bound 95 % intervals: text, JSON and page say so.
func TestTooFewToCalibrate(t *testing.T) {
	dir := inResin(t)
	m, table := filepath.Join(dir, "strength.utvi"), filepath.Join(dir, "few.csv")
	lines := strings.SplitAfter(string(readFile(t, filepath.Join(dir, "new.csv"))), "\n")
	if err := os.WriteFile(table, []byte(strings.Join(lines[:13], "")), 0o666); err != nil {
		t.Fatal(err)
	}
	const says = "conformal intervals of 95 % need at least 19 held-out rows"
	if code, _, errs := utvi(t, "calibrate", m, table); code != 0 || !strings.Contains(errs, says) || strings.Contains(errs, "trained with") {
		t.Errorf("calibrate: exit %d, %s", code, errs)
	}
	if _, out, errs := utvi(t, "eval", m, table); !strings.Contains(errs, says) || !strings.Contains(out, "mean width infinite") {
		t.Errorf("eval: %s%s", errs, out)
	}
	_, out, _ := utvi(t, "eval", m, table, "--json", "--report", filepath.Join(dir, "r"))
	if !json.Valid([]byte(out)) || !strings.Contains(out, `"width": null`) || !strings.Contains(out, says) {
		t.Errorf("JSON: %s", out)
	}
	if page := string(readFile(t, filepath.Join(dir, "r", "report.html"))); !strings.Contains(page, "infinite") {
		t.Error("the page does not say it")
	}
}

// What a killed fit left is neither removed nor shared without a word.
func TestFitKeepsCheckpoints(t *testing.T) {
	dir := inResin(t)
	checkpoint := filepath.Join(dir, "strength.utvi.checkpoint")
	args := append([]string{"fit", "resin.csv", "--target", "strength", "--report", "none"}, quickly...)
	run := func(more ...string) (string, error) {
		cmd := exec.Command(binary, append(append([]string{}, args...), more...)...)
		cmd.Dir = dir
		var errs bytes.Buffer
		cmd.Stderr = &errs
		err := cmd.Run()
		return errs.String(), err
	}
	long := exec.Command(binary, append(args, "--steps", "100000000")...)
	long.Dir = dir
	if err := long.Start(); err != nil {
		t.Fatal(err)
	}
	for range 6000 { // more than any machine takes that has not hung
		if _, err := os.Stat(filepath.Join(checkpoint, progressFile)); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if errs, err := run("--fresh"); err == nil || !strings.Contains(errs, "strength.utvi is locked by another fit") {
		t.Errorf("beside another fit: %v, %s", err, errs)
	}
	long.Process.Kill()
	long.Wait()
	if errs, err := run(); err == nil || !strings.Contains(errs, "holds a fit that was stopped after 0 %; continue it with --resume, or start again with --fresh") {
		t.Errorf("after a kill: %v, %s", err, errs)
	}
	if _, err := os.Stat(checkpoint); err != nil {
		t.Error("the checkpoint is gone")
	}
	if errs, err := run("--fresh"); err != nil {
		t.Errorf("--fresh: %s", errs)
	}
	release, err := filelock.Hold(checkpoint + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	release()
	if left, _ := filepath.Glob(checkpoint + "*"); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// Three held-out rows do not show which columns matter; classes have no intervals and
// are not standardised.
func TestFitFewClasses(t *testing.T) {
	dir := inResin(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	args := append([]string{"fit", in("new.csv"), "--target", "resin", "--out", in("c.utvi"), "--holdout", "0.03"}, quickly[2:]...)
	code, out, errs := utvi(t, args...)
	if code != 0 || !strings.Contains(out, "Column importance skipped: 3 rows have been held out, at least 20 are needed.") {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	page := string(readFile(t, in("c-report/report.html")))
	if strings.Contains(page, "standardised") || !strings.Contains(page, "Column importance skipped") {
		t.Error("the page speaks of standardised classes, or of columns that matter")
	}
	if code, _, errs := utvi(t, "predict", in("c.utvi"), in("new.csv"), "--interval", "0.5"); code != 2 || !strings.Contains(errs, "--interval applies to numbers, and to classes after utvi calibrate --method conformal") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
