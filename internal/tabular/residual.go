package tabular

import (
	"math"

	"utvi/internal/widths"
)

// A ResidualMixture widens a Normal to the form that residuals have: N(m, v) becomes
// Σ W_j N(m, R_j·v), with v levelled. A single part with W 1 and R 1 changes nothing.
type ResidualMixture struct {
	W []float64 `json:"w"`
	R []float64 `json:"r"`

	Apart   float64         `json:"apart,omitempty"`   // times the variance of the networks' means, that v has more
	Level   *widths.Level   `json:"level,omitempty"`   // nil: v as it was predicted
	Support *widths.Support `json:"support,omitempty"` // nil: rows far from the training rows are as predicted
}

func plainResiduals() ResidualMixture {
	return ResidualMixture{W: []float64{1}, R: []float64{1}}
}

// Scale is the factor by which a variance grows.
func (s ResidualMixture) Scale() (sum float64) {
	for j, w := range s.W {
		sum += w * s.R[j]
	}
	return sum
}

const halfLog2Pi = 0.918938533204672741780329736405617640

// logNormal is the logarithm of the density of an error e where v was predicted, levelled.
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
	free        = 3 // parts whose width is fitted
	shapeParts  = free + len(tails)
	shapePrior  = 10.0 // rows that speak for the Normal as it is
	shapeRounds = 60
	shapeMost   = 100.0  // of R
	shapeRows   = 20_000 // that a shape is fitted to
)

// tails are parts of a fixed width, relative to the other parts. A few hundred held-out rows cannot show what one row
// in a thousand does; each part counts as if a fraction of a row had been seen there, so
// that a row far from its prediction costs a dozen nats, and not hundreds.
var tails = [...]struct{ r, rows float64 }{{25, 0.3}, {400, 0.03}}

// A residual is how a member saw a held-out target: z² = (y−m)²/v, −½ ln v and m.
type residual struct{ z2, log, mean float64 }

// fitResiduals finds the shape of a target under which held-out rows are most probable
// given the members' predictions.
func fitResiduals(folds []fold, members func(f fold) []heldOutPredictions, target int) ResidualMixture {
	if folds[0].held.counted {
		return fitCounts(folds, members, target)
	}
	s, _ := fitMixture(residuals(folds, members, target))
	return s
}

// fitMixture fits a shape by expectation maximisation, and returns ln p of the rows. The row
// belongs to part j of member k in proportion to W_j N(y; m_k, R_j·v_k).
func fitMixture(rows [][]residual, counts []float64) (s ResidualMixture, logp float64) {
	s = ResidualMixture{W: make([]float64, shapeParts), R: make([]float64, shapeParts)}
	for j := range free {
		s.W[j], s.R[j] = 1.0/free, math.Pow(3, float64(j)-(free-1)/2.0)
	}
	for j, t := range tails {
		s.R[free+j] = t.r
	}
	for range shapeRounds { // without tails
		w, r, _ := s.share(rows, counts, 0)
		for j := range free {
			s.R[j] = min(r[j]/w[j], shapeMost)
		}
		s.weigh(w)
	}
	var usual float64 // ln R
	for j := range free {
		usual += s.W[j] * math.Log(s.R[j])
	}
	for j, t := range tails {
		s.W[free+j], s.R[free+j] = t.rows/(float64(len(rows))+shapePrior), t.r*math.Exp(usual)
	}
	var w [shapeParts]float64
	for range shapeRounds / 3 { // weights alone
		w, _, logp = s.share(rows, counts, 1)
		s.weigh(w)
	}
	return s, logp
}

// share divides the rows among the parts, and z² by these shares, beside what counts
// before any row is seen. It also returns ln p of the rows.
func (s ResidualMixture) share(rows [][]residual, counts []float64, withTails float64) (w, r [shapeParts]float64, logp float64) {
	for j := range free {
		w[j], r[j] = shapePrior/free, shapePrior/free
	}
	for j, t := range tails {
		w[free+j] = withTails * t.rows
	}
	offset, slope := s.lines()
	for i, row := range rows {
		logp += counts[i] * expect(row, counts[i], &offset, &slope, &w, &r)
	}
	return w, r, logp
}

// lines are ln(W_j N(y; m, R_j·v)) as functions of z², less what residual.log holds.
func (s ResidualMixture) lines() (offset, slope [shapeParts]float64) {
	for j := range offset {
		offset[j], slope[j] = math.Log(s.W[j])-0.5*math.Log(s.R[j]), -0.5/s.R[j]
	}
	return offset, slope
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

// expect adds the shares that the parts have in a row, and z² by these shares. It returns
// ln p of the row, up to a constant.
func expect(row []residual, count float64, offset, slope, w, r *[shapeParts]float64) (logp float64) {
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
	return top + math.Log(sum)
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
				m, v := float64(h.Mean[at]), float64(h.Var[at])
				e := float64(f.held.Y[at]) - m
				row[n] = residual{e * e / v, -0.5 * math.Log(v), m}
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
