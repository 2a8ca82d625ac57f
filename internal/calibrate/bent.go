package calibrate

import (
	"math"

	"utvi/dist"
)

// bent is a distribution whose levels are mapped: G(x) = R(F(x)). Its density is
// R′(F(x))·f(x), its quantiles are those of F at R⁻¹(p). Mean, standard deviation and
// CRPS are integrals of G by the trapezoidal rule, in steps of 1/32 of F's standard
// deviation out to 12 of them: to about 1e-4 of it, 1e-3 for wild maps, as G has kinks.
type bent struct {
	base   dist.Dist
	levels *Levels

	own  moments // of this row
	unit moments // of a standard Normal, from which those of every Normal follow
}

// moments are a mean and a standard deviation, once they are known.
type moments struct {
	known    bool
	mean, sd float64
}

const reach, steps = 12.0, 768

// set takes the next row's distribution.
func (b *bent) set(base dist.Dist, levels *Levels) {
	if b.levels != levels {
		b.levels, b.unit = levels, moments{}
	}
	b.base, b.own = base, moments{}
}

// LogPDF implements dist.Dist.
func (b *bent) LogPDF(x float64) float64 {
	_, slope := b.levels.at(b.base.CDF(x))
	return b.base.LogPDF(x) + math.Log(slope)
}

// CDF implements dist.Dist.
func (b *bent) CDF(x float64) float64 {
	p, _ := b.levels.at(b.base.CDF(x))
	return p
}

// Quantile implements dist.Dist.
func (b *bent) Quantile(p float64) float64 { return b.base.Quantile(b.levels.Inverse(p)) }

// Mean implements dist.Dist.
func (b *bent) Mean() float64 { return b.moments().mean }

// SD implements dist.Dist.
func (b *bent) SD() float64 { return b.moments().sd }

func (b *bent) moments() moments {
	if b.own.known {
		return b.own
	}
	if !isNormal(b.base) {
		b.own = integrate(b.base, b.levels)
		return b.own
	}
	if !b.unit.known {
		b.unit = integrate(dist.Normal{Sigma: 1}, b.levels)
	}
	sd := b.base.SD()
	b.own = moments{true, b.base.Mean() + sd*b.unit.mean, sd * b.unit.sd}
	return b.own
}

// integrate returns mean and standard deviation, by parts about the base's mean c:
//
//	E[X] − c  = ∫₀^∞ (1−G(c+t)) − G(c−t) dt
//	E[(X−c)²] = ∫₀^∞ 2t·((1−G(c+t)) + G(c−t)) dt
func integrate(base dist.Dist, levels *Levels) moments {
	c, h := base.Mean(), base.SD()*2*reach/steps
	var first, second float64
	for i := range steps/2 + 1 {
		t, w := h*float64(i), h
		if i == 0 || i == steps/2 {
			w = h / 2
		}
		up, _ := levels.at(base.CDF(c + t))
		below, _ := levels.at(base.CDF(c - t))
		above := 1 - up
		first += w * (above - below)
		second += w * 2 * t * (above + below)
	}
	return moments{true, c + first, math.Sqrt(max(second-first*first, 0))}
}

// CRPS implements dist.Dist.
func (b *bent) CRPS(y float64) float64 {
	c, r := b.base.Mean(), b.base.SD()*reach
	lo, hi := c-r, c+r
	at := min(max(y, lo), hi)
	return math.Abs(y-at) +
		b.squares(lo, at, func(g float64) float64 { return g }) +
		b.squares(at, hi, func(g float64) float64 { return 1 - g })
}

// squares integrates f(G)² from lo to hi.
func (b *bent) squares(lo, hi float64, f func(g float64) float64) (sum float64) {
	n := int(math.Ceil((hi - lo) / (b.base.SD() * 2 * reach) * steps))
	h := (hi - lo) / float64(max(n, 1))
	for i := range n + 1 {
		g := f(b.CDF(lo + h*float64(i)))
		w := h
		if i == 0 || i == n {
			w = h / 2
		}
		sum += w * g * g
	}
	return sum
}
