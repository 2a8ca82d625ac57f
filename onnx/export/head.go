package export

import (
	"fmt"

	"utvi/internal/special"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
)

// parts are the predictions of an ensemble in the units of the networks, rows × targets;
// see model.Predictions.
type parts struct {
	mean, variance         value
	weights, inputs, noise value
	plain                  value     // weights without what the networks disagree about, added to each
	members                []normals // each with all its variance
}

// head writes all networks and mixes their predictions, as model.Head does.
func (t *tableWriter) head(x signal) (parts, error) {
	var p parts
	var all []memberParts
	var means, own, plain, more, noise []value
	for k, n := range t.m.Networks.Members {
		t.prefix = fmt.Sprintf("member%d/", k)
		m, err := t.member(n, x)
		if err != nil {
			return p, fmt.Errorf("network %d: %w", k, err)
		}
		all = append(all, m)
		means = append(means, m.m)
	}
	t.prefix = ""
	t.Scope("")
	share := 1 / float64(len(means))
	p.mean = t.times(t.total(means), share)
	var squares []value
	for _, m := range means {
		squares = append(squares, t.square(t.sub(m, p.mean)))
	}
	apart := t.times(t.total(squares), share) // what the networks disagree about
	for k := range all {
		m := &all[k]
		t.widen(m, apart)
		t.levelVariances(m)
		p.members = append(p.members, m.normals)
		own = append(own, m.own)
		plain = append(plain, m.plain)
		more = append(more, m.more)
		noise = append(noise, m.noise)
	}
	scale := share
	by := func(v value) value { return t.times(v, scale) }
	if r := t.m.Net.Residuals; r != nil {
		factors := make([]float64, len(r))
		for i, s := range r {
			factors[i] = share * s.Scale()
		}
		wide := t.floats("widen", factors, len(factors))
		by = func(v value) value { return t.mul(v, wide) }
	}
	p.weights = t.add(by(t.total(own)), apart)
	p.plain = p.weights
	if all[0].plain != all[0].own {
		p.plain = t.add(by(t.total(plain)), apart)
	}
	p.inputs, p.noise = by(t.total(more)), by(t.total(noise))
	p.variance = t.add(t.add(p.weights, p.inputs), p.noise)
	t.support(&p, apart)
	return p, nil
}

// support draws predictions towards 0 as widths.Support does; apart is what the networks disagree about.
func (t *tableWriter) support(p *parts, apart value) {
	width := len(t.m.Net.Residuals)
	usual := make([]float64, width)
	per := make([]float64, width)   // 1/Var
	shape := make([]float64, width) // what the shape of the residuals does not widen again
	some := false
	for i, s := range t.m.Net.Residuals {
		shape[i] = 1 / s.Scale()
		if s.Support != nil {
			some = true
			usual[i] = s.Support.Usual
			per[i] = 1 / s.Support.Var
		}
	}
	if !some {
		return
	}
	over := t.max(t.sub(p.plain, t.floats("usual", usual, width)), t.Float(0))
	share := t.unary("Reciprocal", t.add(t.mul(over, t.floats("per", per, width)), t.Float(1)))
	more := t.mul(t.mul(t.sub(t.Float(1), share), apart), t.floats("shape", shape, width))
	same := p.plain == p.weights
	for _, v := range []*value{&p.mean, &p.variance, &p.weights, &p.inputs, &p.noise} {
		*v = t.mul(*v, share)
	}
	if same {
		p.plain = p.weights
	} else {
		p.plain = t.mul(p.plain, share)
	}
	for i, n := range p.members {
		p.members[i] = normals{t.mul(n.m, share), t.mul(t.add(n.v, more), share)}
	}
}

// widen adds what the networks disagree about to the variance of each, as model.Head does.
func (t *tableWriter) widen(m *memberParts, apart value) {
	times := make([]float64, len(t.m.Net.Residuals))
	m.plain = m.own
	some := false
	for i, s := range t.m.Net.Residuals {
		times[i] = s.Apart
		some = some || s.Apart > 0
	}
	if !some {
		return
	}
	more := t.mul(apart, t.floats("apart", times, len(times)))
	m.own = t.add(m.own, more)
	m.v = t.add(m.v, more)
}

// levelVariances changes variances as widths.Level does.
func (t *tableWriter) levelVariances(m *memberParts) {
	width := len(t.m.Net.Residuals)
	power := make([]float64, width)
	least := make([]float64, width)
	most := make([]float64, width)
	tilt := make([]float64, width)
	low := make([]float64, width)
	high := make([]float64, width)
	levels, tilts := false, false
	for i, s := range t.m.Net.Residuals {
		least[i], most[i] = 1, 1
		if l := s.Level; l != nil {
			levels = true
			power[i] = -l.Power
			least[i] = l.Least
			most[i] = l.Most
			tilts = tilts || l.Tilt != 0
			tilt[i] = -l.Tilt
			low[i] = l.Low
			high[i] = l.High
		}
	}
	if !levels {
		return
	}
	row := func(name string, x []float64) value { return t.floats(name, x, width) }
	within := t.min(t.max(m.v, row("least", least)), row("most", most))
	log := t.mul(t.unary("Log", within), row("power", power))
	if tilts {
		near := t.min(t.max(m.m, row("low", low)), row("high", high))
		log = t.add(log, t.mul(near, row("tilt", tilt)))
	}
	if curve := t.curve(m, log); curve != "" {
		log = t.add(log, curve)
	}
	f := t.exp(log)
	same := m.plain == m.own
	m.own = t.mul(m.own, f)
	if same {
		m.plain = m.own
	} else {
		m.plain = t.mul(m.plain, f)
	}
	m.more = t.mul(m.more, f)
	m.noise = t.mul(m.noise, f)
	m.v = t.mul(m.v, f)
}

