package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"utvi/internal/notation"
)

// TestRealColumns infers columns as people write them and encodes them again.
func TestRealColumns(t *testing.T) {
	for _, x := range []struct {
		name   string
		cells  []string
		impute bool
		want   Column // what must be so
		values []float64
		note   string
	}{
		{name: "thousands", cells: []string{"7,637", "12", "1,000,000"}, want: Column{Role: Input, Type: Numeric, Reading: Reading{Style: string(notation.PointStyle)}}, values: []float64{7637, 12, 1000000}, note: `"1,000,000" is read as 1000000`},
		{name: "decimal commas", cells: []string{"1.234,56", "2.000", "12,5"}, want: Column{Role: Input, Type: Numeric, Reading: Reading{Style: string(notation.CommaStyle)}}, values: []float64{1234.56, 2000, 12.5}},
		{name: "money", cells: []string{"$0.63", "$1,250.10", "$7"}, want: Column{Role: Input, Type: Numeric, Reading: Reading{Style: string(notation.PointStyle), Unit: "$"}}, values: []float64{0.63, 1250.1, 7}},
		{name: "per cent", cells: []string{"12 %", "3.5%", "0"}, want: Column{Role: Input, Type: Numeric, Reading: Reading{Style: string(notation.PointStyle), Unit: "%"}}, values: []float64{12, 3.5, 0}},
		{name: "per cent and shares", cells: []string{"12 %", "0.5", "3 %"}, want: Column{Role: Input, Type: Categorical}},
		{name: "marks", cells: []string{"1", "-", "3", "#N/A"}, impute: true, want: Column{Role: Input, Type: Numeric, Stats: Stats{Missing: 2}, Reading: Reading{Marks: []string{"#N/A", "-"}}}, values: []float64{1, math.NaN(), 3, math.NaN()}},
		{name: "marks among money", cells: []string{"€1", "–", "€3"}, impute: true, want: Column{Role: Input, Type: Numeric, Stats: Stats{Missing: 1}, Reading: Reading{Style: string(notation.PointStyle), Unit: "€", Marks: []string{"–"}}}, values: []float64{1, math.NaN(), 3}},
		{name: "names", cells: []string{"+", "-", "+", "-"}, want: Column{Role: Input, Type: Categorical, Encoding: Encoding{Levels: []string{"+", "-"}}}},
		{name: "countries", cells: []string{"NA", "DE", "US", "NA", "ZA", "DE", "US", "ZA"}, want: Column{Role: Input, Type: Categorical, Encoding: Encoding{Levels: []string{"DE", "NA", "US", "ZA"}}, Reading: Reading{NA: true}}, note: "NA is read as a name"},
		{name: "not countries", cells: []string{"NA", "red", "US", "ZA", "red", "US", "ZA"}, impute: true, want: Column{Role: Input, Type: Categorical, Stats: Stats{Missing: 1}, Encoding: Encoding{Levels: []string{"US", "ZA", "red"}}}},
		{name: "severities", cells: []string{"None", "Mild", "none", "None", "", "Severe", "Mild"}, impute: true, want: Column{Role: Input, Type: Categorical, Stats: Stats{Missing: 1}, Encoding: Encoding{Levels: []string{"Mild", "None", "Severe", "none"}}, Reading: Reading{None: true}}, note: "None is read as a name"},
		{name: "a rare None", cells: []string{"None", "a", "b", "a", "b", "a", "b", "a"}, impute: true, want: Column{Role: Input, Type: Categorical, Stats: Stats{Missing: 1}, Encoding: Encoding{Levels: []string{"a", "b"}}}},
		{name: "None among numbers", cells: []string{"None", "1", "None", "2", "3"}, impute: true, want: Column{Role: Input, Type: Numeric, Stats: Stats{Missing: 2}}, values: []float64{math.NaN(), 1, math.NaN(), 2, 3}},
		{name: "None among dates", cells: []string{"None", "1.2.2026", "5.2.2026", "None"}, impute: true, want: Column{Role: Input, Type: Times, Stats: Stats{Missing: 2}, Reading: Reading{Layout: "2.1.2006"}}},
		{name: "empty", cells: []string{"", "NA", "", ""}, want: Column{Role: Dropped, Stats: Stats{Missing: 4}}, note: "only missing values"},
		{name: "dates", cells: []string{"2026-01-01", "2026-06-30", "2027-01-01"}, want: Column{Role: Input, Type: Times, Reading: Reading{Layout: "2006-01-02", Parts: []Part{OfYear, OfWeek}}}},
		{name: "times", cells: []string{"2026-01-01 06:00", "2026-01-02 12:00", "2026-01-02 18:30"}, want: Column{Role: Input, Type: Times, Reading: Reading{Layout: "2006-01-02 15:04", Parts: []Part{OfDay}}}},
		{name: "clock", cells: []string{"06:00", "12:00", "23:30"}, want: Column{Role: Input, Type: Times, Reading: Reading{Layout: "15:04", Parts: []Part{OfDay}}}},
		{name: "day first", cells: []string{"31/01/2026", "01/02/2026", "02/02/2026"}, want: Column{Role: Input, Type: Times, Reading: Reading{Layout: "2/1/2006", Parts: nil}}},
		{name: "either first", cells: []string{"01/01/2026", "01/02/2026", "02/02/2026"}, want: Column{Role: Input, Type: Times, Reading: Reading{Layout: "1/2/2006", Parts: []Part{OfWeek}}}, note: "read as month/day/year; the cells also fit day/month/year"},
		{name: "German dates", cells: []string{"31.1.2026", "1.2.2026", "-"}, impute: true, want: Column{Role: Input, Type: Times, Stats: Stats{Missing: 1}, Reading: Reading{Layout: "2.1.2006", Marks: []string{"-"}}}},
	} {
		text := "c|y\n"
		for i, cell := range x.cells {
			text += fmt.Sprintf("%s|%d\n", cell, i)
		}
		text = strings.Replace(text, "c|y\n", "c|y|z\n", 1)
		lines := strings.Split(strings.TrimSpace(text), "\n")
		for i := range lines[1:] {
			lines[i+1] += fmt.Sprintf("|%d", 7*i%3)
		}
		text = strings.Join(lines, "\n") + "\n"
		spec := Spec{Targets: []string{"y"}, Impute: x.impute}
		f := load(t, text)
		s, err := Infer(f.Rows(nil), spec)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		c := s.Columns[0]
		got := Column{Role: c.Role, Type: c.Type, Stats: Stats{Missing: c.Missing}, Reading: Reading{Style: c.Style, Unit: c.Unit, Marks: c.Marks, NA: c.NA, None: c.None, Layout: c.Layout, Parts: c.Parts}}
		if x.want.Levels != nil {
			got.Levels = c.Levels
		}
		if !reflect.DeepEqual(got, x.want) || x.note != "" && c.Note != x.note {
			t.Errorf("%s: column is\n%+v, %q, want\n%+v, %q", x.name, got, c.Note, x.want, x.note)
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Parse(data); err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("%s: read back as %+v, %v", x.name, back, err)
		}
		set, err := s.Encode(f.Rows(nil))
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		for row, v := range x.values {
			want := float32((v - c.Mean) / c.SD)
			if v != v {
				want = 0
			}
			if got := set.X.Mean[row*set.X.Width]; got != want {
				t.Errorf("%s: row %d is %v, want %v", x.name, row, got, want)
			}
			if flag := set.X.Mean[row*set.X.Width+1]; x.want.Missing > 0 && (flag == 1) != (v != v) {
				t.Errorf("%s: row %d is marked %v", x.name, row, flag)
			}
		}
	}
}

