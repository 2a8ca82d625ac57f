package fit

import (
	"fmt"
	"math"

	"utvi/metric"
)

// misfit says that intervals cover so much less or more than they should that chance cannot explain it; "" if
// none does. Intervals of counts may cover more: their ends are whole numbers.
func misfit(target string, s metric.RegressionScores, counts bool) string {
	const few, sigmas, least = 30, 3.5, 0.05 // with many rows, chance does not explain what is harmless either
	if s.Rows < few {
		return ""
	}
	var worst metric.CoverageScore
	most := sigmas
	for _, x := range s.Intervals {
		rows := float64(s.Rows)
		if x.Groups > 0 {
			rows = x.Rows()
		}
		off := (x.Coverage - x.Level) / math.Sqrt(x.Level*(1-x.Level)/rows)
		if off > 0 && counts {
			continue
		}
		if math.Abs(off) > most && math.Abs(x.Coverage-x.Level) > least {
			worst, most = x, math.Abs(off)
		}
	}
	if most == sigmas {
		return ""
	}
	return fmt.Sprintf("the %.4g %% intervals of %s cover %.1f %%, which chance does not explain: %[2]s is not distributed as predicted (it may have two peaks, equal values or outliers), or these rows differ from the training rows; calibrating the model with held-out rows may help",
		100*worst.Level, target, 100*worst.Coverage)
}
