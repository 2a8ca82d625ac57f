package main

import (
	"strings"
	"testing"
)

// No flag's help shows a default that is empty.
func TestHelpShowsNoEmptyDefault(t *testing.T) {
	for _, name := range []string{"suggest", "update", "predict", "eval", "fit", "serve", "moments", "bayes", "locate"} {
		code, stdout, errs := utvi(t, name, "--help")
		if code != 0 || errs != "" {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
		for line := range strings.Lines(stdout) {
			if strings.Contains(line, "(default )") || strings.Contains(line, "(default [])") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}
