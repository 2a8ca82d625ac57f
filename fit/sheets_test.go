package fit

import "testing"

// Of few images, all equally certain, none is both among the least and the most certain.
func TestSheetsOfFewImages(t *testing.T) {
	for n := range 5 {
		views := make([]view, n)
		for i := range views {
			views[i] = view{row: i, sure: 1, right: true}
		}
		for _, classes := range []bool{true, false} {
			seen := map[int]string{}
			arrange(views, classes, func(title, _ string, all []view) {
				if title == "Farthest off." {
					return
				}
				for _, v := range all {
					if seen[v.row] != "" {
						t.Errorf("image %d of %d is in two sheets: %s %s", v.row, n, seen[v.row], title)
					}
					seen[v.row] = title
				}
			})
			if len(seen) != n {
				t.Errorf("%d of %d images are shown", len(seen), n)
			}
		}
	}
}
