package pixelwise

import (
	"fmt"
	"io"
)

// WriteSummary says what is predicted of what.
func (m *Model) WriteSummary(w io.Writer, held int) {
	colours := func(n int) string { return map[bool]string{true: "grey", false: "in colour"}[n == 1] }
	fmt.Fprintf(w, "%d pairs of images to learn from, %d held out\n", m.Rows, held)
	fmt.Fprintf(w, "%s: %d × %d pixels, %s\n", m.Column, m.Input.Height, m.Input.Width, colours(m.Input.Channels))
	if k := m.Classes(); k > 0 {
		fmt.Fprintf(w, "%s: each pixel is one of %d classes:", m.Target, k)
		for i := range m.Levels {
			fmt.Fprintf(w, " %s", m.Levels.Name(i))
		}
		fmt.Fprintln(w)
		return
	}
	fmt.Fprintf(w, "%s: each pixel is a number, %s\n", m.Target, colours(m.Output.Channels))
}
