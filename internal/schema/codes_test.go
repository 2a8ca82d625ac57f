package schema

import (
	"fmt"
	"strings"
	"testing"

	"utvi/table"
)

// padding is a table with a column c of these cells, each repeated, and an input x.
func padding(cells ...string) string {
	var b strings.Builder
	b.WriteString("c,x,y\n")
	for i := range 5 * len(cells) {
		fmt.Fprintf(&b, "%s,%d.5,%d.25\n", cells[i%len(cells)], i*i%7, i%11)
	}
	return b.String()
}

// Whole numbers of which some begin with 0 are codes; other numbers stay numbers.
func TestPadded(t *testing.T) {
	for _, c := range []struct {
		cells string
		want  Type
		note  string
	}{
		{"01067 10115 20095 80331", Categorical, "codes, not numbers: some begin with 0, such as 01067"},
		{`"01067" 10115 "20095"`, Categorical, "codes, not numbers: some begin with 0, such as 01067"},
		{"007 8 000", Categorical, "codes, not numbers: some begin with 0, such as 000"},
		{"0 1 2", Numeric, ""},
		{"0.5 1 2", Numeric, ""},
		{"00.5 003 2", Numeric, ""},
		{"007 -1 2", Numeric, ""},
		{"00:30 01:30 12:00", Times, ""},
		{"0e3 1 3", Numeric, ""},
	} {
		s := infer(t, padding(strings.Fields(c.cells)...), Spec{Targets: []string{"y"}})
		if got := s.Columns[0]; got.Role != Input || got.Type != c.want || got.Note != c.note || got.Codes != (c.want == Categorical) {
			t.Errorf("%s: got %+v, want %s with the note %q", c.cells, got, c.want, c.note)
		}
	}
	s := infer(t, padding("01", "10"), Spec{Targets: []string{"y"}, InputStd: map[string]float64{"c": 1}})
	if s.Columns[0].Type != Numeric {
		t.Error("a number with an error is a code")
	}
	var b strings.Builder
	b.WriteString("c,y\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%04d,%d.25\n", i*37%50*11, i%11)
	}
	if c := infer(t, b.String(), Spec{Targets: []string{"y"}}).Columns[0]; c.Type != Numeric || c.Role != Input {
		t.Errorf("readings that hardly repeat are %+v", c)
	}
}

// A model reads codes as it was trained, also one that was trained before there were codes.
func TestPaddedCellsOfAModel(t *testing.T) {
	text := padding("01067", "10115", "1067")
	s := infer(t, text, Spec{Targets: []string{"y"}})
	if got := fmt.Sprint(s.Columns[0].Levels); got != "[01067 10115 1067]" {
		t.Fatalf("levels are %s", got)
	}
	for name, source := range map[string]table.Source{"frame": load(t, text).Rows([]int{0, 1, 2}), "file": open(t, text)} {
		set, err := s.Encode(source)
		if err != nil {
			t.Fatal(err)
		}
		for row, want := range []string{"[1 0 0 0]", "[0 1 0 0]", "[0 0 1 0]"} {
			if got := fmt.Sprint(set.X.Mean[row*set.X.Width:][:4]); got != want {
				t.Errorf("%s: row %d is %s, want %s", name, row, got, want)
			}
		}
	}
	old := infer(t, strings.ReplaceAll(padding("01067", "10115"), "01067", "1067"), Spec{Targets: []string{"y"}})
	plain, err := old.Encode(load(t, "c,x,y\n1067,1,1\n").Rows(nil))
	if err != nil {
		t.Fatal(err)
	}
	coded, err := old.Encode(open(t, "c,x,y\n01067,1,1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if plain.X.Mean[0] != coded.X.Mean[0] {
		t.Errorf("01067 becomes %v in a column of numbers, 1067 %v", coded.X.Mean[0], plain.X.Mean[0])
	}
	levels := infer(t, padding("1", "2"), Spec{Targets: []string{"y"}, Categorical: []string{"c"}})
	if set, err := levels.Encode(open(t, "c,x,y\n01,1,1\n")); err != nil || set.X.Mean[0] != 1 {
		t.Errorf("01 is not the level 1: %v", err)
	}
}

// A target of few codes is a class; a regression reads numbers.
func TestPaddedTarget(t *testing.T) {
	text := strings.Replace(padding("01", "02", "10"), "c,x,y", "y,x,z", 1)
	s := infer(t, text, Spec{Targets: []string{"y"}})
	if got := fmt.Sprint(s.Classes()); got != "[01 02 10]" {
		t.Errorf("classes are %s", got)
	}
	if set, err := s.Encode(load(t, text).Rows(nil)); err != nil || fmt.Sprint(set.Y[:3]) != "[0 1 2]" {
		t.Errorf("classes are encoded wrongly: %v", err)
	}
	if c := infer(t, text, Spec{Targets: []string{"y"}, Task: Regression}).Columns[0]; c.Max != 10 {
		t.Errorf("the target of a regression is %+v", c)
	}
	var b strings.Builder
	b.WriteString("y,x\n")
	for i := range 100 {
		fmt.Fprintf(&b, "%04d,%d\n", i*i, i%7)
	}
	if s := infer(t, b.String(), Spec{Targets: []string{"y"}}); s.Task != Regression {
		t.Error("numbers that all differ are classes")
	}
}

// Thousands of codes are counted, however late the first one begins with 0.
func TestManyPadded(t *testing.T) {
	var b strings.Builder
	b.WriteString("c,x,y\n")
	for i := range 9000 {
		fmt.Fprintf(&b, "%05d,%d,%d\n", 11999-i%3000, i%7, i%11)
	}
	if c := infer(t, b.String(), Spec{Targets: []string{"y"}}).Columns[0]; !c.Embedded || len(c.Levels) != 3000 {
		t.Errorf("%d levels; %s", len(c.Levels), c.Note)
	}
}

func open(t *testing.T, text string) *table.Reader {
	t.Helper()
	r, err := table.NewReader(strings.NewReader(text), "a.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
