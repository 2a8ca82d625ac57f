package tabular

import (
	"math"

	"utvi/model"
)

// levels are the exponents that are tried. Networks overstate how much the noise of rows
// differs: rows that are called certain are so too often by chance.
var levels = [...]float64{-0.1, 0, 0.1, 0.2, 0.35, 0.5}

// levelPrior is the standard deviation that an exponent has before any row is seen.
const levelPrior = 0.3

// fitShape finds the shape of a target together with its level: the exponent under which
// held-out rows are most probable.
func fitShape(folds []fold, members func(f fold) []heldOutPredictions, target int) ResidualMixture {
	if folds[0].held.counted {
		return fitCentralCounts(folds, members, target)
	}
	rows, counts := residuals(folds, members, target)
	least, most, mean := math.Inf(1), math.Inf(-1), 0.0 // of ln v
	for _, row := range rows {
		for _, x := range row {
			l := -2 * x.log
			least, most = min(least, l), max(most, l)
			mean += l / float64(len(rows)*len(row))
		}
	}
	var best ResidualMixture
	top := math.Inf(-1)
	for _, power := range levels {
		s, logp := fitMixture(flatten(rows, power, mean), counts)
		if logp -= power * power / (2 * levelPrior * levelPrior); logp <= top {
			continue
		}
		if best, top = s, logp; power != 0 {
			best.Level = &model.Level{Power: power, Least: math.Exp(least), Most: math.Exp(most)}
			for j := range best.R { // what the level does to the mean of ln v
				best.R[j] *= math.Exp(power * mean)
			}
		}
	}
	return best
}

// flatten returns the residuals of predictions whose ln v is drawn towards a mean.
func flatten(rows [][]residual, power, mean float64) [][]residual {
	to := make([][]residual, len(rows))
	for i, row := range rows {
		to[i] = make([]residual, len(row))
		for k, x := range row {
			less := power * (-2*x.log - mean) // of ln v
			to[i][k] = residual{x.z2 * math.Exp(less), x.log + less/2}
		}
	}
	return to
}
