package schema

import (
	"fmt"
	"strings"
	"testing"
)

// names is a table of n rows with so many different names.
func names(n, different int) string {
	var b strings.Builder
	b.WriteString("x,name,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%d.5,name %d,%d\n", i*i%7, i%different, i%5)
	}
	return b.String()
}

// A column that the user calls categorical is used, or the fit stops because of it.
func TestChosenCategories(t *testing.T) {
	spec := Spec{Targets: []string{"y"}}
	if c := infer(t, names(100, 80), spec).Columns[1]; c.Role != Dropped {
		t.Fatalf("names that mostly differ are %+v without being asked for", c)
	}
	spec.Categorical = []string{"name"}
	if c := infer(t, names(100, 80), spec).Columns[1]; c.Role != Input || !c.Embedded || len(c.Levels) != 80 {
		t.Errorf("a chosen column is %+v, want 80 levels, embedded", c)
	}
	_, err := Infer(load(t, names(100, 100)).Rows(nil), spec)
	wantError(t, "each name once", err, "a.csv: column name cannot be categorical: its 100 values all differ in the rows to learn from; ignore the column")
	_, err = Infer(load(t, names(maxTexts+10, maxTexts+1)).Rows(nil), spec)
	wantError(t, "too many", err, "a.csv: column name cannot be categorical: it has more than 100000 different values; ignore the column")
}
