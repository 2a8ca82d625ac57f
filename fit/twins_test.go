package fit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"utvi/table"
	"utvi/tabular"
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
	result, err := Run(context.Background(), f, Config{Spec: table.Spec{Targets: []string{"y"}}, Network: quick}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Warnings
}

// A column that repeats another one is named, however its cells are written.
func TestTwins(t *testing.T) {
	text := "a,b,c,d,y\n"
	for i := range 400 {
		text += fmt.Sprintf("%d,%d kg,%s,%d,%d\n", i*i%97, i*i%97, []string{"x", "z"}[i%2], i*7%101, i*13%89)
	}
	want := "columns a and b are the same in every row; ignore one, or they share their importance"
	if got := warned(t, text); !slices.Equal(got, []string{want}) {
		t.Errorf("the warnings are %q, want %q", got, want)
	}
}

// Rows of a table with few values repeat; that is no reason for a warning.
func TestCoarse(t *testing.T) {
	few, copied := "a,b,y\n", "a,b,y\n"
	for i := range 600 {
		few += fmt.Sprintf("%s,%s,%s\n", []string{"r", "g", "b"}[i%3], []string{"s", "l"}[i/3%2], []string{"yes", "no"}[i*i%7%2])
		j := i / 2
		copied += fmt.Sprintf("%d,%d,%d\n", j*j%1009, j*31%997, j*17%991)
	}
	if got := warned(t, few); len(got) > 0 {
		t.Errorf("a table of few values draws the warnings %q", got)
	}
	if got := warned(t, copied); len(got) != 1 || !strings.Contains(got[0], "held-out rows also occur among the training rows") {
		t.Errorf("a table with every row twice draws the warnings %q", got)
	}
}
