package fit

import (
	"fmt"
	"math"

	"utvi/metric"
)

// misfit says that intervals cover so much less or more than they should that chance cannot explain it; "" if
// none does. Intervals of counts may cover more: their ends are whole numbers.
func misfit(target string, s metric.RegressionScores, counts bool) string {
	const few, sigmas = 30, 3.5
	if s.Rows < few {
		return ""
	}
	var worst metric.CoverageScore
	most := sigmas
	for _, x := range s.Intervals {
		off := (x.Coverage - x.Level) / math.Sqrt(x.Level*(1-x.Level)/float64(s.Rows))
		if off > 0 && counts {
			continue
		}
		if math.Abs(off) > most {
			worst, most = x, math.Abs(off)
		}
	}
	if most == sigmas {
		return ""
	}
	return fmt.Sprintf("the %.4g %% intervals of %s cover %.1f %%, which chance does not explain: the predicted distribution has another shape than the target, or the rows differ from the training rows; calibrate the model with held-out rows, and look at their figure of levels",
		100*worst.Level, target, 100*worst.Coverage)
}
