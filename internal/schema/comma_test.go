package schema

import (
	"fmt"
	"strings"
	"testing"
)

// In a file with decimal commas, the note of a column shows how its numbers were read.
func TestDecimalCommaNote(t *testing.T) {
	var b strings.Builder
	b.WriteString("a;whole;same;y\n")
	for i := range 30 {
		fmt.Fprintf(&b, "%d,5;%d;2,5;%d,25\n", 12+i, i*i%7, i%11)
	}
	s := infer(t, b.String(), Spec{Targets: []string{"y"}})
	for i, want := range []string{`"12,5" is read as 12.5`, "", "constant: 2.5", `"0,25" is read as 0.25`} {
		if got := s.Columns[i].Note; got != want {
			t.Errorf("the note of %s is %q, want %q", s.Columns[i].Name, got, want)
		}
	}
	if c := infer(t, strings.NewReplacer(",", ".", ";", ",").Replace(b.String()), Spec{Targets: []string{"y"}}).Columns[0]; c.Note != "" {
		t.Errorf("a decimal point has the note %q", c.Note)
	}
}
