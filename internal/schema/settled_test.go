package schema

import (
	"fmt"
	"strings"
	"testing"
)

// different are rows x;y whose numbers x all differ.
func different(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d.5;%d\n", i+10, i)
	}
	return b.String()
}

// What only held-out rows show settles what a column is, for the training rows too.
func TestTypesAreSettledByAllRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("cylinders,price,when,y\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%d,2026%02d%02d,%d\n", 4+i%3, 100+i, 1+i%12, 1+i%28, i)
	}
	b.WriteString("rotary,\"1,234.5\",20261399,7\n") // no date
	f := load(t, b.String())
	var train []int
	for i := range 40 {
		train = append(train, i)
	}
	spec := Spec{Targets: []string{"y"}}
	alone, err := Infer(f.Rows(train), spec)
	if err != nil {
		t.Fatal(err)
	}
	if alone.Columns[0].Type != Numeric || alone.Columns[2].Type != Times {
		t.Fatalf("the training rows alone do not mislead: %+v", alone.Columns)
	}
	whole, err := Infer(f.Rows(nil), spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := InferAs(whole, f.Rows(train), spec)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Type{Categorical, Numeric, Numeric, Numeric} {
		if s.Columns[i].Type != want {
			t.Errorf("column %s is %s, want %s", s.Columns[i].Name, s.Columns[i].Type, want)
		}
	}
	if c := s.Columns[0]; len(c.Levels) != 3 {
		t.Errorf("levels %v; those of the training rows are 4, 5 and 6", c.Levels)
	}
	if c := s.Columns[1]; c.Style != "1,234.5" || c.Max != 139 {
		t.Errorf("price is read as %q up to %g", c.Style, c.Max)
	}
	if _, err := s.Encode(f.Rows(nil)); err != nil {
		t.Errorf("the held-out row cannot be read: %v", err)
	}
}

// Amounts such as $1.01M are numbers; amounts in several units are refused rather than made classes.
func TestAmountsAreNoClasses(t *testing.T) {
	var money, mixed strings.Builder
	money.WriteString("x,y\n")
	mixed.WriteString("x,y\n")
	for i := range 40 {
		fmt.Fprintf(&money, "%d,$%d.%02dM\n%d,$%dK\n", i, 1+i%3, i, i, 300+i)
		fmt.Fprintf(&mixed, "%d,%d.%02d km\n%d,%d m\n", i, 1+i%3, i%20, i, 300+i%20)
	}
	money.WriteString("7,-\n")
	f := load(t, money.String())
	rows, missing := WithTargets(f, nil, []string{"y"})
	s, err := Infer(f.Rows(rows), Spec{Targets: []string{"y"}})
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Targets()[0]; s.Task != Regression || missing != 1 || c.Min != 300_000 || c.Max < 3e6 || c.Max > 4e6 {
		t.Errorf("%s of %g to %g, %d missing", s.Task, c.Min, c.Max, missing)
	}
	_, err = Infer(load(t, mixed.String()).Rows(nil), Spec{Targets: []string{"y"}})
	if err == nil || !strings.Contains(err.Error(), "the target y holds amounts in several units") {
		t.Errorf("metres and kilometres: %v", err)
	}
}

// A column of tickets, of which three of four are numbers, is left out with a warning.
func TestTickets(t *testing.T) {
	var b strings.Builder
	b.WriteString("ticket,x,y\n")
	for i := range 120 {
		if i%4 == 0 {
			fmt.Fprintf(&b, "A/5 %d,%d,%d\n", 1000+i, i%7, i)
		} else {
			fmt.Fprintf(&b, "%d,%d,%d\n", 5000+37*i, i%7, i)
		}
	}
	s, err := Infer(load(t, b.String()).Rows(nil), Spec{Targets: []string{"y"}})
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Columns[0]; c.Role != Dropped || !strings.Contains(c.Warning, `75 % of the cells are numbers, but "A/5 1000"`) {
		t.Errorf("tickets are %+v", c)
	}
}

// Words behind numbers are no units.
func TestWordsAreNoUnits(t *testing.T) {
	for _, levels := range [][2]string{{"1. Industrial", "2. Information"}, {"2013FAIL", "2013PASS"}} {
		var b strings.Builder
		b.WriteString("job,y\n")
		for i := range 60 {
			fmt.Fprintf(&b, "%s,%d\n", strings.Replace(levels[i%2], "2013", fmt.Sprint(2010+i%5), 1), i)
		}
		s, err := Infer(load(t, b.String()).Rows(nil), Spec{Targets: []string{"y"}})
		if err != nil {
			t.Fatal(err)
		}
		if c := s.Columns[0]; c.Note != "" || c.Warning != "" {
			t.Errorf("%v: note %q, warning %q", levels, c.Note, c.Warning)
		}
	}
}

// A column without gaps has no input that a user need know of.
func TestImputedColumnWithoutGaps(t *testing.T) {
	s, err := Infer(load(t, "a,b,y\n1,2,3\n2,,4\n4,5,7\n").Rows(nil), Spec{Targets: []string{"y"}, Impute: true})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := s.WriteSummary(&b); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Count(got, "whether it is missing") != 1 || !strings.Contains(got, "from 3 inputs") {
		t.Error(got)
	}
}
