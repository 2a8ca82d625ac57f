package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A cell that cannot be read costs its row, and no other: the row is counted, and --strict stops.
func TestPredictSetsRowsAside(t *testing.T) {
	const model = "../../internal/golden/testdata/single.utvi"
	const head = "temperature,temperature_std,minutes,resin\n"
	dir := t.TempDir()
	sound := writeText(t, filepath.Join(dir, "sound.csv"), head+"140,1,30,birch\n150,1,40,cedar\n")
	bad := writeText(t, filepath.Join(dir, "bad.csv"), head+"140,1,30,birch\n140,1,long,birch\n150,1,40,cedar\n")
	_, want, _ := utvi(t, "predict", model, sound)
	code, out, errs := utvi(t, "predict", model, bad)
	lines := strings.Split(out, "\n")
	if code != 0 || len(lines) != 5 || strings.Trim(lines[2], ",") != "" || strings.Join(append(lines[:2:2], lines[3:]...), "\n") != want {
		t.Errorf("exit %d: %q, want %q with an empty line", code, out, want)
	}
	if !strings.Contains(errs, "warning: 1 of 3 rows has a cell that cannot be read and is not predicted; the first: "+bad+` line 3, column minutes: "long" is text; a number is needed; --strict stops at such a cell`) {
		t.Error(errs)
	}
	code, _, errs = utvi(t, "predict", model, bad, "--strict")
	if code == 0 || !strings.Contains(errs, `"long" is text; a number is needed`) {
		t.Errorf("exit %d: %s", code, errs)
	}
	none := writeText(t, filepath.Join(dir, "none.csv"), head+"140,1,long,birch\n140,1,longer,birch\n")
	code, out, errs = utvi(t, "predict", model, none)
	if code == 0 || out != "" || !strings.Contains(errs, "none of the first 2 rows can be read: "+none) {
		t.Errorf("exit %d: %q, %s", code, out, errs)
	}
}

// A cell that cannot be read costs the scores its row, and no other.
func TestEvalSetsRowsAside(t *testing.T) {
	const model = "../../internal/golden/testdata/strength.utvi"
	const head = "temperature,temperature_std,minutes,resin,strength\n"
	dir := t.TempDir()
	sound := writeText(t, filepath.Join(dir, "sound.csv"), head+"140,1,30,birch,40\n150,1,40,cedar,42\n")
	bad := writeText(t, filepath.Join(dir, "bad.csv"), head+"140,1,30,birch,40\n140,1,long,birch,39\n150,1,40,cedar,42\n")
	_, want, _ := utvi(t, "eval", model, sound)
	code, out, errs := utvi(t, "eval", model, bad)
	if code != 0 || out != want {
		t.Errorf("exit %d: %s, want %s", code, out, want)
	}
	if !strings.Contains(errs, "1 row has a cell that cannot be read (the first: "+bad+` line 3, column minutes: "long" is text; a number is needed); they are left out of the scores`) {
		t.Error(errs)
	}
	code, out, errs = utvi(t, "eval", model, bad, "--strict")
	if code != 1 || out != "" || !strings.Contains(errs, `line 3, column minutes: "long" is text; a number is needed`) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	none := writeText(t, filepath.Join(dir, "none.csv"), head+"140,1,long,birch,40\n")
	code, out, errs = utvi(t, "eval", model, none)
	if code != 1 || out != "" || !strings.Contains(errs, "no row can be scored: 1 row has a cell that cannot be read") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
