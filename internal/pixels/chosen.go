package pixels

// The size that images of other sizes get: as large as a small network sees something in, and as two
// cores learn from in minutes.
const usualSide = 64

// ChosenSize is the size that networks see images of such heights and widths in, both in rising order:
// the size that is asked for, that of all images, or, if they differ, a square of the shorter side of
// the middle one; without being asked for, it is not large.
func ChosenSize(heights, widths, asked []int) (height, width int) {
	switch len(asked) {
	case 1:
		return asked[0], asked[0]
	case 2:
		return asked[0], asked[1]
	}
	height = heights[len(heights)/2]
	width = widths[len(widths)/2]
	same := heights[0] == heights[len(heights)-1] && widths[0] == widths[len(widths)-1]
	if !same {
		height = min(height, width)
		width = height
	}
	if long := max(height, width); long > usualSide {
		height = max(1, height*usualSide/long)
		width = max(1, width*usualSide/long)
	}
	return height, width
}
