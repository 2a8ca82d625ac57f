package schema

import (
	"fmt"
	"slices"
	"testing"

	"utvi/gauss"
)

// ‰ is a tenth of %, and a number without the sign is noted.
func TestShareSigns(t *testing.T) {
	for unit, cells := range map[string][]string{"%": {"5 %", "50 ‰"}, "‰": {"50 ‰", "5%"}} {
		s := infer(t, cells0(unit), Spec{Targets: []string{"y"}})
		set, err := s.Encode(load(t, fmt.Sprintf("c,z,y\n%s,1,1\n%s,1,1\n", cells[0], cells[1])).Rows(nil))
		if err != nil || set.X.Mean[0] != set.X.Mean[2] || s.Columns[0].Unit != unit {
			t.Errorf("%s: %s and %s are %v, %v", unit, cells[0], cells[1], set, err)
		}
		_, err = s.Encode(load(t, "c,z,y\n$5,1,1\n").Rows(nil))
		if err == nil {
			t.Errorf("$5 is read in a column of %s", unit)
		}
	}
	s := infer(t, cells0("%"), Spec{Targets: []string{"y"}})
	if got := notes(t, s, "c,z,y\n0,1,1\n0.5,1,1\n0.6,1,1\n7 %,1,1\n"); !slices.Equal(got, []string{`column c: "0.5" on line 3 has no sign %, which the training table has, and is read as 0.5 %`}) {
		t.Errorf("%q", got)
	}
}

func cells0(unit string) string { return cells("5 "+unit, "6 "+unit, "97.5 "+unit) }

// notes encodes a file and returns what is to be known about it.
func notes(t *testing.T, s *Schema, text string) []string {
	t.Helper()
	r := open(t, text)
	e, err := s.Bind(r.Header())
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	x := gauss.New[float32](c.Rows(), e.Width())
	if err := e.Inputs(c, x); err != nil {
		t.Fatal(err)
	}
	return e.Notes()
}

// A note names the first level that training did not show, and a level that is nearly the same.
func TestStrangers(t *testing.T) {
	s := infer(t, "flag,zone,y\nTRUE,a,1\nFALSE,b,2\nTRUE,b,3\nFALSE,a,4\n", Spec{Targets: []string{"y"}})
	for text, want := range map[string][]string{
		"flag,zone\nTRUE,a\n":                   nil,
		"flag,zone\ntrue,a\n":                   {`column flag: "true" on line 2 is no level that training showed; "TRUE" differs from it only by case or blanks`},
		"flag,zone\nTRUE,c\nmaybe,d\nTRUE,c\n":  {`column flag: "maybe" on line 3 is no level that training showed`, `column zone: "c" on line 2 and 2 other cells are no levels that training showed`},
		"flag,zone\nTRUE,1\nTRUE,a\nTRUE,2.0\n": {`column zone: "1" on line 2 and 1 other cell are no levels that training showed`},
	} {
		if got := notes(t, s, text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Levels that differ only by case or blanks are warned of.
func TestWarnCase(t *testing.T) {
	text := "c,x,y\n"
	for i := range 40 {
		text += fmt.Sprintf("%s,%d,%d\n", []string{"yes", "no", "YES", "not  sure"}[i%4], i*i%7, i*5%11)
	}
	const want = `"YES" and "yes" differ only by case or blanks, but are read as two %s; write them in one way if they mean the same`
	if got := infer(t, text, Spec{Targets: []string{"y"}}).Columns[0].Warning; got != fmt.Sprintf(want, "names") {
		t.Errorf("%q", got)
	}
	if got := infer(t, text, Spec{Targets: []string{"c"}}).Columns[0].Warning; got != fmt.Sprintf(want, "classes") {
		t.Errorf("%q", got)
	}
	if got := warnCase([]string{"a", "b", "A b", "a c"}, "names"); got != "" {
		t.Errorf("%q", got)
	}
}