// A memberParts is the prediction of one network: its own doubt, what the inputs add, the
// noise, and the Normal of all.
type memberParts struct {
	normals
	own, more, noise value
	plain            value // own without what the networks disagree about
}

// member writes a network; x may have variances.
func (t *tableWriter) member(n *model.Model, x signal) (m memberParts, err error) {
	l := likelihood.Inner(n.Likelihood)
	reads := likelihood.Describe(l)
	if in := n.Config.Input; in != x.shape { // an image
		x.mean = t.natural(x.mean, in)
		x.shape = in
	}
	out, err := t.network(n, x)
	if err != nil {
		return m, err
	}
	var doubt value
	m.m, doubt, m.noise, err = t.split(l, out)
	if err != nil {
		return m, err
	}
	m.own = doubt
	zero := t.zeros(m.m)
	layer, loud := lastNoise(n)
	quiet := n
	_, asIs := l.(likelihood.Normal)
	subtract := layer != nil && asIs
	if loud && !subtract {
		quiet = n.WithoutNoise()
		out, err := t.network(quiet, x)
		if err != nil {
			return m, err
		}
		_, still, _, err := t.split(l, out)
		if err != nil {
			return m, err
		}
		m.noise = t.add(m.noise, t.max(t.sub(m.own, still), t.Float(0)))
		m.own = t.min(m.own, still)
	}
	m.more = zero
	if x.form != nn.Fixed {
		exact := x
		exact.form, exact.variance = nn.Fixed, ""
		out, err := t.network(quiet, exact)
		if err != nil {
			return m, err
		}
		_, at, _, err := t.split(l, out)
		if err != nil {
			return m, err
		}
		m.more = t.max(t.sub(m.own, at), t.Float(0))
		m.own = t.sub(m.own, m.more)
	}
	if subtract {
		m.noise = t.add(zero, layer(t))
		m.own = t.max(t.sub(m.own, m.noise), t.Float(0))
	}
	m.v = t.max(t.add(t.add(m.own, m.more), m.noise), t.Float(reads.Floor))
	return m, nil
}

// split reads the outputs of a network; see likelihood.Splitter.
func (t *tableWriter) split(l likelihood.Likelihood, out signal) (mean, doubt, noise value, err error) {
	n := out.shape.Size()
	m, v := t.rows(out.mean, out.shape), t.rows(t.varianceOf(out), out.shape)
	switch l := l.(type) {
	case likelihood.Normal, likelihood.Categorical:
		return m, v, t.zeros(m), nil
	case likelihood.Count:
		k, err := l.Targets(n)
		if err != nil || l.Scale == nil {
			return "", "", "", fmt.Errorf("the likelihood %v does not say how counts are encoded", l)
		}
		mean, doubt, noise := t.splitCounts(l, m, v, k)
		return mean, doubt, noise, nil
	case likelihood.Heteroscedastic:
		k, err := l.Targets(n)
		if err != nil {
			return "", "", "", err
		}
		part := func(v value, i int) value { return t.slice(v, 1, i*k, (i+1)*k, 1) }
		noise := t.exp(t.add(part(m, 1), t.times(part(v, 1), 0.5)))
		if r := l.Range; r != nil {
			noise = t.max(t.min(noise, t.floats("most", r.Most, k)), t.floats("least", r.Least, k))
		}
		return part(m, 0), part(v, 0), t.max(noise, t.Float(likelihood.Describe(l).Floor)), nil
	}
	return "", "", "", fmt.Errorf("the likelihood %v cannot be exported with a table", l)
}

// lastNoise returns the variances that the last layer adds, if that is the only noise of
// the network, and whether the network has noise at all.
func lastNoise(n *model.Model) (variances func(t *tableWriter) value, noisy bool) {
	loud := func(l nn.Layer) bool { x, ok := l.(nn.Noise); return ok && !x.Off }
	if !nn.Any(n.Config.Layers, loud) {
		return nil, false
	}
	steps := n.Graph().Steps()
	last := steps[len(steps)-1]
	for _, s := range steps {
		if s != last && nn.Any(s.Layer, loud) {
			return nil, true
		}
	}
	if !loud(last.Layer) {
		return nil, true
	}
	return func(t *tableWriter) value {
		return t.perUnit("noise", last.Tensors[0], last.Out, func(x float64) float64 {
			sd := special.Softplus(x)
			return sd * sd
		})
	}, true
}
