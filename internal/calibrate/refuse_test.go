package calibrate

import (
	"fmt"
	"math"
	"testing"

	"utvi/dist"
)

// What is no probability is refused where it stands, also if it is not that of the true class.
func TestTemperatureRefusesWhatIsNoProbability(t *testing.T) {
	for _, p := range []float64{math.NaN(), -0.1, 1.5, math.Inf(1)} {
		rows := Unweighted(func(yield func(int, dist.Categorical) bool) {
			for i := range 100 {
				row := dist.Categorical{0.5, 0.3, 0.2}
				if i == 41 {
					row[2] = p
				}
				if !yield(i%2, row) {
					return
				}
			}
		})
		want := fmt.Sprintf("calibration: held-out row 42 has a probability of %g", p)
		if _, err := FitTemperature(rows); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
