package nn

import "math"

// A wave has the moments of sin wx, or of the wave a quarter ahead, for x ~ N(m, v), and
// their derivatives by m, v and w.
type wave struct {
	mean, v                float64
	slope, mv, mw          float64 // ∂mean: by m, which is Cov(f, x)/v, by v and by w
	vm, vv, vw             float64
	slopeM, slopeV, slopeW float64
}

// waveMoments are exact, by the characteristic function: with s and c the value and the
// slope of the wave at the phase wm, s² + c² = 1, and q = exp(−w²v),
//
//	mean = √q·s    var = (1−q)·((1−q)/2 + q·c²)
func waveMoments(s, c, m, v, w float64) wave {
	t := w * w * v
	root := math.Exp(-t / 2)
	q := math.Exp(-t)
	p := -math.Expm1(-t)
	s1, c1 := root*s, root*c
	byPhase, byT := -2*p*q*s*c, q*(s*s*p+c*c*q) // of the variance
	slope := w * c1
	return wave{
		mean: s1, v: p * (p/2 + q*c*c),
		slope: slope, mv: -w * w * s1 / 2, mw: m*c1 - w*v*s1,
		vm: w * byPhase, vv: w * w * byT, vw: m*byPhase + 2*w*v*byT,
		slopeM: -w * w * s1, slopeV: -w * w * slope / 2, slopeW: c1 - w*m*s1 - w*v*slope,
	}
}
