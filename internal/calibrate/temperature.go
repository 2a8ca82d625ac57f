package calibrate

import (
	"fmt"
	"math"

	"utvi/dist"
)

// Temperature sharpens (T < 1) or flattens (T > 1) the probabilities of classes to
// p^(1/T)/Σ p^(1/T) (Guo et al. 2017). The most probable class stays the same.
type Temperature struct {
	Rows int     `json:"rows"` // used to fit it
	T    float64 `json:"temperature"`
}

const (
	leastT, mostT = 0.01, 100.0
	leastProb     = 1e-30 // as in likelihood.Categorical: ln p stays finite

	// sharpening is the standard deviation of β above 1 before a row is seen. Where all of n rows are right,
	// it leaves about the doubt of Laplace's rule of succession, one error in n + 2 rows.
	sharpening = 2.0
)

// FitTemperature maximises the likelihood of the held-out rows. With β = 1/T and
// λ = ln p, the negative log-likelihood is convex in β:
//
//	Σ ln Σₖ e^{βλₖ} − βλ_y ,   slope Σ E_β[λ] − λ_y ,   curvature Σ Var_β[λ] ≥ 0
//
// Rows that are all predicted right would ask for T = 0, which is certainty: (β − 1)²/2·2² is added for
// β > 1. The slope's root is bisected between T = 100 and 0.01. The likelihood of the rows is never less
// than with T = 1.
func FitTemperature(rows ClassRows) (*Temperature, error) {
	var t tally
	for r := range rows {
		if !t.add(r.Weight) {
			continue
		}
		if class, p := r.Target, r.Prediction; class < 0 || class >= len(p) {
			return nil, fmt.Errorf("calibration: held-out row %d has class %d; there are %d classes, counted from 0", t.seen, class, len(p))
		}
		for _, p := range r.Prediction {
			if !(p >= 0 && p <= 1) {
				return nil, fmt.Errorf("calibration: held-out row %d has a probability of %g", t.seen, p)
			}
		}
	}
	if err := t.check("a temperature"); err != nil {
		return nil, err
	}
	slope := func(beta float64) (sum float64) {
		for r := range rows {
			if r.Weight > 0 {
				sum += r.Weight * (expectedLog(r.Prediction, beta) - logProb(r.Prediction[r.Target]))
			}
		}
		if beta > 1 {
			sum += (beta - 1) / (sharpening * sharpening)
		}
		return sum
	}
	// ln β is bisected: T = 1 is the middle, and stays where nothing is gained.
	lo, hi := -math.Log(mostT), -math.Log(leastT)
	u := 0.0
	for range 50 {
		g := slope(math.Exp(u))
		if g == 0 {
			break
		}
		if g < 0 {
			lo = u
		} else {
			hi = u
		}
		u = (lo + hi) / 2
	}
	return &Temperature{t.rows, min(max(math.Exp(-u), leastT), mostT)}, nil
}

func logProb(p float64) float64 { return math.Log(max(p, leastProb)) }

// expectedLog returns E_β[λ] = Σ λ e^{βλ} / Σ e^{βλ}, counted from the largest λ.
func expectedLog(p dist.Categorical, beta float64) float64 {
	top := logProb(p[p.Argmax()])
	var sum, total float64
	for _, p := range p {
		d := logProb(p) - top
		w := math.Exp(beta * d)
		sum += w * d
		total += w
	}
	return top + sum/total
}

// Apply writes the corrected probabilities of p over dst, which may be p.
func (t *Temperature) Apply(dst, p dist.Categorical) {
	if len(dst) != len(p) {
		panic("calibrate: dst and p must have the same length")
	}
	top := logProb(p[p.Argmax()])
	var total float64
	for k, p := range p {
		dst[k] = math.Exp((logProb(p) - top) / t.T)
		total += dst[k]
	}
	for k := range dst {
		dst[k] /= total
	}
}

// String names the correction and the rows it is from.
func (t *Temperature) String() string {
	return fmt.Sprintf("temperature %.3g fitted on %d rows", t.T, t.Rows)
}

func (t *Temperature) check() error {
	if t.Rows < leastRows || !(t.T >= leastT && t.T <= mostT) {
		return fmt.Errorf("calibration: a temperature of %g from %d rows; it must lie between %g and %g and be fitted on at least %d rows", t.T, t.Rows, leastT, mostT, leastRows)
	}
	return nil
}
