package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"utvi/internal/notation"
	"utvi/table"
)

// device is a table whose pressures have three decimals.
func device(columns string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", columns)
	for i := range 30 {
		row := map[string]string{"t": fmt.Sprint(20 + i*7%31), "p": fmt.Sprintf("%d,%03d", 1+i%5, 100+i*37%800), "y": fmt.Sprintf("%d,%03d", 2+i%7, 111+i*53%800), "firmware": "1.5"}
		for j, name := range strings.Split(columns, ";") {
			b.WriteString(strings.Repeat(";", min(j, 1)) + row[name])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A model reads numbers as it was trained to, whatever columns it does not use.
func TestModelReadsAsTrained(t *testing.T) {
	r, err := table.NewReader(strings.NewReader(device("t;p;y;firmware")), "a.csv", table.Options{Used: func(name string) bool { return name != "firmware" }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := Infer(r, Spec{Targets: []string{"y"}, Ignore: []string{"firmware"}})
	if err != nil {
		t.Fatal(err)
	}
	p := s.Columns[1]
	if p.Point != "," || p.Max > 10 || p.Warning != `"1,100" is read as 1.1; if it means 1100, set decimal to point` {
		t.Errorf("%+v", p)
	}
	var dots strings.Builder
	dots.WriteString("a;y\n")
	for i := range 40 {
		fmt.Fprintf(&dots, "%d.%03d;%d,5\n", 1+i, 100+i, i)
	}
	if a := infer(t, dots.String(), Spec{Targets: []string{"y"}}).Columns[0]; a.Max > 50 || a.Warning != `"1.100" is read as 1.1; if it means 1100, set decimal to comma` {
		t.Errorf("%+v", a)
	}
	thousands := infer(t, device("t;p;y;firmware"), Spec{Targets: []string{"y"}})
	if p := thousands.Columns[1]; p.Style != string(notation.PointStyle) || p.Min < 1000 {
		t.Errorf("%+v", p)
	}
	for _, s := range []*Schema{s, thousands} {
		var all [][]float32
		for _, columns := range []string{"t;p;y;firmware", "t;p;y", "firmware;p;y;t", "p;t;y"} {
			set, err := s.Encode(open(t, strings.Replace(device(columns), "firmware", "version", 1)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, set.X.Mean)
		}
		if !slices.Equal(all[0], all[1]) || !slices.Equal(all[0], all[2]) || !slices.Equal(all[0], all[3]) {
			t.Error("the columns of a file that are not used change how others are read")
		}
	}
	// The file may write numbers otherwise, if it leaves no doubt.
	want, err := s.Encode(open(t, "t;p;y\n36,5;1,516;2,5\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"t,p,y\n36.5,1.516,2.5\n", "t;p;y\n36.5;1.516;2.500\n", "t;p;y\n36,5;1.516;2.5\n"} {
		r := open(t, text)
		e, err := s.Bind(r.Header())
		if err != nil {
			t.Fatal(err)
		}
		if notes := e.Notes(); len(notes) != 2 || notes[0] != `a.csv, column p: "1.516" is read with a decimal point; the training table has a decimal comma` {
			t.Errorf("%q: %q", text, notes)
		}
		if got, err := s.Encode(r); err != nil || !slices.Equal(got.X.Mean, want.X.Mean) {
			t.Errorf("%q is read as %v, %v; want %v", text, got, err, want.X.Mean)
		}
	}
	_, err = s.Encode(open(t, "t;p;y\n36;1,516;2,500\n37;1.5;2,511\n"))
	wantError(t, "both in one column", err, `a.csv line 2, column p: "1,516" may mean 1516 or 1.516; write it as the training table writes numbers`)
	_, err = s.Encode(load(t, "t;p;y;z\n36;1,516;2,511;1.5\n").Rows(nil))
	wantError(t, "a table that was read before", err, `a.csv, column p: rows were read before the model could say what "1,516" means; bind it to the table first`)
	// Models of older files know it by the style of a column only.
	for i := range s.Columns {
		s.Columns[i].Point, thousands.Columns[i].Point = "", ""
	}
	if set, err := thousands.Encode(open(t, device("t;p;y;firmware"))); err != nil || set.X.Mean[1] > 10 || set.X.Mean[1] < -10 {
		t.Errorf("an older model of thousands: %v, %v", set.X.Mean[:2], err)
	}
	one, err := s.Encode(open(t, "t;p;y\n36;1,516;2,511\n"))
	if err != nil {
		t.Fatal(err)
	}
	if set, err := s.Encode(open(t, "t;p;y\n36;1,516;2,511\n37;2;3,511\n")); err != nil || set.X.Mean[1] != one.X.Mean[1] {
		t.Errorf("an older model of decimal commas: %v, %v", set.X.Mean, err)
	}
}

// The user may speak of a column that has no fractions in this file.
func TestDecimalOfWholeNumbers(t *testing.T) {
	s := infer(t, "x,y\n1.5,1\n2.5,2\n3.25,4\n", Spec{Targets: []string{"y"}})
	r, err := table.NewReader(strings.NewReader("x;y\n1;2\n3;4\n"), "a.csv", table.Options{Decimal: ','})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	e, err := s.Bind(r.Header())
	if err != nil || len(e.Notes()) > 0 {
		t.Errorf("%v, notes %q", err, e.Notes())
	}
}
