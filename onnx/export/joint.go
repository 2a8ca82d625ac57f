package export

import (
	"fmt"
	"slices"

	"utvi/fn"
	"utvi/internal/call"
	"utvi/internal/localization"
	"utvi/moment"
	"utvi/nn"
)

// A coupled is a map in the graph: of the last axis of x.
type coupled func(x value) value

// mapped returns a built-in map.
func (o ops) mapped(m *moment.Map, d int) (coupled, error) {
	if builtin, err := fn.NamedMap(m.Name); err == nil && same(m, builtin, d) {
		op := map[string]string{"softmax": "Softmax", "log_softmax": "LogSoftmax"}[builtin.Name]
		return func(x value) value { return o.Op(op, []value{x}) }, nil // the last axis is the default
	}
	if _, x, err := call.Parse(m.Name); err == nil && m.Family == localization.Family && len(x) == 3 {
		return func(v value) value { return o.photons(v, x[0], x[1], x[2]) }, nil
	}
	return nil, fmt.Errorf("the map %s is Go code, which a graph cannot hold; softmax, log_softmax and the photon node can be exported", title(m.Name))
}

// same reports whether a map has the values of a built-in one.
func same(m, builtin *moment.Map, d int) bool {
	if builtin.In != 0 && builtin.In != d || m.Outputs(d) != builtin.Outputs(d) {
		return false
	}
	x := make([]float64, d)
	for i := range x {
		x[i] = 0.3 / float64(i+1)
	}
	y, z := make([]float64, m.Outputs(d)), make([]float64, m.Outputs(d))
	m.F(x, y)
	builtin.F(x, z)
	return slices.Equal(y, z)
}

// photons is localization.PhotonNode.
func (o ops) photons(v value, photons, sigma, side float64) value {
	x := o.abs(v)
	edge := func(at float64) value { return o.cdf(o.times(o.from(at, x), 1/sigma)) }
	caught := o.sub(edge(side/2), edge(-side/2))
	n := o.times(o.mul(o.slice(caught, -1, 0, 1, 1), o.slice(caught, -1, 1, 2, 1)), photons)
	n = o.max(n, o.Float(1e-3))
	return o.concat(-1, n, o.sqrt(n))
}

// joint writes a coupled map.
func (w *writer) joint(l nn.Joint, in signal, out *signal) error {
	d := in.shape.Size()
	rule := l.Rule
	if rule == nil {
		rule = moment.DefaultJoint(l.Map, d)
	}
	f, err := w.mapped(l.Map, d)
	if err != nil {
		return err
	}
	m := w.rows(in.mean, in.shape)
	if in.form == nn.Fixed {
		out.mean = w.natural(f(m), out.shape)
		return nil
	}
	x := spread{m: m, v: w.rows(in.variance, in.shape), d: d}
	if in.form == nn.Covariant {
		x.cov = in.cov()
	}
	mean, variance, err := w.pushJoint(f, rule, l.Map, x)
	if err != nil {
		return err
	}
	out.mean, out.variance = w.natural(mean, out.shape), w.natural(variance, out.shape)
	return nil
}

// A spread is rows of d Gaussians; cov is "" if they are independent.
type spread struct {
	m, v, cov value
	d         int
}

// pushJoint applies a joint rule.
func (w *writer) pushJoint(f coupled, rule moment.JointRule, m *moment.Map, x spread) (mean, variance value, err error) {
	switch {
	case rule.Draws():
		return "", "", fmt.Errorf("the rule %v draws random numbers, and a graph has none; take a rule of points, such as fifth", rule)
	case rule.Points(x.d) == 0 && m.Name == "softmax":
		if x.cov != "" {
			x.v = w.alike(x)
		}
		mean, variance = w.softmax(x)
		return mean, variance, nil
	case rule.Points(x.d) == 0:
		return "", "", fmt.Errorf("the closed form of the map %s is Go code, which a graph cannot hold; take a rule of points, such as fifth", title(m.Name))
	}
	mean, variance = w.jointPoints(f, rule, x)
	return mean, variance, nil
}

