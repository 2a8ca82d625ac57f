package table

import (
	"fmt"
	"strings"
	"testing"
)

func TestRowNumbers(t *testing.T) {
	text := "up,down,more,odd,x,y\n"
	for i := range 20 {
		text += fmt.Sprintf("%d,%d,%d,%g,%d,%d\n", i*i, -5*i, i-i/19, float64(i)/2, i*7%20, i%3)
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
	for _, spec := range []Spec{{Targets: []string{"y"}, Inputs: []string{"up", "x"}}, {Targets: []string{"y"}, Ignore: []string{"down", "more", "odd", "x"}}} {
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
