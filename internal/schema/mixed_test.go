package schema

import (
	"fmt"
	"strings"
	"testing"

	"utvi/internal/notation"
)

// strayed is a table of a column c, made by cell, an input and a target.
func strayed(n int, cell func(i int) string) string {
	var b strings.Builder
	b.WriteString("c,x,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%s,%d,%d\n", cell(i), i*i%7, i*5%11)
	}
	return b.String()
}

// replaced is a column of numbers with this text in every k-th row, from the third on.
func replaced(text string, k, different int) func(i int) string {
	return func(i int) string {
		if i%k == 2 {
			return text
		}
		return fmt.Sprintf("%d.%d", i%different/10, i%different%10)
	}
}

// A text in a column of numbers is refused however few values the column has; where they may be
// categories, it is warned of.
func TestStrays(t *testing.T) {
	for _, c := range []struct {
		name string
		cell func(i int) string
		odd  string // of names
		err  string // "": none
	}{
		{"a typo", replaced("3.O", 300, 40), "", `a.csv line 4, column c: "3.O" is text in a column of numbers; correct it or leave the cell empty, `},
		{"bounds", replaced("<2.0", 20, 40), "", `a.csv line 4, column c: "<2.0" is text in a column of numbers; correct it or leave the cell empty, `},
		{"a typo among marks", func(i int) string {
			if i%3 == 0 {
				return "-"
			}
			return replaced("3.O", 300, 40)(i)
		}, "", `a.csv line 4, column c: "3.O" is text in a column of numbers; correct it or leave the cell empty, `},
		{"few numbers", replaced("CVT", 30, 5), `nearly all cells are numbers, but "CVT" on line 4 is not, so they are read as %s; correct such cells or leave them empty`, ""},
		{"names", replaced("CVT", 4, 20), "", ""},
		{"durations", func(i int) string { return []string{"1h 20m", "57m", "2h"}[i%3] }, `the cells look like durations, such as "1h 20m" on line 2, but are not read as numbers, so they are read as %s; write them as plain numbers`, ""},
		{"ages", func(i int) string { return []string{"18-24", "25-34", ">65", "<18"}[i%4] }, "", ""},
		{"incomes", func(i int) string { return []string{"<=50", ">50"}[i%2] }, "", ""},
	} {
		text := strayed(300, c.cell)
		for _, column := range []string{"input", "target"} {
			spec := Spec{Targets: []string{"y"}, Impute: true}
			ways := "set ignore to c, or set categorical to c"
			became := "names"
			if column == "target" {
				spec.Targets = []string{"c"}
				ways = "or set categorical to c"
				became = "classes"
			}
			if column == "target" && (c.name == "durations" || c.name == "a typo among marks") {
				continue
			}
			s, err := Infer(load(t, text).Rows(nil), spec)
			if c.err != "" {
				wantError(t, c.name+" of the "+column, err, c.err+ways)
				spec.Categorical = []string{"c"}
				if s := infer(t, text, spec); s.Columns[0].Type != Categorical || s.Columns[0].Warning != "" {
					t.Errorf("%s of the %s: %+v", c.name, column, s.Columns[0])
				}
				continue
			}
			want := c.odd
			if want != "" {
				want = fmt.Sprintf(c.odd, became)
			}
			if err != nil || s.Columns[0].Warning != want {
				t.Errorf("%s of the %s: %v, %q, want %q", c.name, column, err, s.Columns[0].Warning, want)
			}
		}
	}
}

// A target of dates or durations is told as such, unless the user wants classes.
func TestUntold(t *testing.T) {
	const ends = ", which cannot be predicted; write them as numbers, such as days or minutes, or set categorical to c"
	for want, cell := range map[string]func(i int) string{
		`a.csv: the target c holds dates or times ("2024-01-01" on line 2)`:       func(i int) string { return fmt.Sprintf("2024-01-%02d", 1+i%28) },
		`a.csv: the target c holds dates or times ("2024-01-01" on line 2)` + " ": func(i int) string { return []string{"2024-01-01", "2.1.2024"}[i%2] },
		`a.csv: the target c holds dates or times ("1:10:00" on line 2)`:          func(i int) string { return fmt.Sprintf("%d:%d:00", 1+i%5, 10+i%40) },
		`a.csv: the target c holds durations ("PT1H13M" on line 2)`:               func(i int) string { return fmt.Sprintf("PT%dH13M", 1+i%5) },
		`a.csv: the target c holds durations ("27:15:00" on line 2)`:              func(i int) string { return fmt.Sprintf("%d:15:00", 27+i%5) },
		`a.csv: the target c holds dates ("20240101" on line 2)`:                  func(i int) string { return fmt.Sprintf("202401%02d", 1+i%28) },
	} {
		text := strayed(100, cell)
		_, err := Infer(load(t, text).Rows(nil), Spec{Targets: []string{"c"}})
		wantError(t, want, err, strings.TrimSpace(want)+ends)
		for _, spec := range []Spec{{Targets: []string{"c"}, Task: Classification}, {Targets: []string{"c"}, Categorical: []string{"c"}}} {
			if s := infer(t, text, spec); s.Task != Classification {
				t.Errorf("%s: %+v is a %s", want, spec, s.Task)
			}
		}
	}
}

// Columns that are left out although people read them as numbers are warned of.
func TestLookalikes(t *testing.T) {
	for cell, want := range map[string]string{
		"%d.25×10^3":   "numbers with powers of ten",
		"%d.25 ± 0.10": "numbers with errors",
		"%dh 20m":      "durations",
		"PT%dM":        "durations",
		"%d:15:00":     "durations",
		"P%dD":         "durations",
		"'%d.5":        "numbers with a quote before or a minus behind them",
		"%d.5-":        "numbers with a quote before or a minus behind them",
		"١%d":          "numbers in the digits of another script",
		"ID-%d-":       "", "٢-%d a": "", "1-%d": "",
		"%d days 3 min": "durations",
		"A%d":           "", "%d.1.1": "", "%d/7": "", "2023-Q%d": "", "%d monkeys": "",
	} {
		text := strayed(100, func(i int) string { return fmt.Sprintf(cell, 30+i) })
		c := infer(t, text, Spec{Targets: []string{"y"}}).Columns[0]
		if want != "" {
			want = fmt.Sprintf("the cells look like %s, such as %s on line 2, but are not read as numbers, so the column is left out; write them as plain numbers", want, notation.Quote(fmt.Sprintf(cell, 30)))
		}
		if c.Warning != want || want != "" && c.Role != Dropped {
			t.Errorf("%s: %s, %q, want %q", cell, c.Role, c.Warning, want)
		}
	}
}
