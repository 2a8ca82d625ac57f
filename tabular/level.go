package tabular

import (
	"math"

	"utvi/dist"
	"utvi/model"
)

// levels are the exponents that are tried. Networks overstate how much the noise of rows
// differs: rows that are called certain are so too often by chance.
var levels = [...]float64{-0.1, 0, 0.1, 0.2, 0.35, 0.5}

// tilts are the tilts that are tried, beside 0. Where there is hardly any noise, variances are mostly
// doubt, which does not know that the errors of large targets are larger, or smaller.
var tilts = [...]float64{-0.5, -0.35, -0.2, -0.1, 0.1, 0.2, 0.35, 0.5}

// steepTilts are tried where the steepest of these does best.
var steepTilts = [...]float64{0.7, 0.95}

// levelPrior is the standard deviation that an exponent or a tilt has before any row is seen.
const levelPrior = 0.3

// fitShape finds the shape of a target together with its level, under which held-out rows
// are most probable: first the exponent, then the tilt, then the exponent once more, and at
// last the curve.
func fitShape(folds []fold, members func(f fold) []heldOutPredictions, target int, warp *dist.Warp) ResidualMixture {
	if folds[0].held.counted {
		return fitCentralCounts(folds, members, target)
	}
	rows, counts := residuals(folds, members, target)
	logv, mean := newExtent(), newExtent()
	for _, row := range rows {
		for _, x := range row {
			logv.add(-2 * x.log)
			mean.add(x.mean)
		}
	}
	var best ResidualMixture
	var at model.Level
	top := math.Inf(-1)
	try := func(power, tilt float64) {
		s, logp := fitMixture(flatten(rows, power, logv.mean(), tilt, mean.mean()), counts)
		logp -= (power*power + tilt*tilt) / (2 * levelPrior * levelPrior)
		if logp > top {
			best = s
			top = logp
			at.Power = power
			at.Tilt = tilt
		}
	}
	for _, power := range levels {
		try(power, 0)
	}
	power := at.Power
	for _, tilt := range tilts {
		try(power, tilt)
	}
	edge := tilts[len(tilts)-1]
	for _, steep := range steepTilts {
		if math.Abs(at.Tilt) == edge {
			try(power, math.Copysign(steep, at.Tilt))
			edge = steep
		}
	}
	if tilt := at.Tilt; tilt != 0 {
		for _, power := range levels {
			try(power, tilt)
		}
	}
	if !coarse(folds, target, math.Exp(logv.mean()/2)) {
		at.Curve, best = fitCurve(flatten(rows, at.Power, logv.mean(), at.Tilt, mean.mean()), counts, best, along(warp))
	}
	if at == (model.Level{}) {
		return best
	}
	shift := at.Power*logv.mean() + at.Tilt*mean.mean() // what the level does to the means of ln v and m
	for j := range best.R {
		best.R[j] *= math.Exp(shift)
	}
	if at.Curve != nil {
		for i := range at.Curve.At {
			at.Curve.At[i] -= shift
		}
	}
	at.Least, at.Most = math.Exp(logv.least), math.Exp(logv.most)
	if at.Tilt != 0 {
		at.Low, at.High = mean.least, mean.most
	}
	best.Level = &at
	return best
}

// An extent is the range and the mean of numbers.
type extent struct{ least, most, sum, count float64 }

func newExtent() extent { return extent{least: math.Inf(1), most: math.Inf(-1)} }

func (e *extent) add(x float64) {
	e.least, e.most = min(e.least, x), max(e.most, x)
	e.sum += x
	e.count++
}

func (e *extent) mean() float64 { return e.sum / e.count }

// flatten returns the residuals of predictions whose ln v is drawn towards a mean by a power,
// and tilted by how far their m is from its own mean.
func flatten(rows [][]residual, power, logv, tilt, mean float64) [][]residual {
	to := make([][]residual, len(rows))
	for i, row := range rows {
		to[i] = make([]residual, len(row))
		for k, x := range row {
			less := power*(-2*x.log-logv) + tilt*(x.mean-mean) // of ln v
			to[i][k] = residual{x.z2 * math.Exp(less), x.log + less/2, x.mean}
		}
	}
	return to
}
