package nn

import (
	"utvi/gauss"
	"utvi/moment"
)

func (u *conditional[T]) NewRunner(int, bool) Runner[T] {
	n := len(u.Given)
	r := &conditionalRunner[T]{conditional: u, x: newRow(1 + n), dx: newRow(1 + n)}
	// The rule does not matter: this tile only evaluates.
	r.location = moment.NewJointTile(u.Location, moment.JointUTGauss(), n)
	switch {
	case u.cov:
		r.full = newCovRow(shifted(u.Location), u.Rule, 1+n)
		r.joint = r.full.tile.JointTile
	case u.Joint:
		r.joint = moment.NewJointTile(shifted(u.Location), u.Rule, 1+n)
	}
	return r
}

type conditionalRunner[T gauss.Float] struct {
	*conditional[T]
	Weightless[T]
	location *moment.JointTile
	joint    *moment.JointTile // nil without Joint
	full     *covRow           // nil without covariances
	x, dx    row               // target, given …
	y, dy    [2]float64        // location and scale
	out      [2]float64        // moments of the target, or their gradients
}

// pick copies the target and the given units of row i.
func (r *conditionalRunner[T]) pick(b gauss.Batch[T], i int) {
	for k := range r.x.m {
		at := i*b.Width + r.unit(k)
		r.x.m[k] = float64(b.Mean[at])
		if r.Form() != Fixed {
			r.x.v[k] = float64(b.Var[at])
		}
	}
	if r.cov {
		r.full.each(i, b.Width, r.unit, func(at, k int) { r.full.c[k] = float64(b.Cov[at]) })
	}
}

func (r *conditionalRunner[T]) unit(k int) int {
	if k == 0 {
		return r.Target
	}
	return r.Given[k-1]
}

func (r *conditionalRunner[T]) Forward(p *Pass[T]) {
	copy(p.Out.Mean, p.In.Mean)
	copy(p.Out.Var, p.In.Var)
	random := r.Form() != Fixed
	for i := range p.In.Rows {
		r.pick(p.In, i)
		if random && r.joint != nil {
			r.joint.Key, r.joint.Row = p.Seed.Sub(p.Step, r.index), p.Row+uint64(i)
			if r.cov {
				r.full.tile.Push(r.x.m, r.full.c, r.out[:1], r.out[1:])
			} else {
				r.joint.Push(r.x.m, r.x.v, r.out[:1], r.out[1:])
			}
		} else {
			r.location.Fixed(r.x.m[1:], r.y[:], nil, nil)
			r.out[0], r.out[1] = r.y[0]+r.y[1]*r.x.m[0], r.y[1]*r.y[1]*r.x.v[0]
		}
		at := i*p.In.Width + r.Target
		p.Out.Mean[at] = T(r.out[0])
		if random {
			p.Out.Var[at] = T(r.out[1])
		}
	}
}

func (r *conditionalRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	copy(p.DIn.Mean, p.DOut.Mean)
	copy(p.DIn.Var, p.DOut.Var)
	clear(p.DIn.Cov)
	random := r.Form() != Fixed
	for i := range p.In.Rows {
		r.pick(p.In, i)
		at := i*p.In.Width + r.Target
		r.out[0], r.out[1] = float64(p.DOut.Mean[at]), 0
		if random {
			r.out[1] = float64(p.DOut.Var[at])
		}
		if random && r.joint != nil {
			r.joint.Key, r.joint.Row = p.Seed.Sub(p.Step, r.index), p.Row+uint64(i)
			r.pull(p.DIn, i)
		} else {
			r.plain()
		}
		p.DIn.Mean[at] = 0
		if random {
			p.DIn.Var[at] = 0
		}
		for k := range r.dx.m {
			at := i*p.In.Width + r.unit(k)
			p.DIn.Mean[at] += T(r.dx.m[k])
			if random {
				p.DIn.Var[at] += T(r.dx.v[k])
			}
		}
	}
}

// pull writes the gradients of the rule over target and given units.
func (r *conditionalRunner[T]) pull(din gauss.Batch[T], i int) {
	if !r.cov {
		r.joint.Pull(r.x.m, r.x.v, r.out[:1], r.out[1:], r.dx.m, r.dx.v)
		return
	}
	r.full.pull(r.x.m, r.out[:1], r.out[1:], r.dx)
	r.full.each(i, din.Width, r.unit, func(at, k int) { din.Cov[at] = T(r.full.dc[k]) })
}

// plain writes the gradients of l + c·m and c²·v: l and c depend on the means.
func (r *conditionalRunner[T]) plain() {
	g, h := r.out[0], r.out[1]
	m, v := r.x.m[0], r.x.v[0]
	r.location.Fixed(r.x.m[1:], r.y[:], nil, nil)
	c := r.y[1]
	r.dy[0], r.dy[1] = g, g*m+2*c*v*h
	r.location.Fixed(r.x.m[1:], r.y[:], r.dy[:], r.dx.m[1:])
	clear(r.dx.v)
	r.dx.m[0], r.dx.v[0] = c*g, c*c*h
}
