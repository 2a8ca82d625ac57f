package calibrate

import (
	"fmt"
	"math"

	"utvi/dist"
)

// Scale stretches a prediction about its mean μ: μ + s·(X − μ).
type Scale struct {
	Rows   int     `json:"rows"` // it was fitted on
	Factor float64 `json:"factor"`
}

// A factor outside these bounds is a fault elsewhere, such as in units.
const leastScale, mostScale = 1e-3, 1e3

// FitScale maximises the likelihood of the held-out rows. For Normal predictions
// that is, in closed form,
//
//	s² = mean of ((y − μ)/σ)²
//
// with a standard error of s/√(2n). Of other distributions ln s is searched, from
// that value, to 1e-6. The likelihood of the rows is never less than with s = 1.
func FitScale(rows Rows) (*Scale, error) {
	n, square, normal := 0, 0.0, true
	for y, d := range rows {
		z := (y - d.Mean()) / d.SD()
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return nil, notFinite(n)
		}
		square += z * z
		normal = normal && isNormal(d)
		n++
	}
	if err := checkRows("a scale of the standard deviation", n); err != nil {
		return nil, err
	}
	s := &Scale{n, clampScale(math.Sqrt(square / float64(n)))}
	if !normal {
		s.Factor = searchScale(rows, s.Factor)
	}
	return s, nil
}

func clampScale(s float64) float64 { return min(max(s, leastScale), mostScale) }

// searchScale walks from the start in steps of 0.2 in ln s as long as that gains, then
// closes in.
func searchScale(rows Rows, start float64) float64 {
	var room dist.Affine
	nll := func(u float64) (sum float64) {
		s := Scale{Factor: clampScale(math.Exp(u))}
		for y, d := range rows {
			room = s.apply(d)
			sum -= room.LogPDF(y)
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

func (s *Scale) String() string { return fmt.Sprintf("σ × %.3g fitted on %d rows", s.Factor, s.Rows) }

func (s *Scale) check() error {
	if s.Rows < leastRows || !(s.Factor >= leastScale && s.Factor <= mostScale) {
		return fmt.Errorf("calibration: a scale of %g from %d rows; it lies between %g and %g and has at least %d rows", s.Factor, s.Rows, leastScale, mostScale, leastRows)
	}
	return nil
}
