package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"utvi/table"
)

// A column x_std gives the deviations of numbers only, and only where columns have names.
func TestDeviationsOfNoNumber(t *testing.T) {
	const why = "the standard deviation of x, which is not a number"
	for _, c := range []struct {
		text string
		role Role // of x_std
		note string
	}{
		{"x,x_std,z,y\n1,1,1,1\n2,2,2,2\n", Std, "standard deviation of x"},
		{"x,x_std,z,y\na,1,1,1\nb,2,2,2\n", Dropped, why},
		{"x,x_std,z,y\n5,1,1,1\n5,2,2,2\n", Dropped, why},
		{"x,x_std,z,y\n2026-01-01,1,1,1\n2026-01-02,2,2,2\n", Dropped, why},
		{"v,x_std,z,y\n1,1,1,1\n2,2,2,2\n", Input, ""},
	} {
		s := infer(t, c.text, Spec{Targets: []string{"y"}})
		if got := s.Columns[1]; got.Role != c.role || got.Note != c.note {
			t.Errorf("%q: x_std is %s, %q; want %s, %q", c.text, got.Role, got.Note, c.role, c.note)
		}
		if got := s.Columns[0].StdFrom; (got == "x_std") != (c.role == Std) || got != "" && c.role != Std {
			t.Errorf("%q: x has deviations from %q", c.text, got)
		}
	}
}

// Which columns are read closely: those that are asked for, or are not left out.
func TestUsedColumns(t *testing.T) {
	all := Spec{Targets: []string{"y"}, Weight: "w", Ignore: []string{"id", "y"}, Group: "g", Time: "at"}
	some := all
	some.Inputs = []string{"x", "g"}
	for _, c := range []struct {
		spec Spec
		used string
	}{{all, "x z y w"}, {some, "x g y w"}, {Spec{Targets: []string{"y"}}, "x z g y w id at"}} {
		var used []string
		for _, name := range []string{"x", "z", "g", "y", "w", "id", "at"} {
			if c.spec.Uses(name) {
				used = append(used, name)
			}
		}
		if got := strings.Join(used, " "); got != c.used {
			t.Errorf("%+v uses %s, want %s", c.spec, got, c.used)
		}
	}
	if (&Spec{Targets: []string{"y"}, Inputs: []string{"x"}}).Uses("") {
		t.Error("without weights, a column without a name is one of weights")
	}
}

// Columns that all rows settle are read so from fewer rows: those that were left out, names such as
// NA and None, texts that stand for missing values among numbers and dates that are whole numbers.
func TestSettledColumns(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,land,pain,day,n,c,one,y\n")
	for i := range 40 {
		fmt.Fprintf(&b, "name %d,%s,%s,2026%02d%02d,%d,%s,%s,%d\n", i, []string{"DE", "NA", "US", "FR"}[i%4], []string{"None", "Mild", "-"}[i%3],
			1+i%12, 1+i%28, i*7%40, []string{"1", "2", "-"}[i%3], []string{"a", "b"}[i/39], i)
	}
	f := load(t, b.String())
	spec := Spec{Targets: []string{"y"}, Impute: true}
	whole, err := Infer(f.Rows(nil), spec)
	if err != nil {
		t.Fatal(err)
	}
	few := []int{0, 1, 4, 5, 8, 9} // of few rows, neither names nor dates could be told
	s, err := InferAs(whole, f.Rows(few), spec)
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Columns[0]; c.Role != Dropped || c.Note != "text that differs in every row" {
		t.Errorf("a column that was left out is %s: %s", c.Role, c.Note)
	}
	if c := s.Columns[1]; !c.NA || c.Missing != 0 || !slices.Equal(c.Levels, []string{"DE", "NA"}) {
		t.Errorf("countries are %+v", c)
	}
	if c := s.Columns[2]; !c.None || c.Missing != 0 || !slices.Equal(c.Levels, []string{"-", "Mild", "None"}) {
		t.Errorf("names with None are %+v", c)
	}
	if c := s.Columns[3]; c.Type != Times || c.Layout != whole.Columns[3].Layout || c.Note != whole.Columns[3].Note {
		t.Errorf("dates are %+v", c)
	}
	if c := s.Columns[5]; c.Type != Numeric || c.Missing != 2 || !slices.Equal(c.Marks, []string{"-"}) || c.Min != 1 || c.Max != 2 {
		t.Errorf("numbers with marks are %+v", c)
	}
	if c := s.Columns[6]; c.Role != Dropped || c.Note != "constant: a" {
		t.Errorf("names that are all one in these rows are %+v", c)
	}
}