// TestMissingNeedsImpute names the cell with a mark where missing values were not allowed.
func TestMissingNeedsImpute(t *testing.T) {
	_, err := Infer(load(t, "x,y\n1,2\n-,3\n4,5\n").Rows(nil), Spec{Targets: []string{"y"}})
	wantError(t, "a mark", err, "a.csv line 3, column x: \"-\" stands for a missing value; impute missing values, or ignore column x")
}

// TestTimePhases puts times where the calendar has them.
func TestTimePhases(t *testing.T) {
	s := infer(t, "t,y\n2026-01-01 00:00:00,1\n2026-07-02 12:00:00,2\n2026-12-31 18:00:00,3\n", Spec{Targets: []string{"y"}})
	if got, want := fmt.Sprint(s.Inputs()), "[t t: sine of the year t: cosine of the year t: sine of the week t: cosine of the week t: sine of the day t: cosine of the day]"; got != want {
		t.Fatalf("inputs are %s", got)
	}
	set, err := s.Encode(load(t, "t,y\n2026-01-01 00:00:00,1\n2026-04-05 06:00:00,1\n").Rows(nil))
	if err != nil {
		t.Fatal(err)
	}
	near := func(got []float32, want ...float64) {
		t.Helper()
		for i, v := range want {
			if math.Abs(float64(got[i])-v) > 1e-6 {
				t.Errorf("phases are %v, want %v", got, want)
				return
			}
		}
	}
	sc := func(turn float64) (s, c float64) { return math.Sincos(2 * math.Pi * turn) }
	y0, y1 := sc(0)
	w0, w1 := sc(4. / 7) // a Thursday
	near(set.X.Mean[1:7], y0, y1, w0, w1, 0, 1)
	y0, y1 = sc((94 + 0.25) / 366)
	w0, w1 = sc(0.25 / 7) // a Sunday
	near(set.X.Mean[8:14], y0, y1, w0, w1, 1, 0)
	if _, err := s.Encode(load(t, "t,y\nsoon,1\n").Rows(nil)); err == nil || !strings.Contains(err.Error(), `"soon" is not year-month-day hour:minute:second such as 2023-01-31 14:30:00`) {
		t.Error(err)
	}
}

