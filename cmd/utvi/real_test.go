package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeText(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRealTable fits, verifies, evaluates and predicts a table as people write them.
func TestRealTable(t *testing.T) {
	dir := t.TempDir()
	text := "when|land|price|empty|rent\n"
	for i := range 90 {
		rent := fmt.Sprintf("$%d,%03d.50", 1+i%3, 100*(i%7)+i)
		if i%30 == 4 {
			rent = "-"
		}
		text += fmt.Sprintf("%d.%d.2025|%s|%d.%03d,25||%s\n", 1+i%28, 1+i%12, []string{"NA", "DE", "US", "FR"}[i%4], 1+i%5, i, rent)
	}
	table, m := writeText(t, filepath.Join(dir, "real.csv"), text), filepath.Join(dir, "m.utvi")
	args := append([]string{"fit", table, "--target", "rent", "--out", m, "--folds", "2"}, quickly...)
	code, out, errs := utvi(t, args...)
	if code != 0 {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	for _, want := range []string{"3 rows have no target and are set aside", "column empty has no values and is left out", "cross-validation: fold 2 of 2"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not said:\n%s", want, errs)
		}
	}
	for _, want := range []string{"the place in the year", "NA is read as a name", "mean only", "R²", "Scores of all 87 rows, each predicted by a model that did not see it (2 folds):"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not printed:\n%s", want, out)
		}
	}
	if code, out, errs := utvi(t, "verify", m, "--data", table, "--networks", "20"); code != 0 {
		t.Errorf("verify: %s%s", out, errs)
	}
	if code, out, errs := utvi(t, "eval", m, table); code != 0 || !strings.Contains(errs, "of these rows; the scores are too good for new rows") || !strings.Contains(errs, "3 rows have no target") {
		t.Errorf("eval: %s%s", out, errs)
	}
	code, out, errs = utvi(t, "predict", m, table, "--median", "--quantiles", "0.1,0.9", "--above", "2000", "--samples", "2", "--explain", "1", "--keep", "rent")
	if head, _, _ := strings.Cut(out, "\n"); code != 0 || head != "rent,rent_mean,rent_std,rent_lo,rent_hi,rent_var_weights,rent_var_inputs,rent_var_noise,rent_median,rent_q0.1,rent_q0.9,rent_above_2000,rent_sample1,rent_sample2,rent_why1,rent_why1_mean,rent_why1_std,rent_unsure1,rent_unsure1_std,ood" {
		t.Errorf("predict: exit %d, %s, %s", code, head, errs)
	}
	for _, args := range [][]string{{"predict", m, table, "--samples", "0"}, {"predict", m, table, "--above", "x"}, {"predict", m, table, "--encoding", "ebcdic"},
		{"fit", table, "--target", "rent", "--folds", "1"}, {"fit", table, "--target", "rent", "--minutes", "0"}} {
		if code, _, errs := utvi(t, args...); code != 2 || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit %d, %s", args[3:], code, errs)
		}
	}
}

// TestPredictSays tells of rows that overflow, of columns by position, of other names,
// and of a calibration that a new fit replaces.
func TestPredictSays(t *testing.T) {
	dir := inResin(t)
	m := filepath.Join(dir, "strength.utvi")
	wild := writeText(t, filepath.Join(dir, "wild.csv"), "temperature,temperature_std,minutes,resin,strength_mean\n140,1,30,birch,5\n1e22,1,30,birch,6\n")
	old := "../../internal/golden/testdata/single.utvi" // of version 0.1.0
	code, out, errs := utvi(t, "predict", old, wild, "--keep", "strength_mean")
	if code != 0 || !strings.Contains(errs, "warning: 1 of 2 rows has a prediction that is not finite, far outside the training data (the first at "+wild+" line 3); the cells are empty") ||
		!strings.Contains(errs, "strength_mean of the table is written as table_strength_mean") || !strings.HasPrefix(out, "table_strength_mean,strength_mean,") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	far := writeText(t, filepath.Join(dir, "far.csv"), "temperature,temperature_std,minutes,resin\n140,1,30,birch\n1e22,1,30,birch\n")
	if code, _, errs := utvi(t, "predict", m, far); code != 0 || !strings.Contains(errs, "1 of 2 rows is unlike the training rows (ood above 2)") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if _, _, errs := utvi(t, "predict", m, far, "--max-ood", "2"); strings.Contains(errs, "unlike") || !strings.Contains(errs, "1 of 2 rows is flagged") {
		t.Error(errs)
	}
	// Levels that training did not show, and numbers that can only be read in another way.
	strange := writeText(t, filepath.Join(dir, "strange.csv"), "temperature;temperature_std;minutes;resin;strength\n140,5;1;30;Birch;40,5\n141,5;1;30;oak;41,5\n")
	for _, command := range []string{"predict", "eval"} {
		code, _, errs := utvi(t, command, m, strange)
		for _, want := range []string{`note: column resin: "Birch" on line 2 and 1 other cell are no levels that training showed; "birch" differs from it only by case or blanks`,
			"note: " + strange + `, column temperature: "140,5" is read with a decimal comma; the training table has a decimal point`} {
			if code != 0 || !strings.Contains(errs, want+"\n") {
				t.Errorf("%s: exit %d, %s; want %s", command, code, errs, want)
			}
		}
	}
	bare := writeText(t, filepath.Join(dir, "bare.csv"), "140,1,30,birch\n")
	if code, _, errs := utvi(t, "predict", m, bare); code != 0 || !strings.Contains(errs, "columns are matched by their position") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, _, errs := utvi(t, "calibrate", m, filepath.Join(dir, "new.csv")); code != 0 {
		t.Fatal(errs)
	}
	again := append([]string{"fit", filepath.Join(dir, "resin.csv"), "--target", "strength", "--out", m, "--minutes", "10"}, quickly...)
	if code, _, errs := utvi(t, again...); code != 0 || !strings.Contains(errs, "is calibrated; the new model will replace it and will not be") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// TestDecimalsOfColumnsInUse fits a table in which only a column that is ignored has a point.
func TestDecimalsOfColumnsInUse(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("t;p;y;firmware\n")
	for i := range 200 {
		fmt.Fprintf(&b, "%d;%d,%03d;%d,%03d;1.5\n", 20+i*7%31, 1+i%5, 100+i*37%800, 2+i%7, 111+i*53%800)
	}
	file, m := writeText(t, filepath.Join(dir, "device.csv"), b.String()), filepath.Join(dir, "y.utvi")
	for _, x := range []struct{ flag, value, span string }{{"--ignore", "firmware", " 1.1 to "}, {"--decimal", "comma", " 1.1 to "}, {"--decimal", "point", " 1100 to "}} {
		args := append([]string{"fit", file, "--target", "y", "--out", m, "--fresh", x.flag, x.value}, quickly...)
		if code, out, errs := utvi(t, args...); code != 0 || !strings.Contains(out, x.span) {
			t.Errorf("%s %s: exit %d, %s%s", x.flag, x.value, code, out, errs)
		}
	}
}
