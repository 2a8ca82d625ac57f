package table

import (
	"strings"
	"testing"
)

// TestKeepRows finds texts and numbers of the rows that are kept.
func TestKeepRows(t *testing.T) {
	r, err := NewReader(strings.NewReader("x,y\n1,a\n2,b\n3,c\n"), "a.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	k := c.Keep(func(row int) bool { return row != 1 })
	if k.Rows() != 2 || k.Text(1, 1) != "c" || k.Text(1, 0) != "3" || k.Line(1) != 4 {
		t.Errorf("kept %d rows; the second is %s, %s on line %d", k.Rows(), k.Text(1, 0), k.Text(1, 1), k.Line(1))
	}
	if c.Keep(func(int) bool { return true }) != c {
		t.Error("a chunk that is kept whole was copied")
	}
}
