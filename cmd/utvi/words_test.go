package main

import (
	"strings"
	"testing"

	"utvi/docs"
)

// help words prints the glossary without the marks of Markdown.
func TestHelpWords(t *testing.T) {
	code, out, errs := utvi(t, "help", "words")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, word := range []string{"ood", "budget", "bins", "waves", "common noise", "doubt", "hold-out", "choosing rows", "trial", "member", "cover", "rule", "point", "moment", "form", "propagated", "drawn"} {
		if !strings.Contains(out, "\n- "+word) {
			t.Errorf("%q is not explained", word)
		}
	}
	if strings.ContainsAny(out, "`#") || strings.Contains(out, "**") {
		t.Error("marks of Markdown are left")
	}
	if _, other, _ := utvi(t, "help", "glossary"); other != out {
		t.Error("help glossary prints something else")
	}
	if n := strings.Count(docs.Glossary, "\n"); n > 120 {
		t.Errorf("the glossary has %d lines; a reader wants at most 120", n)
	}
}