func TestWithTargets(t *testing.T) {
	f := load(t, "x,y,c\n1,2,a\n2,,b\n3,-,c\n4,5,\n6,7,NA\n")
	rows, missing := WithTargets(f, nil, []string{"y"})
	if !slices.Equal(rows, []int{0, 3, 4}) || missing != 2 {
		t.Errorf("rows %v, %d missing", rows, missing)
	}
	rows, missing = WithTargets(f, []int{0, 3, 4}, []string{"y", "c"})
	if !slices.Equal(rows, []int{0}) || missing != 2 {
		t.Errorf("rows %v, %d missing", rows, missing)
	}
	if got := MarkOfTarget(f, []string{"y"}); got != `"-" (a.csv line 4)` {
		t.Error(got)
	}
	f = load(t, "c,x\nNone,1\nMild,2\nNone,3\n,4\n")
	if rows, missing := WithTargets(f, nil, []string{"c"}); len(rows) != 3 || missing != 1 || MarkOfTarget(f, []string{"c"}) != "" {
		t.Errorf("of names with None, %d are missing", missing)
	}
	f = load(t, "c,x\n+,1\n-,2\n+,3\n")
	if rows, missing := WithTargets(f, nil, []string{"c"}); len(rows) != 3 || missing != 0 {
		t.Errorf("of names, %d are missing", missing)
	}
}

// TestManyColumns lists a few of very many columns.
func TestManyColumns(t *testing.T) {
	var names, cells []string
	for i := range 3000 {
		names, cells = append(names, fmt.Sprintf("x%d", i)), append(cells, fmt.Sprint(i%7))
	}
	row2 := strings.ReplaceAll(strings.Join(cells, ","), "1", "9")
	s := infer(t, strings.Join(names, ",")+",y\n"+strings.Join(cells, ",")+",1\n"+row2+",2\n", Spec{Targets: []string{"y"}})
	var b strings.Builder
	if err := s.WriteSummary(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > 70 || !strings.Contains(b.String(), "\ny ") || !strings.Contains(b.String(), "more columns (in all 429 input columns, 2571 dropped)") {
		t.Errorf("%d lines:\n%s", n, b.String()[max(0, b.Len()-300):])
	}
}

// TestDigits keeps apart what differs.
func TestDigits(t *testing.T) {
	c := Column{Type: Numeric, Stats: Stats{Mean: 1e9, SD: 0.8, Min: 999999998.5, Max: 1000000001.25}}
	if got := c.Range(); got != "999999998.50 to 1000000001.25" {
		t.Error(got)
	}
	c = Column{Type: Numeric, Stats: Stats{SD: 1, Min: -1.25, Max: 12.34567}}
	if got := c.Range(); got != "-1.25 to 12.35" {
		t.Error(got)
	}
	one := infer(t, "x,y\n1,2\n2,3\n", Spec{Targets: []string{"y"}})
	var b strings.Builder
	one.WriteSummary(&b)
	if !strings.Contains(b.String(), "regression of y from 1 input; 2 rows\n") {
		t.Error(b.String())
	}
}

// TestHistogramsOfRealColumns counts styled numbers, times and NA as a name.
func TestHistogramsOfRealColumns(t *testing.T) {
	f := load(t, "a|when|land|y\n1,000|1.2.2026|NA|1\n2,000|3.2.2026|DE|2\n7|5.2.2026|US|3\n7|5.2.2026|FR|4\n")
	s, err := Infer(f.Rows(nil), Spec{Targets: []string{"y"}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Histograms(f.Rows(nil))
	if err != nil || len(all) != 4 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, h := range all {
		sum := 0
		for _, n := range h.Counts {
			sum += n
		}
		if err := h.Check(s); err != nil || sum != 4 {
			t.Errorf("%+v: %v", h, err)
		}
	}
	if n := all[2].Counts; n[len(n)-1] != 0 {
		t.Errorf("NA is counted as another level: %v", n)
	}
	if c := s.Columns[1]; c.WriteTime(c.Max) != "5.2.2026" {
		t.Errorf("the last day is written as %s", c.WriteTime(c.Max))
	}
	// A time of ISO 8601 is read, too: programs write it.
	iso, err := s.Encode(load(t, "a|when|land|y\n7|2026-02-05|US|3\n7|5.2.2026|US|3\n").Rows(nil))
	if w := iso.X.Width; err != nil || !slices.Equal(iso.X.Mean[:w], iso.X.Mean[w:]) {
		t.Errorf("%v, %v", iso.X.Mean, err)
	}
}