// jointPoints looks at m + σ∘z, or m + L·z with L the root of the covariance; see
// moment.JointRule.
func (w *writer) jointPoints(f coupled, rule moment.JointRule, x spread) (mean, variance value) {
	d, n := x.d, rule.Points(x.d)
	nodes, weights := make([]float64, n*d), make([]float64, n)
	for p := range weights {
		weights[p] = rule.Node(d, p, nodes[p*d:][:d])
	}
	var at value
	if x.cov == "" {
		at = w.add(x.m, w.mul(w.sqrt(x.v), w.floats("z", nodes, n, 1, d)))
	} else {
		root := w.transpose(w.cholesky(x), 0, 2, 1)
		at = w.add(x.m, w.squeeze(w.matmul(w.floats("z", nodes, n, 1, 1, d), root), 2))
	}
	f0 := f(x.m)
	e := w.sub(f(at), f0)
	groups := rule.Groups(d)
	each := n / groups
	e = w.Op("Reshape", []value{e, w.concat(0, w.Ints(groups, each), w.slice(w.unary("Shape", e), 0, 1, 3, 1))})
	rest := make([]float64, groups)
	for g := range rest {
		rest[g] = 1
		for _, p := range weights[g*each:][:each] {
			rest[g] -= p
		}
	}
	by := w.floats("w", weights, groups, each, 1, 1)
	shift := w.sum(w.mul(e, by), 1, true)
	mean = w.add(f0, w.sum(w.squeeze(shift, 1), 0, false))
	parts := w.sum(w.mul(w.square(w.sub(e, shift)), by), 1, true)
	parts = w.add(parts, w.mul(w.square(shift), w.floats("rest", rest, groups, 1, 1, 1)))
	return mean, w.max(w.sum(w.squeeze(parts, 1), 0, false), w.Float(0))
}

// cholesky is the lower root of a covariance, column by column. A pivot below 1e-6 of
// the variance is rounding, and taken at that size.
func (w *writer) cholesky(x spread) value {
	d, rest := x.d, x.cov
	var columns []value
	for j := range d {
		column := w.squeeze(w.slice(rest, 2, j, j+1, 1), 2) // rows × d
		own := w.slice(x.v, 1, j, j+1, 1)
		pivot := w.sqrt(w.max(w.slice(column, 1, j, j+1, 1), w.times(own, 1e-6)))
		below, diagonal := make([]float32, d), make([]float32, d)
		diagonal[j] = 1
		for i := j + 1; i < d; i++ {
			below[i] = 1
		}
		safe := w.where(w.above(pivot, 0), pivot, w.Float(1))
		column = w.add(w.mul(w.div(column, safe), w.Floats("below", below, d)), w.mul(pivot, w.Floats("diagonal", diagonal, d)))
		c := w.unsqueeze(column, 2)
		columns = append(columns, c)
		rest = w.sub(rest, w.matmul(c, w.transpose(c, 0, 2, 1)))
	}
	return w.concat(2, columns...)
}

// conditional writes l + c·target, with l and c functions of other units.
func (w *writer) conditional(l nn.Conditional, in signal, out *signal) error {
	n := in.shape.Size()
	location, err := w.mapped(l.Location, len(l.Given))
	if err != nil {
		return err
	}
	units := append([]int{l.Target}, l.Given...)
	shifted := func(x value) value { // of target, given …
		y := location(w.slice(x, -1, 1, len(units), 1))
		return w.add(w.slice(y, -1, 0, 1, 1), w.mul(w.slice(y, -1, 1, 2, 1), w.slice(x, -1, 0, 1, 1)))
	}
	m, v := w.rows(in.mean, in.shape), value("")
	x := spread{m: w.gather(m, 1, units...), d: len(units)}
	mean, variance := value(""), value("")
	if in.form != nn.Fixed {
		v = w.rows(in.variance, in.shape)
		x.v = w.gather(v, 1, units...)
	}
	switch {
	case in.form == nn.Fixed:
		mean = shifted(x.m)
	case l.Joint:
		if in.form == nn.Covariant {
			x.cov = w.gather(w.gather(in.cov(), 1, units...), 2, units...)
		}
		mean, variance, err = w.pushJoint(shifted, l.RuleOrDefault(), &moment.Map{Name: l.Location.Name}, x)
		if err != nil {
			return err
		}
	default:
		c := w.slice(location(w.gather(m, 1, l.Given...)), 1, 1, 2, 1)
		mean, variance = shifted(x.m), w.mul(w.square(c), w.slice(x.v, 1, 0, 1, 1))
	}
	put := func(v, column value) value {
		var parts []value
		if l.Target > 0 {
			parts = append(parts, w.slice(v, 1, 0, l.Target, 1))
		}
		parts = append(parts, column)
		if l.Target < n-1 {
			parts = append(parts, w.slice(v, 1, l.Target+1, n, 1))
		}
		return w.natural(w.concat(1, parts...), in.shape)
	}
	out.mean = put(m, mean)
	if in.form != nn.Fixed {
		out.variance = put(v, variance)
	}
	return nil
}
