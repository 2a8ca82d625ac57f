package export

import (
	"math"
	"slices"

	"utvi/dist"
	"utvi/internal/calibrate"
)

// inner are the levels that the networks' quantiles are taken at, for each target:
// themselves, or the ones that its calibration bends into them.
func (t *tableWriter) inner(levels []float64) [][]float64 {
	all := make([][]float64, len(t.m.Schema.Targets()))
	for i := range all {
		all[i] = slices.Clone(levels)
		if bent := t.levels(i); bent != nil {
			for j, p := range levels {
				all[i][j] = bent.Inverse(p)
			}
		}
	}
	return all
}

// levels are the bent levels of a target, or nil.
func (t *tableWriter) levels(target int) *calibrate.Levels {
	if t.m.Calibration == nil {
		return nil
	}
	return t.m.Calibration[target].Levels
}

// bent is how bending levels changes the moments of targets, in standard deviations,
// rows × targets: the shift of the mean and the new standard deviation. ok is false if
// nothing is bent.
func (t *tableWriter) bent(p parts, d predicted) (shift, sd value, ok bool) {
	var shifts, sds []value
	for i := range t.m.Schema.Targets() {
		l := t.levels(i)
		if l == nil {
			none := t.zeros(t.slice(d.sd, 1, i, i+1, 1))
			shifts, sds = append(shifts, none), append(sds, t.plus(none, 1))
			continue
		}
		ok = true
		shift, sd := t.bentMoments(i, l, p, d)
		shifts, sds = append(shifts, shift), append(sds, sd)
	}
	if !ok {
		return "", "", false
	}
	return t.concat(1, shifts...), t.concat(1, sds...), true
}

// bentMoments are those of one target: with G = R(F), in steps of the distance s from the
// mean, as package calibrate has them,
//
//	shift     = Σ w·((1−G(s)) − G(−s))
//	E[square] = Σ w·2s·((1−G(s)) + G(−s))
func (t *tableWriter) bentMoments(target int, l *calibrate.Levels, p parts, d predicted) (shift, sd value) {
	const reach, steps = 12.0, 768
	n := steps/2 + 1
	at := make([]float64, n)
	once := make([]float64, n)
	twice := make([]float64, n)
	for i := range n {
		at[i], once[i] = 2*reach/steps*float64(i), 2*reach/steps
		if i == 0 || i == n-1 {
			once[i] /= 2
		}
		twice[i] = once[i] * 2 * at[i]
	}
	of := func(v value) value { return t.slice(v, 1, target, target+1, 1) }
	c := t.components(p, t.m.Net.Residuals)
	c = components{t, of(c.mu), of(c.sd), t.slice(c.w, 0, target, target+1, 1)}
	away := t.mul(t.unsqueeze(of(d.sd), 2), t.floats("away", at, n)) // rows × 1 × n
	// Each side by its own tail, which keeps its digits.
	side := func(sign float64) value {
		x := t.times(away, sign)
		if w := t.m.Net.Warp(target); w != nil {
			x = t.sub(t.forward(w, t.add(t.unsqueeze(of(d.mean), 2), x)), t.unsqueeze(of(p.mean), 2))
		}
		tail := t.squeeze(c.mean(t.cdf(t.times(c.at(t.unsqueeze(x, 3)), -sign))), 3)
		from, to := append([]float64{0}, l.From...), append([]float64{0}, l.To...)
		from, to = append(from, 1), append(to, 1)
		if sign > 0 { // 1 − R(1 − tail)
			for _, knots := range [][]float64{from, to} {
				slices.Reverse(knots)
				for i := range knots {
					knots[i] = 1 - knots[i]
				}
			}
		}
		return t.interpolate(t.Op("Cast", []value{tail}, toDouble), from, to)
	}
	above, below := side(1), side(-1)
	total := func(v value, weights []float64) value {
		return t.sum(t.mul(v, t.Doubles("weights", weights...)), 2, false)
	}
	first := total(t.sub(above, below), once)
	second := total(t.add(above, below), twice)
	variance := t.sub(second, t.square(first))
	return t.cast(first), t.sqrt(t.max(t.cast(variance), t.Float(0)))
}

// interpolate is the map through the knots (from, to), both rising, of x in float64. The
// segment of each number is found by bisection.
func (t *tableWriter) interpolate(x value, from, to []float64) value {
	segments := len(from) - 1
	slopes := make([]float64, segments)
	for i := range slopes {
		slopes[i] = (to[i+1] - to[i]) / (from[i+1] - from[i])
	}
	half := 1
	for 2*half < segments {
		half *= 2
	}
	starts := slices.Clone(from[:segments])
	for len(starts) < 2*half { // no number is beyond
		starts = append(starts, math.Inf(1))
	}
	list := func(name string, v []float64) value { return t.reshape(t.Doubles(name, v...), len(v)) }
	begin := list("from", starts)
	ys := list("to", to[:segments])
	slope := list("slopes", slopes)
	pick := func(v, index value) value { return t.Op("Gather", []value{v, index}) }
	beyond := func(index value) value { return t.less(pick(begin, index), x) }
	index := t.where(beyond(t.Index(half)), t.Index(half), t.Index(0))
	for half /= 2; half > 0; half /= 2 {
		next := t.add(index, t.Index(half))
		index = t.where(beyond(next), next, index)
	}
	return t.add(pick(ys, index), t.mul(t.sub(x, pick(begin, index)), pick(slope, index)))
}

// forward is the z of a target; see dist.Warp.Forward.
func (t *tableWriter) forward(w *dist.Warp, y value) value {
	u := t.plus(y, -w.Origin)
	inside := t.min(t.max(u, t.Float(w.Low)), t.Float(w.Top))
	var psi value
	if w.Lambda == 0 {
		psi = t.unary("Log", inside)
	} else {
		psi = t.times(t.plus(t.Op("Pow", []value{inside, t.Float(w.Lambda)}), -1), 1/w.Lambda)
	}
	slope := func(u float64) float64 { return math.Pow(u, w.Lambda-1) }
	psi = t.add(psi, t.times(t.min(t.plus(u, -w.Low), t.Float(0)), slope(w.Low)))
	psi = t.add(psi, t.times(t.max(t.plus(u, -w.Top), t.Float(0)), slope(w.Top)))
	return t.times(t.plus(psi, -w.Mean), 1/w.SD)
}
