package export

import (
	"errors"
	"slices"

	"utvi/internal/calibrate"
	"utvi/internal/counts"
	"utvi/internal/onnx"
	"utvi/likelihood"
)

// splitCounts reads the outputs of a network that predicts counts; see likelihood.Count.
func (t *tableWriter) splitCounts(l likelihood.Count, m, v value, k int) (mean, doubt, noise value) {
	s := l.Scale
	row := func(name string, x []float64) value { return t.floats(name, x, k) }
	first := func(v value) value { return t.slice(v, 1, 0, k, 1) }
	x := t.add(first(m), t.times(first(v), 0.5))
	if s.Base != nil {
		x = t.add(x, row("base", s.Base))
	}
	n := t.exp(x)
	if s.Most != nil {
		n = t.min(n, row("most", s.Most))
	}
	spread := t.mul(t.square(n), t.expm1(first(v)))
	own := n
	if l.Dispersed {
		least, most := l.LogDispersion()
		a := t.max(t.min(t.slice(m, 1, k, 2*k, 1), t.Float(most)), t.Float(least))
		own = t.add(own, t.mul(t.exp(a), t.add(t.square(n), spread)))
	}
	step := row("step", s.Step)
	area := t.square(step)
	return t.add(row("zero", s.Zero), t.mul(step, n)), t.mul(area, spread), t.mul(area, own)
}

// relative are the variances due to the weights, relative to the squared means of counts.
func (t *tableWriter) relative(p parts) value {
	s := likelihood.Inner(t.m.Networks.Members[0].Likelihood).(likelihood.Count).Scale
	k := len(s.Step)
	mean := t.sub(p.mean, t.floats("zero", s.Zero, k)) // in steps
	least := make([]float64, k)
	for i, step := range s.Step {
		least[i] = counts.LeastMean * step
	}
	return t.div(p.weights, t.square(t.max(mean, t.floats("least", least, k))))
}

// counts writes the outputs of a model of counts: moments, and conformal intervals if the
// model has them. Quantiles of counts are sums that a graph cannot hold.
func (t *tableWriter) counts(p parts) error {
	if slices.ContainsFunc(t.m.Calibration, func(c calibrate.Calibration) bool { return c.Levels != nil }) {
		return errors.New("the model predicts counts with corrected levels, which a graph cannot hold; calibrate without isotonic")
	}
	width := len(t.m.Schema.Targets())
	k := t.correction(width)
	scale := likelihood.Inner(t.m.Networks.Members[0].Likelihood).(likelihood.Count).Scale
	row := func(name string, v []float64) value { return t.floats(name, v, width) }
	area := make([]float64, width)
	for i, step := range scale.Step {
		area[i] = step * step
	}
	count := func(v value) value {
		return t.max(t.div(t.sub(v, row("zero", scale.Zero)), row("step", scale.Step)), t.Float(1e-9))
	}
	mean := count(p.mean)
	// The variance of every part of the mixture, at least that of a Poisson.
	var sum []value
	for _, m := range p.members {
		n := count(m.m)
		v := t.div(m.v, row("area", area))
		most := t.add(n, t.times(t.square(n), counts.MostDispersion))
		for j := range t.m.Net.Residuals[0].W {
			w, r := make([]float64, width), make([]float64, width)
			for i, s := range t.m.Net.Residuals {
				w[i], r[i] = s.W[j]/float64(len(p.members)), s.R[j]
			}
			part := t.min(t.max(t.mul(v, row("widen", r)), n), most)
			sum = append(sum, t.mul(t.add(part, t.square(t.sub(n, mean))), row("weight", w)))
		}
	}
	wide := t.sqrt(t.total(sum))
	std := t.mul(wide, row("calibration", k.factor))
	dim := []onnx.Dim{{Name: "N"}, {Size: int64(width)}}
	t.output("mean", mean, dim...)
	t.output("std", std, dim...)
	if k.conformal == width {
		end := func(x value) value { return t.max(t.unary("Ceil", t.plus(x, -0.5)), t.Float(0)) }
		t.output("lo", end(t.sub(mean, t.mul(wide, row("below", k.below)))), dim...)
		t.output("hi", end(t.add(mean, t.mul(wide, row("above", k.above)))), dim...)
	}
	t.variances(p, std, dim)
	return nil
}
