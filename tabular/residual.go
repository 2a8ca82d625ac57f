package tabular

import (
	"math"
	"slices"

	"utvi/internal/special"
)

// A ResidualMixture widens a Normal to the form that residuals have: N(m, v) becomes
// Σ W_j N(m, R_j·v). A single part with W 1 and R 1 changes nothing.
type ResidualMixture struct {
	W []float64 `json:"w"`
	R []float64 `json:"r"`
}

func plainResiduals() ResidualMixture { return ResidualMixture{[]float64{1}, []float64{1}} }

// Scale is the factor by which a variance grows.
func (s ResidualMixture) Scale() (sum float64) {
	for j, w := range s.W {
		sum += w * s.R[j]
	}
	return sum
}

const halfLog2Pi = 0.918938533204672741780329736405617640

// logNormal is the logarithm of the density of an error e where v was predicted.
func (s ResidualMixture) logNormal(e, v float64) float64 {
	top := math.Inf(-1)
	for j := range s.W {
		top = max(top, s.part(j, e, v))
	}
	var sum float64
	for j := range s.W {
		sum += math.Exp(s.part(j, e, v) - top)
	}
	return top + math.Log(sum)
}

func (s ResidualMixture) part(j int, e, v float64) float64 {
	v *= s.R[j]
	return math.Log(s.W[j]) - halfLog2Pi - 0.5*math.Log(v) - 0.5*e*e/v
}

const (
	free        = 2 // parts whose width is fitted
	shapeParts  = free + len(tails)
	shapePrior  = 10.0 // rows that speak for the Normal as it is
	shapeRounds = 60
	shapeMost   = 100.0  // of R
	shapeRows   = 20_000 // that a shape is fitted to
)

// tails are parts of a fixed width. A few hundred held-out rows cannot show what one row
// in a thousand does; each part counts as if a fraction of a row had been seen there, so
// that a row far from its prediction costs a dozen nats, and not hundreds.
var tails = [...]struct{ r, rows float64 }{{25, 0.3}, {400, 0.03}}

// fitCentral fits the shape, then scales its R together until nine of ten held-out
// rows lie in the central 90 % interval: parts fitted to all of a distribution miss
// its middle by a little. Few rows have little influence: n rows count n/(n+50).
func fitCentral(folds []fold, members func(f fold) []heldOutPredictions, target int) ResidualMixture {
	s := fitResiduals(folds, members, target)
	coverage := func(s ResidualMixture) float64 { return s.coverage(folds, members, target) }
	if folds[0].held.counted {
		seen := countsSeen(folds, members, target)
		coverage = func(s ResidualMixture) float64 { return s.countCoverage(seen) }
	}
	lo, hi := -2.0, 2.0 // of ln c
	for range 24 {
		mid := (lo + hi) / 2
		if coverage(s.scaled(math.Exp(mid))) < 0.9 {
			lo = mid
		} else {
			hi = mid
		}
	}
	n := float64(heldRows(folds))
	return s.scaled(math.Exp(lo * n / (n + 50)))
}

func (s ResidualMixture) scaled(c float64) ResidualMixture {
	t := ResidualMixture{s.W, slices.Clone(s.R)}
	for j := range t.R {
		t.R[j] *= c
	}
	return t
}

// coverage is the weighted share of held-out rows in the central 90 % interval.
func (s ResidualMixture) coverage(folds []fold, members func(f fold) []heldOutPredictions, target int) float64 {
	var in, total float64
	for _, f := range folds {
		m := members(f)
		k := f.held.Outputs()
		for i := range f.held.X.Rows {
			at := i*k + target
			var below float64 // P(Y ≤ y)
			for _, h := range m {
				z := (float64(f.held.Y[at]) - float64(h.Mean[at])) / math.Sqrt(float64(h.Var[at]))
				for j, w := range s.W {
					below += w * special.CDF(z/math.Sqrt(s.R[j])) / float64(len(m))
				}
			}
			w := f.held.weight(i)
			total += w
			if below > 0.05 && below < 0.95 {
				in += w
			}
		}
	}
	return in / total
}

