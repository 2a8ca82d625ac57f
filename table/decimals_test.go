package table

import (
	"strings"
	"testing"

	"utvi/internal/fractions"
)

// What stands before fractions is decided by column; columns that leave it open follow those in
// use.
func TestDecimalPoints(t *testing.T) {
	for _, c := range []struct {
		name, text, ignore string
		decimal            byte
		points, guessed    string
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
		guessed := ""
		for _, d := range r.Header().decimals.guessed {
			guessed += map[bool]string{true: "?", false: "-"}[d]
		}
		if got := string(r.Header().decimals.points); got != c.points || guessed != c.guessed {
			t.Errorf("%s: %s %s, want %s %s", c.name, got, guessed, c.points, c.guessed)
		}
		r.Close()
	}
}

// Where commas part fields, a comma stands before a fraction in quotes only.
func TestDecimalCommasInQuotes(t *testing.T) {
	text := "a,b,c\n\"1,5\",2011,3\n\"2,5\",1990,4e1\n"
	r, err := NewReader(strings.NewReader(text), "a.csv", Options{Header: WithHeader, Decimal: ','})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range [][2]float64{{1.5, 2.5}, {2011, 1990}, {3, 40}} {
		for i := range want {
			if _, got := c.Cell(i, j); got != want[i] {
				t.Errorf("row %d, column %d: %v, want %v", i+1, j+1, got, want[i])
			}
		}
	}
}

// A column that training shows and whose cells leave it open is read as the user says; without
// that, as in training, unless all other columns differ from it.
func TestPointOfTrainedColumn(t *testing.T) {
	for _, c := range []struct {
		user     byte
		opposite bool
		want     byte
	}{{0, false, ','}, {'.', false, '.'}, {',', true, ','}, {0, true, ','}} {
		d := &decimals{user: c.user, evidence: make([]evidence, 1)}
		if got := d.pointFor(0, fractions.Trained{Point: ','}, c.opposite); got != c.want {
			t.Errorf("the user says %q: %q, want %q", c.user, got, c.want)
		}
	}
}

// Columns of a file differ from the training table if those that training shows do, whatever
// others hold; where training shows none, none differs.
func TestAllDiffer(t *testing.T) {
	point := evidence{point: "1.5"}
	comma := evidence{comma: "1,5"}
	for i, c := range []struct {
		file    []evidence
		trained []fractions.Trained
		want    bool
	}{
		{[]evidence{point}, []fractions.Trained{{Used: true, Point: ','}}, true},
		{[]evidence{comma}, []fractions.Trained{{Used: true, Point: ','}}, false},
		{[]evidence{point, comma}, []fractions.Trained{{Used: true, Point: ','}, {Point: ','}}, true},
		{[]evidence{point, comma}, []fractions.Trained{{Used: true, Point: ','}, {Used: true, Point: ','}}, false},
		{[]evidence{point}, []fractions.Trained{{Used: true}}, false},
	} {
		d := &decimals{evidence: c.file}
		if got := d.allDiffer(c.trained); got != c.want {
			t.Errorf("case %d: %v, want %v", i, got, c.want)
		}
	}
}
