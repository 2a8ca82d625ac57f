package table

import (
	"fmt"
	"slices"
	"testing"
)

// groupAt is the group of a row of groupedTable.
func groupAt(row int) int {
	g := 0
	for row > g {
		row -= g + 1
		g++
	}
	return g
}

// Folds part the rows: each row is in one part, parts are about equal, groups and classes keep what
// is promised of them, and what cannot be is said.
func TestFolds(t *testing.T) {
	f := load(t, groupedTable())
	some := []int{3, 5, 8, 13, 21, 34, 55}
	for _, c := range []struct {
		rows  []int
		n     int
		s     Split
		least int // rows of a part
	}{{nil, 5, Split{Seed: 1}, 15}, {some, 7, Split{Seed: 1}, 1}, {some, 3, Split{Seed: 4}, 2}, {nil, 4, Split{Seed: 2, Group: "g"}, 8}} {
		parts, err := f.Folds(c.rows, c.n, c.s)
		if err != nil || len(parts) != c.n {
			t.Fatalf("%+v: %d parts, %v", c, len(parts), err)
		}
		all := slices.Concat(parts...)
		slices.Sort(all)
		if want := f.orAll(c.rows); !slices.Equal(all, want) {
			t.Errorf("%+v: the parts hold %v, want %v", c, all, want)
		}
		home := map[int]int{}
		for k, part := range parts {
			if len(part) < c.least || !slices.IsSorted(part) {
				t.Errorf("%+v: part %d is %v", c, k, part)
			}
			for _, row := range part {
				g := groupAt(row)
				if other, seen := home[g]; c.s.Group != "" && seen && other != k {
					t.Errorf("group %d is in the parts %d and %d", g, other, k)
				}
				home[g] = k
			}
		}
		again, err := f.Folds(c.rows, c.n, c.s)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(parts) {
			t.Errorf("%+v: the same seed gives other parts, %v", c, err)
		}
	}
	for want, c := range map[string]struct {
		n int
		s Split
	}{
		"a.csv: 1 folds of 78 rows; there must be at least 2, and at most one for each row":  {1, Split{}},
		"a.csv: 79 folds of 78 rows; there must be at least 2, and at most one for each row": {79, Split{}},
		"a.csv: column g has too few groups for 13 folds":                                    {13, Split{Group: "g"}},
		"a.csv has no column z, which is named as group; its columns are g, t, d, same":      {3, Split{Group: "z"}},
		"a.csv has no column z, which is named as class; its columns are g, t, d, same":      {3, Split{Class: "z"}},
	} {
		_, err := f.Folds(nil, c.n, c.s)
		wantError(t, fmt.Sprint(c), err, want)
	}
}
