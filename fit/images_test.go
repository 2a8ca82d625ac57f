package fit

import (
	"slices"
	"testing"
)

// A fit that was stopped scores images of all classes, not the first ones.
func TestSpread(t *testing.T) {
	rows := []int{3, 4, 5, 6, 7, 8, 9}
	if got := spread(rows, 3); !slices.Equal(got, []int{3, 5, 7}) {
		t.Errorf("%v", got)
	}
	if got := spread(rows, 9); !slices.Equal(got, rows) {
		t.Errorf("%v", got)
	}
}
