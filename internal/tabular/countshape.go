package tabular

import (
	"math"
	"slices"

	"utvi/dist"
	"utvi/internal/special"
)

// countRows is how many held-out rows the shape of counts is fitted to.
const countRows = 2000

// logMass is the logarithm of the probability between two numbers, where m and v were
// predicted.
func (s ResidualMixture) logMass(from, to, m, v float64) float64 {
	var sum float64
	for j, w := range s.W {
		sd := math.Sqrt(s.R[j] * v)
		a, b := (from-m)/sd, (to-m)/sd
		if a > 0 { // from the nearer tail
			a, b = -b, -a
		}
		sum += w * (special.CDF(b) - special.CDF(a))
	}
	return math.Log(max(sum, 1e-300))
}

// logCount is the logarithm of the probability of a count n, where m and v were predicted.
func (s ResidualMixture) logCount(n, m, v float64) float64 {
	top, sum := math.Inf(-1), 0.0
	for j, w := range s.W {
		top, sum = addLog(top, sum, math.Log(w)+dist.LogCount(n, max(m, 0), s.R[j]*v))
	}
	return top + math.Log(sum)
}

// A countSeen is a held-out count, what the members predicted of it, and its weight.
type countSeen struct {
	n, weight float64
	mean, v   []float64
}

// countsSeen are the held-out counts with a weight above 0; of many some, evenly spaced.
func countsSeen(folds []fold, members func(f fold) []heldOutPredictions, target int) (all []countSeen) {
	step := (heldRows(folds) + countRows - 1) / countRows
	for _, f := range folds {
		m := members(f)
		k := f.held.Outputs()
		unit := f.held.Step[target]
		for i := 0; i < f.held.X.Rows; i += step {
			at := i*k + target
			s := countSeen{n: math.Round(f.held.count(target, float64(f.held.Y[at]))), weight: f.held.weight(i)}
			for _, h := range m {
				s.mean = append(s.mean, f.held.count(target, float64(h.Mean[at])))
				s.v = append(s.v, float64(h.Var[at])/(unit*unit))
			}
			if s.weight > 0 {
				all = append(all, s)
			}
		}
	}
	return all
}

// fitCounts finds the shape of counts: one factor of their variances under which held-out
// rows are most probable, and the wide parts that every shape has. The factor counts as if
// shapePrior rows spoke for 1.
func fitCounts(folds []fold, members func(f fold) []heldOutPredictions, target int) ResidualMixture {
	rows := countsSeen(folds, members, target)
	var total float64
	for _, r := range rows {
		total += r.weight
	}
	shape := func(logR float64) ResidualMixture {
		s := ResidualMixture{W: []float64{1}, R: []float64{math.Exp(logR)}}
		for _, t := range tails {
			w := t.rows / (float64(len(rows)) + shapePrior)
			s.W[0] -= w
			s.W, s.R = append(s.W, w), append(s.R, t.r)
		}
		return s
	}
	loss := func(logR float64) float64 {
		s := shape(logR)
		sum := shapePrior / 2 * logR * logR
		for _, r := range rows {
			top, p := math.Inf(-1), 0.0
			for i, m := range r.mean {
				top, p = addLog(top, p, s.logCount(r.n, m, r.v[i]))
			}
			sum -= r.weight / total * float64(len(rows)) * (top + math.Log(p/float64(len(r.mean))))
		}
		return sum
	}
	const grid, lo, hi = 24, -1.5, 2.5
	best, least := 0.0, loss(0)
	for i := range grid + 1 {
		x := lo + (hi-lo)*float64(i)/grid
		if l := loss(x); l < least {
			best, least = x, l
		}
	}
	return shape(best)
}

// fitCentralCounts fits the shape of counts, then scales its R together until nine of ten
// held-out rows lie in the central 90 % interval: one factor fitted to all of a distribution
// misses its middle by a little. Few rows have little influence: n rows count n/(n+50).
func fitCentralCounts(folds []fold, members func(f fold) []heldOutPredictions, target int) ResidualMixture {
	s, seen := fitCounts(folds, members, target), countsSeen(folds, members, target)
	lo, hi := -2.0, 2.0 // of ln c
	for range 24 {
		mid := (lo + hi) / 2
		if s.scaled(math.Exp(mid)).countCoverage(seen) < 0.9 {
			lo = mid
		} else {
			hi = mid
		}
	}
	n := float64(heldRows(folds))
	return s.scaled(math.Exp(lo * n / (n + 50)))
}

func (s ResidualMixture) scaled(c float64) ResidualMixture {
	s.R = slices.Clone(s.R)
	for j := range s.R {
		s.R[j] *= c
	}
	return s
}

// countCoverage is the weighted share of held-out counts in the central 90 % interval. The
// level of a count is drawn evenly from what its probability takes, by a sequence that
// fills 0 to 1.
func (s ResidualMixture) countCoverage(rows []countSeen) float64 {
	const golden = 0.6180339887498949
	var c dist.Counts
	var in, total float64
	for i, r := range rows {
		c.Reset()
		for k, m := range r.mean {
			s.addCounts(&c, m, r.v[k])
		}
		_, u := math.Modf(golden * float64(i+1))
		if below := c.CDF(r.n - 0.5 + u); below > 0.05 && below < 0.95 {
			in += r.weight
		}
		total += r.weight
	}
	return in / total
}