// Rows without what the schema needs have no histograms.
func TestHistogramsOfAnotherTable(t *testing.T) {
	s := infer(t, "x,k,y\n1,a,1\n2,b,2\n", Spec{Targets: []string{"y"}})
	for text, want := range map[string]string{
		"1\n":          "a.csv has 1 columns, to be matched by position; the model was trained with 3, or 2 without targets, in this order: x, k, y",
		"x,k,y\n1,a\n": "a.csv line 2: 2 fields where 3 are expected",
	} {
		r, err := table.NewReader(strings.NewReader(text), "a.csv", table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Histograms(r)
		wantError(t, text, err, want)
	}
	all, err := s.Histograms(load(t, "x,k,y\n1,a,1\n2,c,2\n2,?,2\n").Rows(nil))
	if err != nil || !slices.Equal(all[1].Counts, []int{1, 0, 2}) {
		t.Errorf("levels that are new: %+v, %v", all, err)
	}
}

// What a summary says of columns that a network takes as they are, and of bounded targets.
func TestUses(t *testing.T) {
	s := &Schema{Task: Regression, Impute: true, Rows: 1, Columns: []Column{
		{Name: "raw", Role: Input, Type: Numeric, Stats: Stats{SD: 1, Max: 2}},
		{Name: "moved", Role: Input, Type: Numeric, Stats: Stats{SD: 1, Mean: 1, Max: 2}, Encoding: Encoding{Apart: true}},
		{Name: "wide", Role: Input, Type: Numeric, Stats: Stats{SD: 2, Max: 2, Missing: 1}},
		{Name: "scaled", Role: Input, Type: Numeric, Stats: Stats{SD: 1, Max: 2}, Encoding: Encoding{Scale: &Scale{}, Std: 0.25}},
		{Name: "many", Role: Input, Type: Categorical, Encoding: Encoding{Levels: []string{"a", "b"}, Embedded: true}},
		{Name: "some", Role: Input, Type: Categorical, Encoding: Encoding{Levels: []string{"a", "b"}, Rarer: 3}},
		{Name: "gaps", Role: Input, Type: Categorical, Encoding: Encoding{Levels: []string{"a", "b"}, Apart: true}},
		{Name: "y", Role: Target, Type: Numeric, Stats: Stats{SD: 1, Mean: 1, Max: 2}, TargetStats: TargetStats{Most: 100}},
		{Name: "g", Role: Group},
	}}
	var b strings.Builder
	if err := s.WriteSummary(&b); err != nil {
		t.Fatal(err)
	}
	const want = `column  type         values                missing  use
raw     numeric      0 to 2, as they are            input
moved   numeric      0 to 2, mean 1, sd 1           input
wide    numeric      0 to 2, mean 0, sd 2        1  input, and whether it is missing
scaled  numeric      0 to 2, mean 0, sd 1           input with std 0.25
many    categorical  2: a, b                        2 levels, embedded; other; missing
some    categorical  5: a, b                        3 inputs: the 2 most frequent levels, other
gaps    categorical  2: a, b                        4 inputs: its levels, other, missing
y       numeric      0 to 2, mean 1, sd 1           target, a share from 0 to 100
g                                                   group, for splits only
regression of y from 13 inputs; 1 row
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// More padded numbers, or classes, than are counted.
func TestManyDifferent(t *testing.T) {
	p := &profile{}
	for i := range maxTexts {
		p.addPadded(fmt.Sprintf("%07d", i))
	}
	p.addPadded("0000001")
	if p.moreTexts || p.padded["0000001"] != 2 {
		t.Error("as many padded numbers as are counted are too many")
	}
	p.addPadded("x")
	if !p.moreTexts || len(p.padded) != maxTexts {
		t.Error("more padded numbers than are counted are not noticed")
	}
	for n, want := range map[int]string{1000: "", 1001: "a.csv: the target y has more than 1000 different values; is this a regression?"} {
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range 2 * n {
			fmt.Fprintf(&b, "%d,c%d\n", i*7%11, i%n)
		}
		_, err := Infer(load(t, b.String()).Rows(nil), Spec{Targets: []string{"y"}})
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%d classes: %v, want %q", n, err, want)
		}
	}
	for n, want := range map[int]bool{19: true, 20: false} { // classes that differ in every row
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,c%d\n", i*7%11, i)
		}
		if _, err := Infer(load(t, b.String()).Rows(nil), Spec{Targets: []string{"y"}}); (err == nil) != want {
			t.Errorf("%d classes in as many rows: %v", n, err)
		}
	}
}

// Warnings of a column are joined, with the settings that they propose.
func TestWarningsTogether(t *testing.T) {
	var b strings.Builder
	b.WriteString("a;y\n")
	for i := range 60 {
		a := fmt.Sprintf("%d.%03d", 1+i, 100+i)
		if i%10 == 5 {
			a = "-9999"
		}
		fmt.Fprintf(&b, "%s;%d,5\n", a, i)
	}
	const want = `"1.100" is read as 1.1; if it means 1100, set decimal to comma; 10 % of the values are -9999, far from all others; leave such cells empty if they mark missing values`
	c := infer(t, b.String(), Spec{Targets: []string{"y"}}).Columns[0]
	if c.Warning != want || c.Advice().String() != want {
		t.Errorf("%q, advice %q; want %q", c.Warning, c.Advice(), want)
	}
}
