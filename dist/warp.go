package dist

import (
	"errors"
	"fmt"
	"math"
)

// A Warp is a rising map between a target y and the number z that is predicted in its
// place, for targets that are skewed towards large values. With u = y − Origin,
//
//	z = (ψ(u) − Mean)/SD ,   ψ(u) = (u^λ − 1)/λ, or ln u for λ = 0 ,
//
// for u from Low to Top (Box & Cox 1964). Outside, ψ goes on as the straight line that
// touches it: every number has its place, also a target of 0, and large predictions do not
// grow exponentially beyond what training showed.
type Warp struct {
	Lambda float64 `json:"lambda"`
	Origin float64 `json:"origin"`
	Low    float64 `json:"low"`
	Top    float64 `json:"top"`
	Mean   float64 `json:"mean"`
	SD     float64 `json:"sd"`

	// Positive says that targets are never below Origin, which stands for 0: who shows a
	// prediction lets it end there (see Bounded).
	Positive bool `json:"positive,omitempty"`
}

// Check reports a warp that is not a rising map.
func (w *Warp) Check() error {
	for _, x := range []float64{w.Lambda, w.Origin, w.Low, w.Top, w.Mean, w.SD} {
		if x-x != 0 {
			return errors.New("a number of the target's transform is not finite")
		}
	}
	if w.Lambda < 0 || w.Lambda > 1 || !(w.Low > 0 && w.Top > w.Low) || !(w.SD > 0) {
		return errors.New("the target's transform is not a rising map")
	}
	return nil
}

// String names the transform, as reports do.
func (w *Warp) String() string {
	if w.Lambda == 0 {
		return "logarithm"
	}
	return fmt.Sprintf("power %g", w.Lambda)
}

// psi is ψ and its slope at u.
func (w *Warp) psi(u float64) (value, slope float64) {
	at := min(max(u, w.Low), w.Top)
	if w.Lambda == 0 {
		value, slope = math.Log(at), 1/at
	} else {
		p := math.Pow(at, w.Lambda)
		value, slope = (p-1)/w.Lambda, p/at
	}
	return value + slope*(u-at), slope
}

// Forward returns the z of a target, and the logarithm of its slope dz/dy.
func (w *Warp) Forward(y float64) (z, logSlope float64) {
	v, slope := w.psi(y - w.Origin)
	return (v - w.Mean) / w.SD, math.Log(slope / w.SD)
}

// Back returns the target of a z.
func (w *Warp) Back(z float64) float64 {
	v := w.Mean + w.SD*z
	for _, end := range [...]float64{w.Low, w.Top} {
		if at, slope := w.psi(end); end == w.Low && v < at || end == w.Top && v > at {
			return w.Origin + end + (v-at)/slope
		}
	}
	if w.Lambda == 0 {
		return w.Origin + math.Exp(v)
	}
	return w.Origin + math.Pow(1+w.Lambda*v, 1/w.Lambda)
}

// Warped is the distribution of a target whose z has the distribution of a mixture. Its
// median and intervals are those of the mixture, carried back: of a positive, skewed
// target they are positive and lopsided.
//
// Mean and SD are those of the target within its central 99.8 %: values beyond are moved
// to the ends. What a heavy tail of z means for the target is not known well enough to let
// it rule the mean.
type Warped struct {
	*Mixture
	Warp *Warp
}

// trimmed is the share of either tail that is moved to its end, for moments.
const trimmed = 1e-3

// LogPDF implements Dist.
func (d Warped) LogPDF(y float64) float64 {
	z, slope := d.Warp.Forward(y)
	return d.Mixture.LogPDF(z) + slope
}

// CDF implements Dist.
func (d Warped) CDF(y float64) float64 {
	z, _ := d.Warp.Forward(y)
	return d.Mixture.CDF(z)
}

// Quantile implements Dist.
func (d Warped) Quantile(p float64) float64 {
	z := d.Mixture.Quantile(p)
	if z-z != 0 {
		return z
	}
	return d.Warp.Back(z)
}

// Mean implements Dist.
func (d Warped) Mean() float64 {
	mean, _ := d.moments()
	return mean
}

// SD implements Dist.
func (d Warped) SD() float64 {
	_, sd := d.moments()
	return sd
}

// moments sums over nodes of the levels between the two ends: with x(p) the quantile at
// p, ∫ x dp and ∫ (x − mean)² dp. Between two levels z is cut into equal steps, where the
// mixture gives the probability of each.
func (d Warped) moments() (mean, sd float64) {
	const steps = 48
	lo, hi := d.Mixture.Quantile(trimmed), d.Mixture.Quantile(1-trimmed)
	var sum, square float64
	center := d.Warp.Back((lo + hi) / 2)
	add := func(x, p float64) {
		sum += p * (x - center)
		square += p * (x - center) * (x - center)
	}
	add(d.Warp.Back(lo), trimmed)
	add(d.Warp.Back(hi), trimmed)
	below := trimmed
	left := d.Warp.Back(lo)
	for i := 1; i <= steps; i++ {
		z := lo + (hi-lo)*float64(i)/steps
		p := 1 - trimmed
		if i < steps {
			p = d.Mixture.CDF(z)
		}
		middle, right := d.Warp.Back(z-(hi-lo)/(2*steps)), d.Warp.Back(z)
		add((left+4*middle+right)/6, p-below) // Simpson's rule within the step
		below, left = p, right
	}
	return center + sum, math.Sqrt(max(0, square-sum*sum))
}

// CRPS implements Dist: the integral of (P(X ≤ x) − [y ≤ x])², in equal steps of z on
// either side of y.
func (d Warped) CRPS(y float64) float64 {
	const far = 1e-5
	lo, hi := d.Mixture.Quantile(far), d.Mixture.Quantile(1-far)
	z, _ := d.Warp.Forward(y)
	at := min(max(z, lo), hi)
	beyond := math.Abs(y - d.Warp.Back(at))
	return beyond + d.squares(lo, at, 0) + d.squares(at, hi, 1)
}

// squares integrates (F − one)² over the targets between two z, by the trapezoidal rule.
func (d Warped) squares(lo, hi, one float64) (sum float64) {
	const steps = 64
	last, left := d.Mixture.CDF(lo)-one, d.Warp.Back(lo)
	for i := 1; i <= steps && hi > lo; i++ {
		z := lo + (hi-lo)*float64(i)/steps
		f, right := d.Mixture.CDF(z)-one, d.Warp.Back(z)
		sum += (last*last + last*f + f*f) / 3 * (right - left)
		last, left = f, right
	}
	return sum
}
