package fit

import (
	"fmt"
	"math"

	"utvi/internal/notation"
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

// unscored names the classes that none of the scored rows has, "" if there is none.
func unscored(names []string, confusion [][]int) string {
	var none []string
	for i, row := range confusion {
		rows := 0
		for _, n := range row {
			rows += n
		}
		if rows == 0 {
			none = append(none, notation.Quote(names[i]))
		}
	}
	if len(none) == 0 {
		return ""
	}
	return fmt.Sprintf("no scored row is of class %s: the scores say nothing about it", notation.List(none))
}
