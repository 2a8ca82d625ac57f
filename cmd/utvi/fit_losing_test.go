package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A model that predicts later rows worse than their mean alone would is written, but the command says
// so first and ends with status 3.
func TestFitLosingToTheMean(t *testing.T) {
	var b strings.Builder
	b.WriteString("day,x,y\n")
	for i := range 200 {
		slope := 1
		if i >= 160 { // what was learned no longer holds
			slope = -1
		}
		x := i*37%101 - 50
		fmt.Fprintf(&b, "%d,%d,%d\n", i, x, slope*x)
	}
	dir := t.TempDir()
	file := writeText(t, filepath.Join(dir, "turned.csv"), b.String())
	model := filepath.Join(dir, "turned.utvi")
	code, _, errs := utvi(t, "fit", file, "--target", "y", "--time", "day", "--holdout", "0.2", "--steps", "64", "--ensemble", "1", "--width", "8", "--report", "none", "--out", model)
	if code != 3 || !strings.Contains(errs, model+" is written, but ") || !strings.Contains(errs, "predicts y worse than its mean alone would: held-out rows lose ") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, err := os.Stat(model); err != nil {
		t.Error(err)
	}
}
