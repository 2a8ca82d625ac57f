package main

import (
	"os"
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

// A fit that is not told what to predict names the columns to choose from.
func TestFitNamesTheColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("houses.csv", []byte("Town,Price\nGraz,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	code, _, errs := utvi(t, "fit", "houses.csv")
	if want := "utvi: no target is given; name the column to predict with --target; the table has Town, Price\n"; code != 2 || errs != want {
		t.Errorf("exit %d: %q, want %q", code, errs, want)
	}
}
