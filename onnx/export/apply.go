package export

import (
	"fmt"
	"strings"

	"utvi/internal/special"
	"utvi/moment"
	"utvi/nn"
)

// apply writes an elementwise function with its rule.
func (w *writer) apply(n *node, l nn.Apply, in signal, out *signal) (back, error) {
	rule := l.Rule
	if rule == nil {
		rule = moment.Default(l.F)
	}
	params, kappa := map[string]value{}, 0.0
	for _, t := range n.Tensors {
		if name, ok := strings.CutPrefix(t.Name, n.Name+".param."); ok {
			params[name] = w.param(name, t.Mean, in.shape)
		} else {
			kappa = special.Softplus(float64(t.Mean[0]))
		}
	}
	f, err := w.function(l.F, params)
	if err != nil {
		return nil, err
	}
	for _, p := range f.formula.Inputs[f.formula.Learned:] {
		v := make([]float32, len(p.Values))
		for i, x := range p.Values {
			v[i] = float32(x)
		}
		params[p.Name] = w.param(p.Name, v, in.shape)
	}
	if in.form == nn.Fixed {
		out.mean = f.at(in.mean)
		return nil, nil
	}
	if rule.Nodes().Method == moment.InClosedForm && l.F.Exact == nil {
		return nil, fmt.Errorf("the function %s has no closed form", title(l.F.Name))
	}
	y, err := f.push(rule, kappa, in.mean, in.variance, in.rank())
	if err != nil {
		return nil, err
	}
	out.mean, out.variance = y.mean, y.variance
	w.scaleCov(in, out, func() value { return w.rows(y.slope(), in.shape) })
	if !w.sense {
		return nil, nil
	}
	scope := w.prefix + n.Name
	return func(s *sensed, a value) value {
		w.Scope(scope)
		g := y.slope()
		e := w.max(w.sub(y.variance, w.mul(w.square(g), in.variance)), w.Float(0)) // below 0 by rounding alone
		s.inject(a, w.unsqueeze(w.rows(e, in.shape), 1))
		return w.mul(a, w.unsqueeze(w.rows(g, in.shape), 1))
	}, nil
}

// param is a parameter of a formula: one number, or one a unit.
func (w *writer) param(name string, v []float32, s nn.Shape) value {
	if len(v) == 1 {
		return w.Floats("param."+name, v)
	}
	return w.Floats("param."+name, v, sizes(s)...)
}
