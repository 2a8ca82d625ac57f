// Package show has what the examples share and what is no part of using the library: scores, options, and
// files for a comparison with networks drawn in PyTorch.
package show

import (
	"fmt"
	"math"
)

// A Score says how good Normals are for numbers that came true.
type Score struct {
	RMSE, LL float64 // LL is the mean log-likelihood of a number
	Cover    float64 // share of numbers inside the 90 % interval
}

// String shows a score in one line.
func (s Score) String() string {
	return fmt.Sprintf("RMSE %.4f, log-likelihood %.3f, 90 %% intervals cover %.1f %%", s.RMSE, s.LL, 100*s.Cover)
}

// Normal scores Normals of a mean and a variance each.
func Normal(y, mean, variance []float32) Score {
	var s Score
	for i := range y {
		d := float64(y[i] - mean[i])
		v := float64(variance[i])
		s.RMSE += d * d
		s.LL -= (math.Log(2*math.Pi*v) + d*d/v) / 2
		if math.Abs(d) < 1.6448536*math.Sqrt(v) {
			s.Cover++
		}
	}
	n := float64(len(y))
	s.RMSE = math.Sqrt(s.RMSE / n)
	s.LL /= n
	s.Cover /= n
	return s
}
