package fit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// odd is a table of an input x, and a column of these cells in turn.
func odd(name string, cells ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s,x,y\n", name)
	for i := range 300 {
		fmt.Fprintf(&b, "%s,%d,%d.5\n", cells[i%len(cells)], i*i%37, i*7%53)
	}
	return b.String()
}

// Columns that a person would read in another way are named, with the cells that show it.
func TestOddColumns(t *testing.T) {
	var stray []string
	for i := range 20 {
		stray = append(stray, fmt.Sprintf("2023-01-%02d", i+1))
	}
	stray[19] = "soon"
	for _, c := range []struct {
		name  string
		cells []string
		want  string // "": nothing
	}{
		{"y_std", []string{"1", "2", "3"}, "column y_std looks like the error of the target y, but is used as an input; set ignore to y_std if it is not known when predictions are made"},
		{"d", []string{"2023-01-02", "3.1.2023", "2023-01-04"}, `column d: the dates are spelled in two ways ("2023-01-02" on line 2, "3.1.2023" on line 3), so they are read as names; spell all in one way`},
		{"d", []string{"2023-01-02", "3.1.2023", "soon"}, ""},
		{"d", []string{"2023-01-02", "2023-01-03"}, ""},
		{"d", stray, `column d: not all cells are dates ("2023-01-01" on line 2, "soon" on line 21), so they are read as names; correct such cells, or leave them empty`},
		{"w", []string{"5 kg", "7 kg", "6 g"}, `column w: some numbers are in kg and others in g ("5 kg" on line 2, "6 g" on line 4), so they are read as names; write all in one unit`},
		{"w", []string{"4", "5 kg", "7 kg"}, `column w: some numbers are in kg and others have no unit ("5 kg" on line 3, "4" on line 2), so they are read as names; write all in one unit`},
		{"w", []string{"1st", "2nd", "3rd"}, ""},
		{"w", []string{"2023 H1", "2023 H2", "2024 H1", "2024 H2"}, ""},
		{"v", []string{"1", "2", "3", "100"}, ""},
		{"v", []string{"1", "2", "3", "-999"}, "column v: 23 % of the values are -999, far from all others; leave such cells empty if they mark missing values"},
		{"v", []string{"1", "2", "3", "1", "2", "3", "1", "2", "3", "1", "2", "3", "50"}, "column v: 7.8 % of the values are 50, far from all others; leave such cells empty if they mark missing values"},
	} {
		got := slices.DeleteFunc(warned(t, odd(c.name, c.cells...)), func(s string) bool { return strings.Contains(s, "held-out") || strings.HasPrefix(s, "only ") })
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s of %v: got\n%q, want\n%q", c.name, c.cells, got, c.want)
		}
	}
}
