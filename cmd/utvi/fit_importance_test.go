package main

import (
	"strings"
	"testing"

	"utvi/fit"
)

// No column is left out in silence.
func TestListImportance(t *testing.T) {
	all := []fit.Importance{}
	for range 10 {
		all = append(all, fit.Importance{Column: "c", Loss: 1})
	}
	ten := strings.Repeat("c 1, ", 9) + "c 1"
	for more, want := range []string{ten, ten + " and 1 other column", ten + " and 2 other columns"} {
		if got := listImportance(all); got != want {
			t.Errorf("%d columns: %q, not %q", 10+more, got, want)
		}
		all = append(all, fit.Importance{Column: "d"})
	}
}
