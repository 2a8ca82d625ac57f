package export

import "utvi/moment"

// done adds what is computed to the tape. back gets the sensitivities to y.
func (u *unrolled) done(y *slot, back func(s *sensed, a value)) *slot {
	if y.variance != "" && u.sense {
		u.tape = append(u.tape, func(s *sensed) {
			if len(y.senses) > 0 {
				back(s, u.total(y.senses))
			}
		})
	}
	return y
}

// pass gives sensitivities to what was read, unless these are numbers.
func (x *slot) pass(a value) {
	if x.variance != "" {
		x.senses = append(x.senses, a)
	}
}

// sumOf adds variances, of which some may be none.
func (u *unrolled) sumOf(variances ...value) value {
	var some []value
	for _, v := range variances {
		if v != "" {
			some = append(some, v)
		}
	}
	if len(some) == 0 {
		return ""
	}
	return u.total(some)
}

// scaled is v·by, if there is a v.
func (u *unrolled) scaled(v, by value) value {
	if v == "" {
		return ""
	}
	return u.mul(v, by)
}

// times multiplies a slot with weights, and returns the gates.
func (u *unrolled) times(x *slot, p *projected) []*slot {
	gemm := func(x, by, plus value) value {
		if plus == "" {
			return u.matmul(x, by)
		}
		return u.Op("Gemm", []value{x, by, plus})
	}
	m, v, j := u.product(p.weights, x.mean, x.variance, u.sense, gemm)
	var gates []*slot
	for g := range p.out / u.layer.units {
		lo := g * u.layer.units
		y := &slot{mean: u.slice(m, 1, lo, lo+u.layer.units, 1)}
		if v != "" {
			y.variance = u.slice(v, 1, lo, lo+u.layer.units, 1)
		}
		gates = append(gates, y)
	}
	if v == "" || !u.sense {
		return gates
	}
	k := len(p.uses)
	p.uses = append(p.uses, use{x, gates, j})
	u.tape = append(u.tape, func(s *sensed) {
		a := u.sensesOf(gates)
		if p.uses[k].inner != "" {
			s.inject(a, u.unsqueeze(p.uses[k].inner, 1))
		}
		x.pass(u.matmul(a, u.transpose(p.mean, 1, 0)))
	})
	return gates
}

// sensesOf are the sensitivities to all gates, side by side; a gate that nobody reads has none.
func (u *unrolled) sensesOf(gates []*slot) value {
	var all []value
	for _, g := range gates {
		all = append(all, u.total(g.senses))
	}
	return u.concat(2, all...)
}

// plus2 adds two slots.
func (u *unrolled) plus2(x, y *slot) *slot {
	out := &slot{mean: u.add(x.mean, y.mean), variance: u.sumOf(x.variance, y.variance)}
	return u.done(out, func(_ *sensed, a value) {
		x.pass(a)
		y.pass(a)
	})
}

// through is a function of a slot.
func (u *unrolled) through(f *function, rule moment.Rule, x *slot) *slot {
	if x.variance == "" {
		return &slot{mean: f.at(x.mean)}
	}
	y, err := f.push(rule, 0, x.mean, x.variance, 2)
	if err != nil {
		u.wrong = err
		return x
	}
	return u.done(&slot{mean: y.mean, variance: y.variance}, func(s *sensed, a value) {
		g := y.slope()
		e := u.max(u.sub(y.variance, u.mul(u.square(g), x.variance)), u.Float(0))
		s.inject(a, u.unsqueeze(e, 1))
		x.pass(u.mul(a, u.unsqueeze(g, 1)))
	})
}

// products is a sum of products of independent factors.
func (u *unrolled) products(terms ...[2]*slot) *slot {
	var means, variances, beyond []value
	for _, t := range terms {
		x, y := t[0], t[1]
		both := ""
		if x.variance != "" && y.variance != "" {
			both = u.mul(x.variance, y.variance)
			beyond = append(beyond, both)
		}
		means = append(means, u.mul(x.mean, y.mean))
		variances = append(variances, u.scaled(x.variance, u.square(y.mean)), both, u.scaled(y.variance, u.square(x.mean)))
	}
	return u.done(&slot{mean: u.total(means), variance: u.sumOf(variances...)}, func(s *sensed, a value) {
		if len(beyond) > 0 {
			s.inject(a, u.unsqueeze(u.total(beyond), 1))
		}
		for _, t := range terms {
			t[0].pass(u.mul(a, u.unsqueeze(t[1].mean, 1)))
			t[1].pass(u.mul(a, u.unsqueeze(t[0].mean, 1)))
		}
	})
}

// mix is z∘x + (1−z)∘y of independent z, x and y.
func (u *unrolled) mix(z, x, y *slot) *slot {
	d := u.sub(x.mean, y.mean)
	rest := u.from(1, z.mean)
	beyond := u.sumOf(x.variance, y.variance)
	if z.variance == "" {
		beyond = ""
	}
	beyond = u.scaled(beyond, z.variance)
	variance := u.sumOf(u.scaled(x.variance, u.square(z.mean)), u.scaled(y.variance, u.square(rest)), u.scaled(z.variance, u.square(d)), beyond)
	out := &slot{mean: u.add(y.mean, u.mul(z.mean, d)), variance: variance}
	return u.done(out, func(s *sensed, a value) {
		if beyond != "" {
			s.inject(a, u.unsqueeze(beyond, 1))
		}
		z.pass(u.mul(a, u.unsqueeze(d, 1)))
		x.pass(u.mul(a, u.unsqueeze(z.mean, 1)))
		y.pass(u.mul(a, u.unsqueeze(rest, 1)))
	})
}
