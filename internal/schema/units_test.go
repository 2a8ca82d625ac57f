package schema

import (
	"fmt"
	"strings"
	"testing"
)

// cells makes a table of a column with the given cells, repeated, and a target.
func cells(all ...string) string {
	var b strings.Builder
	b.WriteString("c;z;y\n")
	for i := range 30 {
		fmt.Fprintf(&b, "\"%s\";%d;%d\n", all[i%len(all)], i%7, i%5)
	}
	return b.String()
}

// Cells as people write them.
func TestCells(t *testing.T) {
	for _, c := range []struct {
		cells string
		kind  Type
		mean  float64
		note  string
	}{
		{"5 kg|6 kg|7.5 kg", Numeric, 18.5 / 3, `"7.5 kg" is read as 7.5`},
		{"5kg|1,006kg|7.5kg", Numeric, 1018.5 / 3, `"1,006kg" is read as 1006`},
		{"5 kg|-|7 kg", Numeric, 6, `"7 kg" is read as 7`},
		{"5 °C|6 °C|−7 °C", Numeric, 4. / 3, `"−7 °C" is read as -7`},
		{"5 m²|6 m²|7 m2", Categorical, 0, ""},
		{"3室|4室|5室", Numeric, 4, `"5室" is read as 5`},
		{"5 kg|6 g|7.5 kg", Categorical, 0, "some numbers are in kg and others in g, so they are read as names"},
		{"5 kg|6|7.5 kg", Categorical, 0, "some numbers are in kg and others have no unit, so they are read as names"},
		{"5%|6|7", Categorical, 0, "some numbers have a percent sign and others do not, so they are read as names"},
		{"$5|6 %|$7", Categorical, 0, "some numbers are in $ and others in %, so they are read as names"},
		{"12 ‰|13 ‰|15.5 ‰", Numeric, 13.5, `"15.5 ‰" is read as 15.5`},
		{"12 %|13 %|15.5 %", Numeric, 13.5, `"15.5 %" is read as 15.5`},
		{"$5|US$6|7 USD", Numeric, 6, `"7 USD" is read as 7`},
		{"2024 Q1|2024 Q2|2023 Q1", Categorical, 0, ""},
		{"3 Jan 2026|4 Jan 2026|9 Jan 2026", Times, 0, ""},
		{"5 kg|apple|6 g", Categorical, 0, ""},
		{"1/2|3/4|1/4", Categorical, 0, ""},
		{"yes|no|yes", Categorical, 0, ""},
		{"#NAME?|5|6", Numeric, 5.5, ""},
		{"1.5e3|1.4E+3|1300", Numeric, 1400, ""},
		{"20240101|20240215|20231231", Times, 0, "read as dates, the year first; name the column as categorical if they are not"},
		{"20240101|20240215|20231299", Numeric, (20240101 + 20240215 + 20231299) / 3., "*"},
		{"20240101|20240215", Numeric, 20240158, "*"},
		{"10240101|10240215|10231231", Numeric, (10240101 + 10240215 + 10231231) / 3., "*"},
	} {
		s := infer(t, cells(strings.Split(c.cells, "|")...), Spec{Targets: []string{"y"}, Impute: true})
		got := s.Columns[0]
		note, _, _ := strings.Cut(got.Note, "; 33 % of the values")
		if c.note == "*" {
			note = c.note
		}
		if got.Role != Input || got.Type != c.kind || c.kind == Numeric && fmt.Sprintf("%.9g", got.Mean) != fmt.Sprintf("%.9g", c.mean) || note != c.note {
			t.Errorf("%s: %s %s, mean %v, note %q; want %s, mean %v, note %q", c.cells, got.Role, got.Type, got.Mean, got.Note, c.kind, c.mean, c.note)
		}
	}
	_, err := Infer(load(t, cells("$5", "€6", "$7")).Rows(nil), Spec{Targets: []string{"y"}})
	wantError(t, "two currencies", err, "a.csv, column c: some amounts are in $ and others in € (\"$5\" on line 2, \"€6\" on line 3); convert them to one currency, or ignore the column")
	_, err = Infer(load(t, cells("5 %", "60 ‰", "7 %")).Rows(nil), Spec{Targets: []string{"y"}})
	wantError(t, "% and ‰", err, `a.csv, column c: some numbers are in % and others in ‰ ("5 %" on line 2, "60 ‰" on line 3); convert them to one unit, or ignore the column`)
	_, err = Infer(load(t, cells("$5", "€6", "$7")).Rows(nil), Spec{Targets: []string{"c"}})
	wantError(t, "a target in two currencies", err, "a.csv, column c: some amounts are in $ and others in € (\"$5\" on line 2, \"€6\" on line 3); convert them to one currency, or ignore the column")
}

// A model reads the units and the dates that it was trained with.
func TestCellsOfAModel(t *testing.T) {
	s := infer(t, cells("5 kg", "6 kg", "7.5 kg"), Spec{Targets: []string{"y"}})
	weights, err := s.Encode(load(t, "c,z,y\n6 kg,1,1\n6,1,1\n6kg,1,1\n").Rows(nil))
	if err != nil || weights.X.Mean[0] != weights.X.Mean[2] || weights.X.Mean[0] != weights.X.Mean[4] {
		t.Errorf("6 kg in three ways: %v, %v", weights, err)
	}
	_, err = s.Encode(load(t, "c,z,y\n6 g,1,1\n").Rows(nil))
	wantError(t, "another unit", err, `a.csv line 2, column c: "6 g" is not a number such as 1,234.5 kg`)

	s = infer(t, cells("$5", "$6", "$7.50"), Spec{Targets: []string{"y"}})
	if amounts, err := s.Encode(load(t, "c,z,y\n6 USD,1,1\n6,1,1\n$6,1,1\n").Rows(nil)); err != nil || amounts.X.Mean[0] != amounts.X.Mean[2] || amounts.X.Mean[0] != amounts.X.Mean[4] {
		t.Errorf("six dollars in three ways: %v, %v", amounts, err)
	}
	_, err = s.Encode(load(t, "c,z,y\n€6,1,1\n").Rows(nil))
	wantError(t, "another currency", err, `a.csv line 2, column c: "€6" is not a number such as $1,234.5`)

	s = infer(t, cells("20240101", "20240215", "20231231", "20230601"), Spec{Targets: []string{"y"}})
	if c := s.Columns[0]; len(c.Parts) != 2 || c.Range() != "2023-06-01 to 2024-02-15" {
		t.Errorf("%+v", c)
	}
	days, err := s.Encode(load(t, "c,z,y\n20240215,1,1\n2024-02-15,1,1\n").Rows(nil))
	if w := len(s.Inputs()); err != nil || days.X.Mean[0] != days.X.Mean[w] || days.X.Mean[1] != days.X.Mean[w+1] {
		t.Errorf("a day in two ways: %v, %v", days, err)
	}
	_, err = s.Encode(load(t, "c,z,y\n20240299,1,1\n").Rows(nil))
	wantError(t, "no such day", err, `a.csv line 2, column c: "20240299" is not a time such as 20230131, which the model was trained with`)
}
