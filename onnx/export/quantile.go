package export

import (
	"math"
	"slices"

	"utvi/dist"
	"utvi/internal/onnx"
	"utvi/internal/special"
	"utvi/internal/tabular"
)

// quantiles are those of the mixture of all networks, each widened to the form that
// residuals have, less the mean of the mixture: rows × targets × levels, of which each target has its own.
func (t *tableWriter) quantiles(p parts, residuals []tabular.ResidualMixture, levels [][]float64) value {
	if len(p.members) > 1 {
		return t.components(p, residuals).quantile(levels)
	}
	// One shape for all rows: standard deviations times a number.
	var z []float64
	for i, s := range residuals {
		var d dist.Mixture
		for j, w := range s.W {
			d.Add(w, 0, math.Sqrt(s.R[j]))
		}
		for _, level := range levels[i] {
			z = append(z, d.Quantile(level))
		}
	}
	return t.mul(t.unsqueeze(t.sqrt(p.members[0].v), 2), t.floats("z", z, len(residuals), len(levels[0])))
}

// components are the Normals of a mixture, rows × targets × 1 × components, about the mean
// of the mixture.
type components struct {
	t         *tableWriter
	mu, sd, w value
}

func (t *tableWriter) components(p parts, residuals []tabular.ResidualMixture) components {
	var mus, sds []value
	width := len(residuals)
	weights := make([][]float64, width)
	most := 0
	for _, s := range residuals {
		most = max(most, len(s.W))
	}
	for _, m := range p.members {
		sd := t.sqrt(m.v)
		for j := range most {
			r := make([]float64, width)
			for i, s := range residuals {
				w := 0.0
				r[i] = 1 // a part that a target lacks has no weight
				if j < len(s.W) {
					w, r[i] = s.W[j], s.R[j]
				}
				weights[i] = append(weights[i], w)
				r[i] = math.Sqrt(r[i])
			}
			mus = append(mus, t.unsqueeze(t.sub(m.m, p.mean), 2))
			sds = append(sds, t.unsqueeze(t.mul(sd, t.floats("r", r, width)), 2))
		}
	}
	flat := make([]float64, 0, width*len(mus))
	for _, w := range weights {
		var sum float64
		for _, x := range w {
			sum += x
		}
		for _, x := range w {
			flat = append(flat, x/sum)
		}
	}
	return components{t, t.unsqueeze(t.concat(2, mus...), 2), t.unsqueeze(t.concat(2, sds...), 2), t.floats("w", flat, width, 1, len(mus))}
}

// at are the standardised places of x, rows × targets × n × 1, in each component.
func (c components) at(x value) value { return c.t.div(c.t.sub(x, c.mu), c.sd) }

// mean is the average over the components, whose axis stays.
func (c components) mean(v value) value { return c.t.sum(c.t.mul(c.w, v), -1, true) }

// quantile solves F(x) = p by Newton's method, kept in a bracket: the quantile of a mixture
// lies between those of its components. Each target has its own levels.
func (c components) quantile(levels [][]float64) value {
	t := c.t
	var z, side, tail []float64
	for _, p := range slices.Concat(levels...) {
		s, beyond := 1.0, p
		if p > 0.5 { // by the upper tail, which keeps its digits
			s, beyond = -1, 1-p
		}
		z = append(z, special.Quantile(p))
		side = append(side, s)
		tail = append(tail, beyond)
	}
	list := func(name string, v []float64) value { return t.floats(name, v, len(levels), len(levels[0]), 1) }
	own := t.add(c.mu, t.mul(c.sd, list("z", z))) // rows × targets × levels × components
	reduce := func(op string, v value) value { return t.Op(op, []value{v}, onnx.IntList("axes", -1)) }
	lo, hi := reduce("ReduceMin", own), reduce("ReduceMax", own)
	sides, target := list("sides", side), list("tails", tail)
	x := c.mean(own)
	// The first rounds come close with an Φ of few operators, the last ones hold in the
	// tails. Far out, all must hold, and ln F is what is nearly straight.
	const rounds = 16
	exact, far := 2, slices.Min(tail) < 1e-3
	if far {
		exact = rounds
	}
	for i := range rounds {
		u := c.at(x)
		out := t.mul(u, sides) // the tail lies beyond it
		phi := t.plus(t.times(t.unary("Erf", t.times(out, math.Sqrt2/2)), 0.5), 0.5)
		if i >= rounds-exact {
			phi = t.cdf(out)
		}
		slope := c.mean(t.div(t.density(u), c.sd))
		beyond := c.mean(phi)
		over := t.mul(t.sub(beyond, target), sides)
		if far {
			beyond = t.max(beyond, t.Float(1e-37))
			over = t.mul(t.mul(beyond, t.unary("Log", t.div(beyond, target))), sides)
		}
		next := t.sub(x, t.div(over, t.max(slope, t.Float(1e-30))))
		if i >= rounds-2 {
			x = next
			continue
		}
		above := t.above(over, 0)
		hi, lo = t.where(above, x, hi), t.where(above, lo, x)
		// A solution that is found lies on an edge of the bracket.
		inside := t.and(t.Op("LessOrEqual", []value{lo, next}), t.Op("LessOrEqual", []value{next, hi}))
		x = t.where(inside, next, t.times(t.add(lo, hi), 0.5))
	}
	return t.squeeze(x, 3)
}
