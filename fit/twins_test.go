package fit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"utvi/internal/tabular"
	"utvi/table"
)

func warned(t *testing.T, text string) []string {
	t.Helper()
	r, err := table.NewReader(strings.NewReader(text), "a.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := table.Load(r)
	if err != nil {
		t.Fatal(err)
	}
	quick := tabular.Config{Ensemble: 1, KL: 0.3, Activation: "tanh", Width: 4, Depth: 1, Steps: 8}
	result, err := Run(context.Background(), f, Config{Targets: []string{"y"}, Network: quick}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return texts(result.Warnings)
}

// texts are warnings as the library spells them.
func texts(all []Warning) (out []string) {
	for _, w := range all {
		out = append(out, w.String())
	}
	return out
}

// A column that repeats another one is named, however its cells are written.
func TestTwins(t *testing.T) {
	text := "a,b,c,d,y\n"
	for i := range 400 {
		text += fmt.Sprintf("%d,%d kg,%s,%d,%d\n", i*i%97, i*i%97, []string{"x", "z"}[i%2], i*7%101, i*13%89)
	}
	want := "columns a and b are the same in every row; set ignore to b, or they share their importance"
	if got := warned(t, text); !slices.Equal(got, []string{want}) {
		t.Errorf("the warnings are %q, want %q", got, want)
	}
}

// Rows of a table with few values repeat; that is no reason for a warning. Rows that were
// copied are.
func TestCoarse(t *testing.T) {
	for _, c := range []struct {
		of            string
		values, times int // different inputs; how often a row is repeated with its target
		warns         bool
	}{
		{"few values", 60, 1, false},
		{"many values", 200, 1, true},
		{"every row twice", 300, 2, true},
		{"every row eight times", 75, 8, true},
	} {
		text := "a,b,y\n"
		for i := range 600 {
			j := i / c.times % c.values
			text += fmt.Sprintf("%d,%d,%s\n", j, j*31%997, []string{"yes", "no"}[i/c.times*(i/c.times)%7%2])
		}
		got := warned(t, text)
		if is := len(got) == 1 && strings.Contains(got[0], "held-out rows also occur among the training rows"); is != c.warns || !c.warns && len(got) > 0 {
			t.Errorf("a table with %s draws the warnings %q", c.of, got)
		}
	}
}
