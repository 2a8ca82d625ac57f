package schema

import (
	"fmt"
	"strings"
	"testing"
)

// A table without inputs is refused with the reason of each column.
func TestInputless(t *testing.T) {
	many := func(cell func(i int) string) string {
		b := "when,y\n"
		for i := range 20 {
			b += cell(i) + "," + string(rune('0'+i%7)) + "\n"
		}
		return b
	}
	for _, c := range []struct{ text, want string }{
		{"x,y\n1,2\n1,3\n", "x is constant: 1"},
		{"x,z,g,y\n,1,1,2\n,1,2,3\n", "x has only missing values; z is constant: 1; g is ignored"},
		{many(func(i int) string { return "name " + string(rune('a'+i)) }), "when is text that differs in every row"},
		{many(func(i int) string { return strings.Repeat("1", i+1) + []string{" kg", " g"}[i%2] }),
			"when is text that differs in every row: some numbers are in kg and others in g"},
		{many(func(i int) string {
			return []string{fmt.Sprintf("2026-01-%02d", i+1), fmt.Sprintf("%d.1.2026", i+1)}[i%2]
		}),
			`when is text that differs in every row: the dates are spelled in two ways ("2026-01-01" on line 2, "2.1.2026" on line 3)`},
		{"a,b,c,d,e,f,g,y\n1,1,1,1,1,1,1,1\n1,1,1,1,1,1,2,2\n", "a is constant: 1; b is constant: 1; c is constant: 1; d is constant: 1; e is constant: 1; and 2 others"},
		{"a,b,c,d,e,f,y\n1,1,1,1,1,1,1\n1,1,1,1,1,1,2\n", "a is constant: 1; b is constant: 1; c is constant: 1; d is constant: 1; e is constant: 1; and 1 other"},
		{"a,b,c,d,e,y\n1,1,1,1,1,1\n1,1,1,1,1,2\n", "a is constant: 1; b is constant: 1; c is constant: 1; d is constant: 1; e is constant: 1"},
		{"day,h,y\n2026-01-01,red,1\n2026-01-01,red,2\n", "day is the same time in every row; h is constant: red"},
		{"wt,of,at,y\n1,a,1,1\n2,b,2,2\n", "wt is the weight; of is the group; at is the time"},
		{"y\n1\n2\n", "the table has no other columns"},
	} {
		spec := Spec{Targets: []string{"y"}}
		if strings.Contains(c.text, "g,y") {
			spec.Ignore = []string{"g"}
		}
		if strings.HasPrefix(c.text, "wt,") {
			spec.Weight = "wt"
			spec.Group = "of"
			spec.Time = "at"
		}
		_, err := Infer(load(t, c.text).Rows(nil), spec)
		wantError(t, c.text, err, "a.csv: no column is left to predict from: "+c.want)
	}
}
