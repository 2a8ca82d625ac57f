package table

import (
	"fmt"
	"strings"
	"testing"

	"utvi/internal/compute"
)

// Rows that are longer than a block, some of them much longer, lose nothing of their texts.
func TestRowsLongerThanABlock(t *testing.T) {
	var text strings.Builder
	var want []string
	for i := range 60 {
		cell := fmt.Sprintf("%d-%s-%d", i, strings.Repeat("ab", i*7%50), i)
		want = append(want, cell)
		fmt.Fprintf(&text, "%d,\"%s\"\n", i, cell)
	}
	for _, size := range []int{1, 7, 16, 64} {
		pool := compute.NewPool(1)
		r, err := NewReader(strings.NewReader(text.String()), "f.csv", Options{Header: NoHeader, Delimiter: ',', Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		r.rows.(*csvRows).size = size
		var got []string
		err = Each(r, func(c *Chunk) error {
			for i := range c.Rows() {
				got = append(got, c.Text(i, 1))
			}
			return nil
		})
		r.Close()
		pool.Close()
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("blocks of %d bytes: %v\n got %q\nwant %q", size, err, got, want)
		}
	}
}
