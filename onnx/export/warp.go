package export

import (
	"math"

	"utvi/dist"
	"utvi/internal/schema"
)

// A predicted is the distribution of targets in encoded units, rows × targets, and its
// quantiles, rows × targets × levels, before any calibration.
type predicted struct{ mean, sd, quantiles value }

// predicted is what the mixture of the networks means for the targets: themselves, or what
// their transforms carry back.
func (t *tableWriter) predicted(p parts, levels [][]float64) predicted {
	residuals := t.m.Net.Residuals
	warped := false
	for i := range residuals {
		warped = warped || t.m.Net.Warp(i) != nil
	}
	if !warped {
		return predicted{p.mean, t.sqrt(p.variance), t.add(t.unsqueeze(p.mean, 2), t.quantiles(p, residuals, levels))}
	}
	all := make([][]float64, len(levels))
	for i, own := range levels {
		all[i] = append([]float64{trimmed, 1 - trimmed}, own...)
	}
	count := len(all[0])
	c := t.components(p, residuals)
	z := c.quantile(all)
	var means, sds, quantiles []value
	for i := range residuals {
		of := func(v value) value { return t.slice(v, 1, i, i+1, 1) }
		w := t.m.Net.Warp(i)
		center := t.unsqueeze(of(p.mean), 2)
		if w == nil {
			means, sds = append(means, of(p.mean)), append(sds, t.sqrt(of(p.variance)))
			quantiles = append(quantiles, t.add(center, t.slice(of(z), 2, 2, count, 1)))
			continue
		}
		own := components{t, of(c.mu), of(c.sd), t.slice(c.w, 0, i, i+1, 1)}
		mean, sd := t.carried(w, own, of(z), center)
		means, sds = append(means, mean), append(sds, sd)
		quantiles = append(quantiles, t.carry(w, t.add(center, t.slice(of(z), 2, 2, count, 1))))
	}
	return predicted{t.concat(1, means...), t.concat(1, sds...), t.concat(1, quantiles...)}
}

// bounds are the smallest and the largest values of targets: 0 for those that are never
// negative, the whole for shares. ok is false if there are none.
func (t *tableWriter) bounds(columns []schema.Column) (least, most []float64, ok bool) {
	for i, c := range columns {
		low, high := -math.MaxFloat32, math.MaxFloat32
		from, to, bounded := c.Bounds()
		w := t.m.Net.Warp(i)
		if bounded {
			low = max(low, from)
			high = min(high, to)
		} else if w != nil && w.Positive {
			low = 0
		}
		ok = ok || bounded || w != nil && w.Positive
		least, most = append(least, low), append(most, high)
	}
	return least, most, ok
}

// trimmed is the share of either tail that counts at its end; see dist.Warped.
const trimmed = 1e-3

// carried are the mean and the standard deviation of a transformed target, rows × 1, as
// dist.Warped has them. z are quantiles about center, those of the two ends first.
func (t *tableWriter) carried(w *dist.Warp, c components, z, center value) (mean, sd value) {
	const steps = 48
	lo, hi := t.slice(z, 2, 0, 1, 1), t.slice(z, 2, 1, 2, 1) // rows × 1 × 1
	share := make([]float64, 2*steps+1)
	for i := range share {
		share[i] = float64(i) / (2 * steps)
	}
	at := t.add(lo, t.mul(t.sub(hi, lo), t.floats("share", share, len(share)))) // rows × 1 × (2·steps+1)
	middle := t.slice(at, 2, steps, steps+1, 1)
	x := t.sub(t.carry(w, t.add(center, at)), t.carry(w, t.add(center, middle)))
	inner := t.unsqueeze(t.slice(at, 2, 2, 2*steps-1, 2), 3) // steps − 1 nodes
	u := c.at(inner)
	// Below the middle by Φ, above it by 1 − Φ: differences keep their digits.
	below, above := t.squeeze(c.mean(t.cdf(u)), 3), t.squeeze(c.mean(t.cdf(t.neg(u))), 3)
	end := t.plus(t.zeros(t.slice(below, 2, 0, 1, 1)), trimmed)
	half := steps / 2
	difference := func(v value, from, to int) value {
		return t.sub(t.slice(v, 2, from+1, to+1, 1), t.slice(v, 2, from, to, 1))
	}
	low := t.concat(2, end, t.slice(below, 2, 0, half, 1))          // P below nodes 0 … half
	high := t.concat(2, t.slice(above, 2, half-1, steps-1, 1), end) // P above nodes half … steps
	mass := t.concat(2, difference(low, 0, half), t.neg(difference(high, 0, steps-half)))
	node := func(from, to int) value { return t.slice(x, 2, from, to, 2) }
	simpson := t.times(t.add(t.add(node(0, 2*steps-1), node(2, 2*steps+1)), t.times(node(1, 2*steps), 4)), 1.0/6)
	values := t.concat(2, node(0, 1), simpson, node(2*steps, 2*steps+1))
	masses := t.concat(2, end, mass, end)
	shift := t.sum(t.mul(masses, values), 2, true)
	variance := t.sum(t.mul(masses, t.square(t.sub(values, shift))), 2, false)
	mean = t.squeeze(t.add(t.carry(w, t.add(center, middle)), shift), 2)
	return mean, t.sqrt(variance)
}

// carry is the target of a z; see dist.Warp.Back.
func (t *tableWriter) carry(w *dist.Warp, z value) value {
	psi := func(u float64) (value, slope float64) {
		if w.Lambda == 0 {
			return math.Log(u), 1 / u
		}
		p := math.Pow(u, w.Lambda)
		return (p - 1) / w.Lambda, p / u
	}
	low, lowSlope := psi(w.Low)
	top, topSlope := psi(w.Top)
	v := t.plus(t.times(z, w.SD), w.Mean)
	inside := t.min(t.max(v, t.Float(low)), t.Float(top))
	var u value
	if w.Lambda == 0 {
		u = t.exp(inside)
	} else {
		u = t.Op("Pow", []value{t.plus(t.times(inside, w.Lambda), 1), t.Float(1 / w.Lambda)})
	}
	beyond := t.add(t.times(t.min(t.plus(v, -low), t.Float(0)), 1/lowSlope), t.times(t.max(t.plus(v, -top), t.Float(0)), 1/topSlope))
	return t.plus(t.add(u, beyond), w.Origin)
}
