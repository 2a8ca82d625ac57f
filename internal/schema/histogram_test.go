package schema

import (
	"slices"
	"strings"
	"testing"

	"utvi/table"
)

func histograms(t *testing.T, csv string, spec Spec) (*Schema, []Histogram) {
	t.Helper()
	read := func() table.Source {
		r, err := table.NewReader(strings.NewReader(csv), "x.csv", table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := table.Load(r)
		if err != nil {
			t.Fatal(err)
		}
		return f.Rows(nil)
	}
	s, err := Infer(read(), spec)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Histograms(read())
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if err := all[i].Check(s); err != nil {
			t.Errorf("%+v: %v", all[i], err)
		}
	}
	return s, all
}

func TestHistograms(t *testing.T) {
	s, all := histograms(t, "n,x,c,big,y\n1,0.5,a,0,1\n3,0.5,b,40,2\n3,2.5,b,99,3\n2,,c,7,4\n1,0.5,a,0,1\n3,0.5,b,40,2\n3,2.5,b,99,3\n2,,a,7,4\n", Spec{Targets: []string{"y"}, Impute: true, MaxLevels: 2})
	byName := map[string]Histogram{}
	for _, h := range all {
		byName[h.Column] = h
	}
	if h := byName["n"]; !h.Whole || h.From != 0.5 || h.To != 3.5 || !slices.Equal(h.Counts, []int{2, 2, 4}) {
		t.Errorf("small whole numbers: %+v", h)
	}
	if h := byName["x"]; h.Whole || h.From != 0.5 || h.To != 2.5 || len(h.Counts) != bins || h.Counts[0] != 4 || h.Counts[bins-1] != 2 {
		t.Errorf("numbers, one of them missing: %+v", h)
	}
	if h := byName["c"]; !slices.Equal(h.Counts, []int{4, 3, 1, 0}) {
		t.Errorf("levels b, a, c and others: %+v", h)
	}
	// 100 whole numbers in 25 bins of four.
	if h := byName["big"]; !h.Whole || h.From != -0.5 || h.To != 99.5 || len(h.Counts) != 25 || h.Counts[0] != 2 || h.Counts[1] != 2 || h.Counts[10] != 2 || h.Counts[24] != 2 {
		t.Errorf("whole numbers: %+v", h)
	}
	if h := byName["y"]; !slices.Equal(h.Counts, []int{2, 2, 2, 2}) {
		t.Errorf("target: %+v", h)
	}
	for name, h := range map[string]Histogram{
		"column": {Column: "z", Counts: []int{1}}, "negative": {Column: "n", Counts: []int{-1}}, "empty": {Column: "n"},
		"levels": {Column: "c", Counts: []int{1}}, "range": {Column: "n", Counts: []int{1}, From: 2, To: 1},
	} {
		if h.Check(s) == nil {
			t.Errorf("%s: %+v was accepted", name, h)
		}
	}
}
