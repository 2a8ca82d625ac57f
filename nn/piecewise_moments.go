package nn

import (
	"math"

	"utvi/internal/special"
)

// clipped are the moments of clip((x − a)/(b − a), 0, 1) for x ~ N(m, v), and their
// derivatives by m and v.
type clipped struct {
	mean, v                float64
	slope, mv              float64 // ∂mean: by m, which is Cov(f, x)/v, and by v
	vm, vv, slopeM, slopeV float64
}

// clipMoments are exact: with α = (a−m)/σ, β = (b−m)/σ, w = b−a, and P = Φ(β) − Φ(α),
//
//	E f  = [ (m−a)·P + σ(φ(α)−φ(β)) ]/w + 1 − Φ(β)
//	E f² = [ (m−a)·((m−a)·P + σ(φ(α)−φ(β))) + v·P − σw·φ(β) ]/w² + 1 − Φ(β)
//
// and the derivatives follow from ∂/∂m E g = E g′, ∂/∂v E g = ½ E g″.
func clipMoments(m, v, a, b float64) clipped {
	w := b - a
	if !(v > 1e-12*w*w) { // a number, or as good as one
		f := clipped{mean: min(max((m-a)/w, 0), 1)}
		if m > a && m < b {
			f.slope = 1 / w
			f.v = v / (w * w)
			f.vv = 1 / (w * w)
		}
		return f
	}
	s := math.Sqrt(v)
	al, be := (a-m)/s, (b-m)/s
	switch { // most intervals are far away, where Φ(−9) = 10⁻¹⁹ is nothing
	case al > 9:
		return clipped{}
	case be < -9:
		return clipped{mean: 1}
	}
	pa, pb := special.PDF(al), special.PDF(be)
	in, above := between(al, be), special.CDF(-be)
	// First and second moment of x − a over the interval.
	first := (m-a)*in + s*(pa-pb)
	second := (m-a)*first + v*in - s*w*pb
	var f clipped
	f.mean = first/w + above
	square := second/(w*w) + above
	f.v = max(0, square-f.mean*f.mean)
	f.slope, f.mv = in/w, 0.5*(pa-pb)/(s*w)
	f.vm = 2*first/(w*w) - 2*f.mean*f.slope
	f.vv = in/(w*w) - pb/(s*w) - 2*f.mean*f.mv
	f.slopeM, f.slopeV = (pa-pb)/(s*w), 0.5*(al*pa-be*pb)/(v*w)
	return f
}

// between is Φ(β) − Φ(α), from the nearer tail.
func between(al, be float64) float64 {
	if al > 0 {
		return special.CDF(-al) - special.CDF(-be)
	}
	return special.CDF(be) - special.CDF(al)
}