// A residual is how a member saw a held-out target: z² = (y−m)²/v and −½ ln v.
type residual struct{ z2, log float64 }

// fitResiduals finds the shape of a target under which held-out rows are most probable
// given the members' predictions, by expectation maximisation. The row belongs to
// part j of member k in proportion to W_j N(y; m_k, R_j·v_k).
func fitResiduals(folds []fold, members func(f fold) []heldOutPredictions, target int) ResidualMixture {
	if folds[0].held.counted {
		return fitCounts(folds, members, target)
	}
	rows, counts := residuals(folds, members, target)
	s := ResidualMixture{make([]float64, shapeParts), make([]float64, shapeParts)}
	for j := range free {
		s.W[j], s.R[j] = 1.0/free, math.Pow(3, float64(j)-(free-1)/2.0)
	}
	for j, t := range tails {
		s.R[free+j] = t.r
	}
	for range shapeRounds { // without tails
		w, r := s.share(rows, counts, 0)
		for j := range free {
			s.R[j] = min(r[j]/w[j], shapeMost)
		}
		s.weigh(w)
	}
	for j, t := range tails {
		s.W[free+j] = t.rows / (float64(len(rows)) + shapePrior)
	}
	for range shapeRounds / 3 { // weights alone
		w, _ := s.share(rows, counts, 1)
		s.weigh(w)
	}
	return s
}

// share divides the rows among the parts, and z² by these shares, beside what counts
// before any row is seen.
func (s ResidualMixture) share(rows [][]residual, counts []float64, withTails float64) (w, r [shapeParts]float64) {
	for j := range free {
		w[j], r[j] = shapePrior/free, shapePrior/free
	}
	for j, t := range tails {
		w[free+j] = withTails * t.rows
	}
	for i, row := range rows {
		s.expect(row, counts[i], &w, &r)
	}
	return w, r
}

// weigh makes weights of shares.
func (s ResidualMixture) weigh(w [shapeParts]float64) {
	var total float64
	for _, x := range w {
		total += x
	}
	for j, x := range w {
		s.W[j] = x / total
	}
}

// expect adds the shares that the parts have in a row, and z² by these shares.
func (s ResidualMixture) expect(row []residual, count float64, w, r *[shapeParts]float64) {
	var offset, slope [shapeParts]float64
	for j := range offset {
		offset[j], slope[j] = math.Log(s.W[j])-0.5*math.Log(s.R[j]), -0.5/s.R[j]
	}
	top := math.Inf(-1)
	for _, x := range row {
		for j := range offset {
			top = max(top, x.log+offset[j]+slope[j]*x.z2)
		}
	}
	var sum float64
	var share, size [shapeParts]float64
	for _, x := range row {
		for j := range offset {
			p := math.Exp(x.log + offset[j] + slope[j]*x.z2 - top)
			share[j] += p
			size[j] += p * x.z2
			sum += p
		}
	}
	for j := range share {
		w[j] += count * share[j] / sum
		r[j] += count * size[j] / sum
	}
}

// residuals are the residuals of held-out rows with a weight above 0, and their weights,
// scaled to mean 1. Of very many rows it takes some, evenly spaced.
func residuals(folds []fold, members func(f fold) []heldOutPredictions, target int) (rows [][]residual, counts []float64) {
	var total float64
	step := (heldRows(folds) + shapeRows - 1) / shapeRows
	for _, f := range folds {
		m := members(f)
		k := f.held.Outputs()
		for i := 0; i < f.held.X.Rows; i += step {
			w := f.held.weight(i)
			if w == 0 {
				continue
			}
			row := make([]residual, len(m))
			for n, h := range m {
				at := i*k + target
				e, v := float64(f.held.Y[at])-float64(h.Mean[at]), float64(h.Var[at])
				row[n] = residual{e * e / v, -0.5 * math.Log(v)}
			}
			rows, counts = append(rows, row), append(counts, w)
			total += w
		}
	}
	for i := range counts {
		counts[i] *= float64(len(counts)) / total
	}
	return rows, counts
}
