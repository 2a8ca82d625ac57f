package tabular

import (
	"math"

	"utvi/dist"
	"utvi/internal/widths"
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
// last the curve, but for tiny tables.
func fitShape(folds []fold, members func(f fold) []heldOutPredictions, target int, warp *dist.Warp) ResidualMixture {
	if folds[0].held.counted {
		return fitCentralCounts(folds, members, target)
	}
	s := newLevelSearch(residuals(folds, members, target))
	s.tryAll()
	if folds[0].rows() < tinyRows {
		return s.shape() // so few rows bend a curve by chance
	}
	if !coarse(folds, target, math.Exp(s.logv.mean()/2)) {
		s.at.Curve, s.best = fitCurve(s.levelled(s.at.Power, s.at.Tilt), s.counts, s.best, along(warp))
	}
	return s.shape()
}

// A levelSearch tries exponents and tilts, and keeps the best.
type levelSearch struct {
	rows   [][]residual
	counts []float64
	logv   extent // of ln v
	mean   extent // of m

	best ResidualMixture
	at   widths.Level // of the best
	top  float64      // its ln p
}

func newLevelSearch(rows [][]residual, counts []float64) *levelSearch {
	s := &levelSearch{rows: rows, counts: counts, logv: newExtent(), mean: newExtent(), top: math.Inf(-1)}
	for _, row := range rows {
		for _, x := range row {
			s.logv.add(-2 * x.log)
			s.mean.add(x.mean)
		}
	}
	return s
}

// levelled are the residuals with an exponent and a tilt.
func (s *levelSearch) levelled(power, tilt float64) [][]residual {
	return flatten(s.rows, power, s.logv.mean(), tilt, s.mean.mean())
}

func (s *levelSearch) try(power, tilt float64) {
	shape, logp := fitMixture(s.levelled(power, tilt), s.counts)
	logp -= (power*power + tilt*tilt) / (2 * levelPrior * levelPrior)
	if logp > s.top {
		s.best = shape
		s.top = logp
		s.at.Power = power
		s.at.Tilt = tilt
	}
}

func (s *levelSearch) tryAll() {
	for _, power := range levels {
		s.try(power, 0)
	}
	power := s.at.Power
	for _, tilt := range tilts {
		s.try(power, tilt)
	}
	edge := tilts[len(tilts)-1]
	for _, steep := range steepTilts {
		if math.Abs(s.at.Tilt) == edge {
			s.try(power, math.Copysign(steep, s.at.Tilt))
			edge = steep
		}
	}
	if tilt := s.at.Tilt; tilt != 0 {
		for _, power := range levels {
			s.try(power, tilt)
		}
	}
}

// shape is the best shape with its level. What the level does to the means of ln v and m is taken
// back by the widths.
func (s *levelSearch) shape() ResidualMixture {
	if s.at == (widths.Level{}) {
		return s.best
	}
	shift := s.at.Power*s.logv.mean() + s.at.Tilt*s.mean.mean()
	for j := range s.best.R {
		s.best.R[j] *= math.Exp(shift)
	}
	if s.at.Curve != nil {
		for i := range s.at.Curve.At {
			s.at.Curve.At[i] -= shift
		}
	}
	s.at.Least, s.at.Most = math.Exp(s.logv.least), math.Exp(s.logv.most)
	if s.at.Tilt != 0 {
		s.at.Low, s.at.High = s.mean.least, s.mean.most
	}
	s.best.Level = &s.at
	return s.best
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
