package answer

import (
	"fmt"
	"slices"
	"testing"

	"utvi/internal/schema"
)

// Of an input with very many levels the most frequent are listed, and the rest is one bin;
// a target keeps all its classes.
func TestManyLevels(t *testing.T) {
	const n = mostLevels + 7
	c := schema.Column{Name: "c", Type: schema.Categorical, Role: schema.Input}
	h := []schema.Histogram{{Column: "other"}, {Column: "c"}}
	for i := range n {
		c.Levels = append(c.Levels, fmt.Sprint("l", i))
		h[1].Counts = append(h[1].Counts, 2*n-i)
	}
	rest := 0
	for _, k := range h[1].Counts[mostLevels:] {
		rest += k
	}
	got := describeColumn(&c, h)
	if len(got.Levels) != mostLevels || got.More != 7 || !got.Other || got.Typical != "l0" {
		t.Errorf("%d levels and %d more, typical %v", len(got.Levels), got.More, got.Typical)
	}
	if want := append(slices.Clone(h[1].Counts[:mostLevels]), rest); !slices.Equal(got.Counts.Counts, want) {
		t.Errorf("%d counts, the last is %d of %d", len(got.Counts.Counts), got.Counts.Counts[len(got.Counts.Counts)-1], rest)
	}
	if len(h[1].Counts) != n {
		t.Error("the model's histogram was changed")
	}
	c.Role = schema.Target
	if got := describeColumn(&c, nil); len(got.Levels) != n || got.More != 0 || got.Counts != nil {
		t.Errorf("of a target %d of %d classes are listed", len(got.Levels), n)
	}
}
