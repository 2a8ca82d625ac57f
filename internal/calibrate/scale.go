package calibrate

import (
	"fmt"
	"math"

	"utvi/dist"
)

// Scale stretches a prediction about its mean μ: μ + s·(X − μ).
type Scale struct {
	Rows   int     `json:"rows"` // used to fit it
	Factor float64 `json:"factor"`
}

// A factor outside these bounds points to a fault elsewhere, such as wrong units.
const leastScale, mostScale = 1e-3, 1e3

// FitScale maximises the likelihood of the held-out rows. For Normal predictions
// that is, in closed form,
//
//	s² = weighted mean of ((y − μ)/σ)²
//
// with a standard error of s/√(2n). For other distributions ln s is searched from
// that value on, to 1e-6. The likelihood of the rows is never less than with s = 1.
func FitScale(rows Rows) (*Scale, error) {
	var t tally
	square, normal := 0.0, true
	for r := range rows {
		if !t.add(r.Weight) {
			continue
		}
		z := (r.Target - r.Prediction.Mean()) / r.Prediction.SD()
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return nil, t.notFinite()
		}
		square += r.Weight * z * z
		normal = normal && isNormal(r.Prediction)
	}
	if err := t.check("a scale of the standard deviation"); err != nil {
		return nil, err
	}
	s := &Scale{t.rows, clampScale(math.Sqrt(square / t.sum))}
	if !normal {
		s.Factor = searchScale(rows, s.Factor)
	}
	return s, nil
}

func clampScale(s float64) float64 { return min(max(s, leastScale), mostScale) }

// searchScale walks from the start in steps of 0.2 in ln s as long as that gains, then
// closes in.
func searchScale(rows Rows, start float64) float64 {
	var scaled dist.Affine
	nll := func(u float64) (sum float64) {
		s := Scale{Factor: clampScale(math.Exp(u))}
		for r := range rows {
			if r.Weight > 0 {
				scaled = s.apply(r.Prediction)
				sum -= r.Weight * scaled.LogPDF(r.Target)
			}
		}
		return sum
	}
	const step = 0.2
	at := math.Log(start)
	here := nll(at)
	if one := nll(0); one < here {
		at, here = 0, one
	}
	for _, by := range []float64{step, -step} {
		for range 40 { // across all that is allowed
			next := nll(at + by)
			if !(next < here) {
				break
			}
			at, here = at+by, next
		}
	}
	u := golden(at-step, at+step, 1e-6, nll)
	if nll(u) > here {
		u = at
	}
	return clampScale(math.Exp(u))
}

// isNormal looks through changes of units.
func isNormal(d dist.Dist) bool {
	switch d := d.(type) {
	case dist.Normal, *dist.Normal:
		return true
	case dist.Affine:
		return isNormal(d.Dist)
	case *dist.Affine:
		return isNormal(d.Dist)
	}
	return false
}

func (s *Scale) apply(d dist.Dist) dist.Affine {
	return dist.Affine{Dist: d, Scale: s.Factor, Shift: d.Mean() * (1 - s.Factor)}
}

// String names the correction and the rows it is from.
func (s *Scale) String() string { return fmt.Sprintf("σ × %.3g fitted on %d rows", s.Factor, s.Rows) }

func (s *Scale) check() error {
	if s.Rows < leastRows || !(s.Factor >= leastScale && s.Factor <= mostScale) {
		return fmt.Errorf("calibration: a scale of %g from %d rows; it must lie between %g and %g and be fitted on at least %d rows", s.Factor, s.Rows, leastScale, mostScale, leastRows)
	}
	return nil
}
