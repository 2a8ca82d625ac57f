package schema

import (
	"fmt"
	"strings"
	"testing"
)

func TestRowNumbers(t *testing.T) {
	text := "up,down,more,less,odd,x,y\n"
	for i := range 20 {
		text += fmt.Sprintf("%d,%d,%d,%d,%g,%d,%d\n", i*i, -5*i, i-i/19, i/19-i, float64(i)/2, i*7%20, i%3)
	}
	for _, c := range infer(t, text, Spec{Targets: []string{"y"}}).Columns {
		want := ""
		if c.Name == "up" || c.Name == "down" {
			want = "looks like a row number; ignore the column if it is one"
		}
		if c.Note != want || c.Name != "y" && c.Role != Input {
			t.Errorf("%s is %s: %q, want %q", c.Name, c.Role, c.Note, want)
		}
	}
	for _, spec := range []Spec{{Targets: []string{"y"}, Inputs: []string{"up", "x"}}, {Targets: []string{"y"}, Ignore: []string{"down", "more", "less", "odd", "x"}}} {
		if c := infer(t, text, spec).Columns[0]; c.Note != "" || c.Role != Input {
			t.Errorf("with %+v: %+v", spec, c)
		}
	}
	var b strings.Builder
	infer(t, text, Spec{Targets: []string{"y"}}).WriteSummary(&b)
	if want := "input; looks like a row number; ignore the column if it is one\n"; !strings.Contains(b.String(), want) {
		t.Error(b.String())
	}
}

// TestMissingInDropped does not ask for missing values of columns that are dropped.
func TestMissingInDropped(t *testing.T) {
	text := "comment,ticked,one,x,y\n"
	for i := range 30 {
		text += fmt.Sprintf("remark %d,%s,%s,%d,%d\n", i, []string{"x", ""}[i%2], []string{"1", ""}[i%2], i*7%20, i%3)
	}
	text += ",x,1,3,2\n"
	spec := Spec{Targets: []string{"y"}}
	if _, err := Infer(load(t, text).Rows(nil), spec); err == nil || !strings.Contains(err.Error(), "line 3, column ticked: the value is missing") {
		t.Errorf("a ticked column without values: %v", err)
	}
	spec.Ignore = []string{"ticked", "one"}
	if c := infer(t, text, spec).Columns[0]; c.Role != Dropped || c.Note != "text that differs in every row" {
		t.Errorf("%+v", c)
	}
	// A column that holds one value or nothing says something.
	spec.Ignore, spec.Impute = nil, true
	s := infer(t, text, spec)
	for _, c := range s.Columns[1:3] {
		if c.Role != Input || c.Type != Categorical || len(c.Levels) != 1 || !c.Apart || s.width(&c) != 3 {
			t.Errorf("%+v", c)
		}
	}
}

// TestYearsAsNames says why a name in the first row is not found.
func TestYearsAsNames(t *testing.T) {
	_, err := Infer(load(t, "country,2019,2020\nDE,1,2\nFR,2,3\n").Rows(nil), Spec{Targets: []string{"2020"}})
	if err == nil || !strings.HasSuffix(err.Error(), "; its first row has that name, but also a number, and was read as data: set header to yes") {
		t.Error(err)
	}
}

// TestShares finds targets that are shares of a whole.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		name, cells string
		want        float64
	}{
		{"y", "0.01 0.5 0.97", 1}, {"y", "0 1 0.5", 1}, {"y", "0.2 0.5 0.97", 0}, {"y", "0.01 0.5 1.02", 0}, {"y", "-0.01 0.5 0.97", 0},
		{"y", "2% 50% 98%", 100}, {"y", "60% 70% 98%", 100}, {"y", "2% 50% 70%", 0}, {"y", "2% 50% 103%", 0},
		{"y", "2 50 98", 0}, {"y", "2.5 50.1 98", 0}, {"y", "0 50 100", 0}, {"y", "0 50.1 100", 100}, {"y", "0 50.1 100.1", 0},
		{"humidity [%]", "32.5 50 98", 100}, {"sand_pct", "32.5 50 98", 100}, {"Percent.of.all", "32 50 98", 100}, {"percentile", "32.5 50 98", 0},
	} {
		text := "x," + c.name + "\n"
		for i, cell := range strings.Fields(c.cells) {
			text += fmt.Sprintf("%d,%s\n", i*i%3, cell)
		}
		if got := infer(t, text, Spec{Targets: []string{c.name}}).Columns[1].Most; got != c.want {
			t.Errorf("%s %s: %v, want %v", c.name, c.cells, got, c.want)
		}
	}
}
