package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// groupedTable has 12 groups of 1 … 12 rows, and times that fall with the row.
func groupedTable() string {
	var b strings.Builder
	b.WriteString("g,t,d,same\n")
	i := 0
	for g := range 12 {
		for range g + 1 {
			fmt.Fprintf(&b, "g%d,%d,2026-%02d-%02d,1\n", g, 100-i, 12-i/20, 28-i%20)
			i++
		}
	}
	return b.String()
}

func TestSplit(t *testing.T) {
	f := load(t, groupedTable())
	n := f.Len()
	parts := func(rows []int, s Split) (train, held []int) {
		t.Helper()
		train, held, err := f.Split(rows, s)
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Concat(train, held)
		slices.Sort(all)
		want := rows
		if rows == nil {
			for i := range n {
				want = append(want, i)
			}
		}
		if !slices.Equal(all, want) || !slices.IsSorted(train) || !slices.IsSorted(held) {
			t.Fatalf("%+v: parts are %v and %v", s, train, held)
		}
		return train, held
	}
	_, a := parts(nil, Split{Seed: 1, Fraction: 0.25})
	_, again := parts(nil, Split{Seed: 1, Fraction: 0.25})
	_, b := parts(nil, Split{Seed: 2, Fraction: 0.25})
	if len(a) != 20 || !slices.Equal(a, again) || slices.Equal(a, b) {
		t.Errorf("drawn rows are %v, %v, %v", a, again, b)
	}
	if got, want := fmt.Sprint(a), "[8 9 10 11 12"; strings.HasPrefix(got, want) {
		t.Errorf("rows are not drawn: %s", got)
	}
	train, held := parts(a, Split{Seed: 3, Fraction: 0.01})
	if len(train) != 19 || len(held) != 1 {
		t.Errorf("of 20 rows %d and %d", len(train), len(held))
	}

	total := 0
	for seed := range uint64(20) {
		train, held := parts(nil, Split{Seed: seed, Fraction: 0.3, Group: "g"})
		side := map[string]int{}
		for i, rows := range [][]int{train, held} {
			for _, row := range rows {
				c, at := f.At(row)
				side[c.Text(at, 0)] |= 1 << i
			}
		}
		for g, s := range side {
			if s == 3 {
				t.Errorf("seed %d: group %s is on both sides", seed, g)
			}
		}
		total += len(held)
	}
	if mean := float64(total) / 20 / float64(n); mean < 0.2 || mean > 0.4 {
		t.Errorf("by groups %g of the rows are held out, want about 0.3", mean)
	}

	for _, column := range []string{"t", "d"} {
		_, held := parts(nil, Split{Seed: 1, Fraction: 0.05, Time: column})
		if !slices.Equal(held, []int{0, 1, 2, 3}) {
			t.Errorf("the latest by %s are %v", column, held)
		}
	}
	ties := load(t, "t,x\n1,1\n2,1\n2,1\n2,1\n2,1\n3,1\n")
	train, held, err := ties.Split(nil, Split{Fraction: 0.5, Time: "t"})
	if err != nil || len(held) != 1 || held[0] != 5 {
		t.Errorf("equal times were parted: %v, %v, %v", train, held, err)
	}
}

func TestSplitErrors(t *testing.T) {
	f := load(t, "g,t,d,same\na,1,2026-01-01,1\nb,2,soon,1\n,3,,1\n")
	for want, s := range map[string]Split{
		"the fraction of rows to hold out is 1; it must lie between 0 and 1":                                                {Fraction: 1},
		"rows are split by groups or by time; name one of the columns, not both":                                            {Fraction: .5, Group: "g", Time: "t"},
		"a.csv has no column z, which is named as group; its columns are g, t, d, same":                                     {Fraction: .5, Group: "z"},
		"a.csv line 4, column g: the group is missing":                                                                      {Fraction: .5, Group: "g"},
		"a.csv: column same has only one value; at least 2 are needed to hold rows out by it":                               {Fraction: .5, Time: "same"},
		`a.csv line 3, column d: "soon" is not a time; write a number, or a date such as 2026-01-31 or 2026-01-31 15:04:05`: {Fraction: .5, Time: "d"},
	} {
		_, _, err := f.Split(nil, s)
		wantError(t, fmt.Sprint(s), err, want)
	}
	_, _, err := f.Split([]int{1}, Split{Fraction: .5})
	wantError(t, "one row", err, "a.csv: 1 rows cannot be split into training and held-out rows")
}

// Rows that were picked keep their lines and texts.
func TestPickedRows(t *testing.T) {
	f := load(t, "x,k\n1,a\n\n2,b\n3,c\n")
	c, err := f.Rows([]int{2, 1}).Next()
	if err != nil || c.Rows() != 2 || c.Line(0) != 5 || c.Line(1) != 4 || c.Text(0, 1) != "c" || c.Text(1, 0) != "2" {
		t.Errorf("%+v, %v", c, err)
	}
}

// Rows are sorted by numbers or dates; rows of one time keep their order.
func TestByTime(t *testing.T) {
	f := load(t, "when,x\n2026-03-01,1\n2026-01-01,2\n2026-02-01,3\n2026-01-01,4\n2025-12-31,5\n")
	for _, c := range []struct{ rows, want []int }{
		{nil, []int{4, 1, 3, 2, 0}}, {[]int{3, 2, 1}, []int{3, 1, 2}}, {[]int{0}, []int{0}}, {[]int{}, []int{}},
	} {
		if got, err := f.ByTime(c.rows, "when"); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("rows %v by time: %v, %v, want %v", c.rows, got, err, c.want)
		}
	}
	if _, err := f.ByTime(nil, "where"); err == nil {
		t.Error("a column that does not exist sorts rows")
	}
}

// A row stays to learn from, and one to score, whatever the share is.
func TestHeld(t *testing.T) {
	for _, c := range []struct {
		fraction   float64
		rows, want int
	}{{0.2, 10, 2}, {0.2, 2, 1}, {0, 10, 1}, {0.9, 2, 1}, {0.97, 10, 9}, {1, 10, 9}, {0.25, 10, 3}} {
		if got := (Split{Fraction: c.fraction}).Held(c.rows); got != c.want {
			t.Errorf("%g of %d rows are %d, want %d", c.fraction, c.rows, got, c.want)
		}
	}
}
