package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What stands before fractions is decided by column; columns that leave it open follow those in
// use.
func TestWriting(t *testing.T) {
	for _, c := range []struct {
		name, text, ignore string
		decimal            byte
		points, doubt      string
	}{
		{"points", "a,b\n1.5,2\n", "", 0, "..", "--"},
		{"semicolons and commas", "a;b\n1,5;2\n", "", 0, ",,", "--"},
		{"a column each", "a;b\n1,5;2.5\n", "", 0, ",.", "--"},
		{"three digits, commas", "a;b\n1,516;2,5\n", "", 0, ",,", "--"},
		{"three digits, points", "a;b\n1,516;2.5\n", "", 0, "..", "?-"},
		{"three digits, points that are not used", "a;b\n1,516;2.5\n", "b", 0, ",.", "?-"},
		{"three digits, commas and points", "a;b;c\n1,516;2.5;2,5\n", "", 0, ",.,", "---"},
		{"three digits only", "a;b\n1,516;2\n3,340;3\n", "", 0, ",,", "?-"},
		{"three digits, no semicolons", "a|b\n1,516|2\n3,340|3\n", "", 0, "..", "--"},
		{"small numbers without a comma", "a;b\n2,056;2\n178;3\n", "", 0, "..", "?-"},
		{"and large ones", "a;b\n2,056;2\n178;3\n4000;3\n", "", 0, ",,", "?-"},
		{"in another column", "a;b\n2,056;178\n5,423;3,008\n", "", 0, "..", "??"},
		{"two commas", "a;b\n97,707;1,701\n3,340,114;58,114\n", "", 0, "..", "--"},
		{"a comma and a point", "a;b\n97,707;1,701\n3,340.5;58,114\n", "", 0, "..", "--"},
		{"commas of both kinds", "a;b;c\n97,707;1,5;3,340,114\n", "", 0, ",,.", "?--"},
		{"an exponent", "a;b\n6,593e-02;1.5\n", "", 0, ",.", "--"},
		{"points between thousands", "a;b\n1.234.567;1,5\n12.345;2,5\n", "", 0, ",,", "--"},
		{"perhaps", "a;b\n1.234;1,5\n999;2,5\n", "", 0, ",,", "--"},
		{"perhaps not", "a;b\n1.234;1,5\n1.999;2,5\n", "", 0, ".,", "?-"},
		{"perhaps not, beside both", "a;b;c\n1.234;1,5;1.5\n1.999;2,5;2.5\n", "", 0, ".,.", "---"},
		{"both in one column", "a;b\n1.25;1\n1,5;2\n", "", 0, "..", "--"},
		{"the user says", "a;b\n2,056;2.5\n178;3\n", "", ',', ",.", "--"},
		{"years as names", "2020;2021\n2,056;2\n178;3\n", "", 0, "..", "?-"},
	} {
		r, err := NewReader(strings.NewReader(c.text), "a.csv", Options{Header: WithHeader, Decimal: c.decimal, Used: func(name string) bool { return name != c.ignore }})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		doubt := ""
		for _, d := range r.Header().doubt {
			doubt += map[bool]string{true: "?", false: "-"}[d]
		}
		if got := string(r.Header().points); got != c.points || doubt != c.doubt {
			t.Errorf("%s: %s %s, want %s %s", c.name, got, doubt, c.points, c.doubt)
		}
		r.Close()
	}
}

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
	r, err := NewReader(strings.NewReader(device("t;p;y;firmware")), "a.csv", Options{Used: func(name string) bool { return name != "firmware" }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := Infer(r, Spec{Targets: []string{"y"}, Ignore: []string{"firmware"}})
	if err != nil {
		t.Fatal(err)
	}
	p := s.Columns[1]
	if p.Point != "," || p.Max > 10 || p.Odd != `"1,100" is read as 1.1; if it means 1100, set decimal to point` {
		t.Errorf("%+v", p)
	}
	var dots strings.Builder
	dots.WriteString("a;y\n")
	for i := range 40 {
		fmt.Fprintf(&dots, "%d.%03d;%d,5\n", 1+i, 100+i, i)
	}
	if a := infer(t, dots.String(), Spec{Targets: []string{"y"}}).Columns[0]; a.Max > 50 || a.Odd != `"1.100" is read as 1.1; if it means 1100, set decimal to comma` {
		t.Errorf("%+v", a)
	}
	thousands := infer(t, device("t;p;y;firmware"), Spec{Targets: []string{"y"}})
	if p := thousands.Columns[1]; p.Style != PointStyle || p.Min < 1000 {
		t.Errorf("%+v", p)
	}
	for _, s := range []*Schema{s, thousands} {
		var all [][]float32
		for _, columns := range []string{"t;p;y;firmware", "t;p;y", "firmware;p;y;t"} {
			set, err := s.Encode(open(t, strings.Replace(device(columns), "firmware", "version", 1)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, set.X.Mean)
		}
		if !slices.Equal(all[0], all[1]) || !slices.Equal(all[0], all[2]) {
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
