package fit

import (
	"fmt"
	"testing"

	"utvi/internal/pixels"
)

// Images that change their size in either direction are told of; others are not.
func TestSizesAreTold(t *testing.T) {
	for _, c := range []struct {
		heights, widths []int
		want            int
	}{
		{[]int{12, 12}, []int{20, 20}, 0},
		{[]int{12, 13}, []int{20, 20}, 1},
		{[]int{11, 12}, []int{20, 20}, 1},
		{[]int{12, 12}, []int{20, 21}, 1},
		{[]int{12, 12}, []int{19, 20}, 1},
		{[]int{24, 24}, []int{40, 40}, 1},
	} {
		g := &gallery{}
		g.tellSizes(c.heights, c.widths, pixels.Format{Height: 12, Width: 20})
		if len(g.warnings) != c.want {
			t.Errorf("%v × %v: %v", c.heights, c.widths, fmt.Sprint(g.warnings))
		}
	}
}
