package fit

import (
	"fmt"
	"strings"
	"testing"

	"utvi/data"
	"utvi/gauss"
)

// Many columns are looked at when there is time, few always.
func TestInsightInAHurry(t *testing.T) {
	for columns, want := range map[int][2]bool{hurriedColumns + 1: {true, false}, hurriedColumns: {true, true}} {
		var b strings.Builder
		for row := range 41 {
			for col := range columns {
				if row == 0 {
					fmt.Fprintf(&b, "c%d,", col)
				} else {
					fmt.Fprintf(&b, "%d.5,", (row*7+col*3)%19)
				}
			}
			if row == 0 {
				b.WriteString("y\n")
			} else {
				fmt.Fprintf(&b, "%d.5\n", row%5)
			}
		}
		c := quick
		c.Steps = 2
		c.Ensemble = 1
		r, err := Run(t.Context(), read(t, b.String()), Config{Targets: []string{"y"}, Network: c}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		set := &data.Set{X: gauss.Fixed(r.Model.Inputs(), make([]float32, 5*r.Model.Inputs())), Y: make([]float32, 5)}
		for i, hurry := range []bool{false, true} {
			got, err := r.Model.insight(set, 1, hurry)
			if err != nil {
				t.Fatal(err)
			}
			if (len(got.Dependence) > 0) != want[i] {
				t.Errorf("%d columns, in a hurry %v: %d curves", columns, hurry, len(got.Dependence))
			}
		}
	}
}

// A file that cannot be opened is reported by who reads it, not as one of another kind.
