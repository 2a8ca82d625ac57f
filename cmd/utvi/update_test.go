package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An update says first what surprises it, writes a model that predicts, and keeps the old one.
func TestUpdate(t *testing.T) {
	dir := inResin(t)
	m := filepath.Join(dir, "strength.utvi")
	before := readFile(t, m)
	out := filepath.Join(dir, "updated.utvi")
	code, stdout, errs := utvi(t, "update", m, filepath.Join(dir, "new.csv"), "-o", out)
	if code != 0 {
		t.Fatal(errs)
	}
	for _, says := range []string{"100 new rows for the model as it is:", "promised", "No column has moved beyond chance.", "on 10 new rows that were held out", "100 new rows, and what is remembered of 300"} {
		if !strings.Contains(stdout, says) {
			t.Errorf("the update does not say %q:\n%s", says, stdout)
		}
	}
	if string(before) != string(readFile(t, m)) {
		t.Error("the update changed the model that it began with")
	}
	if code, _, errs := utvi(t, "predict", out, filepath.Join(dir, "new.csv"), "-o", filepath.Join(dir, "predicted.csv")); code != 0 {
		t.Error(errs)
	}
	code, stdout, errs = utvi(t, "update", out, filepath.Join(dir, "resin.csv"), "--dry-run", "--json")
	var s struct {
		Rows  int
		Moved []struct{ Column string }
	}
	if err := json.Unmarshal([]byte(stdout), &s); code != 0 || err != nil || s.Rows != 300 || len(s.Moved) > 0 {
		t.Errorf("exit %d, %v, %s%s", code, err, stdout, errs)
	}
}

func TestUpdateMisuse(t *testing.T) {
	dir := inResin(t)
	m, rows := filepath.Join(dir, "strength.utvi"), filepath.Join(dir, "new.csv")
	text := filepath.Join(dir, "text.csv")
	if err := os.WriteFile(text, []byte("temperature,temperature_std,minutes,resin\n1,1,1,amber\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for says, args := range map[string][]string{
		"no output is given":                {"update", m, rows},
		"--forget is 2; it must be 0 to 1":  {"update", m, rows, "-o", "x", "--forget", "2"},
		"--holdout is 0":                    {"update", m, rows, "-o", "x", "--holdout", "0"},
		"output would overwrite the input":  {"update", m, rows, "-o", rows},
		"lacks the target strength":         {"update", m, text, "-o", filepath.Join(dir, "x")},
		"takes a model file and a table":    {"update", m},
		"fitted to all of these 300 rows":   {"update", m, filepath.Join(dir, "resin.csv"), "--dry-run"},
		"stands for the default, 2000; giv": {"fit", rows, "--target", "strength", "--memory", "0"},
	} {
		code, stdout, errs := utvi(t, args...)
		if code == 0 || stdout != "" || !strings.Contains(errs, says) {
			t.Errorf("%v: exit %d, %s%s, want %q", args, code, stdout, errs, says)
		}
	}
}
