package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// Backward goes back through time. Gradients by states, which several steps read, are added
// up. Where correlations are carried, so are all: SenseBack has begun them.
func (r *recurrentRunner[T]) Backward(p *Pass[T]) {
	times := r.shape.W
	for _, slot := range r.states {
		if !r.sense {
			r.clearGradient(times, slot)
		}
	}
	for t := times - 1; t >= 0; t-- {
		for _, slot := range r.states {
			if !r.sense {
				r.clearGradient(t, slot)
			}
		}
		from, ok := r.outputAt(t)
		if ok {
			h := r.grads.at(r.rows, t+1, r.states[0], 1)
			gatherOnto(h.Mean, p.DOut.Mean, r.units, from, p.DOut.Width)
			gatherOnto(h.Var, p.DOut.Var, r.units, from, p.DOut.Width)
		}
		for i := len(r.recurrent.steps) - 1; i >= 0; i-- {
			r.backward(i, t)
		}
	}
	for i := range r.state {
		r.state[i].recordGradients(r.rows)
	}
	q := &r.pass
	q.DOut = r.input.virtual(first(r.byGates, r.rows))
	q.DIn = gauss.Batch[T]{}
	if p.DIn.Mean != nil {
		q.DIn = r.input.virtual(p.DIn)
	}
	r.input.runner.Backward(q)
}

func (r *recurrentRunner[T]) clearGradient(level, slot int) {
	b := r.grads.at(r.rows, level, slot, 1)
	clear(b.Mean)
	clear(b.Var)
}

func (r *recurrentRunner[T]) backward(i, t int) {
	s := &r.recurrent.steps[i]
	switch s.kind {
	case stepMultiply:
		r.multiplyBack(s, t)
	case stepTake:
		g := r.gradient(at(s.to), t, 1)
		from := r.gateAt(t, s.input)
		scatter(r.byGates.Mean, g.Mean, r.units, from, r.byGates.Width)
		scatter(r.byGates.Var, g.Var, r.units, from, r.byGates.Width)
	case stepApply:
		r.applyBack(i, t)
	case stepProducts:
		r.productsBack(s, t)
	case stepMix:
		r.mixBack(s, t)
	}
}

// gradient is the gradient by an operand of step t.
func (r *recurrentRunner[T]) gradient(o operand, t, n int) gauss.Batch[T] {
	level := t + 1
	if o.before {
		level--
	}
	return r.grads.at(r.rows, level, o.slot, n)
}

// addsUp reports whether gradients by a slot are added to what is there. Slots with one reader
// are written.
func (r *recurrentRunner[T]) addsUp(slot int) bool {
	if r.sense {
		return true
	}
	for _, s := range r.states {
		if s == slot {
			return true
		}
	}
	return false
}

// multiplyBack takes the gradients by gates to those by the input's gates and by the slot.
func (r *recurrentRunner[T]) multiplyBack(s *recurrentStep, t int) {
	p := &r.state[s.matrix]
	width := s.n * r.units
	g := r.ofWidth(width)
	alike := r.alike()
	for gate := range s.n {
		z := r.gradient(at(s.to+gate), t, 1)
		scatter(g.Mean, z.Mean, r.units, gate*r.units, width)
		scatter(g.Var, z.Var, r.units, gate*r.units, width)
		if gate < s.joined && !alike {
			from := r.gateAt(t, s.input+gate)
			scatter(r.byGates.Mean, z.Mean, r.units, from, r.byGates.Width)
			scatter(r.byGates.Var, z.Var, r.units, from, r.byGates.Width)
		}
	}
	scatter(p.grad.Mean, g.Mean, width, r.place(t)*width, p.grad.Width)
	scatter(p.grad.Var, g.Var, width, r.place(t)*width, p.grad.Width)
	if s.from.before && t == 0 {
		return // nobody asks for the gradient by the start
	}
	x, dx := r.read(s.from, t, 1), r.gradient(s.from, t, 1)
	if !r.addsUp(s.from.slot) {
		p.backwardStep(x, g, dx)
		return
	}
	d := first(r.back, r.rows)
	p.backwardStep(x, g, d)
	kernel.Add(dx.Mean, d.Mean)
	kernel.Add(dx.Var, d.Var)
}

// backwardStep computes the gradients by the moments of one time.
func (p *projectionRunner[T]) backwardStep(x, g, d gauss.Batch[T]) {
	if p.dense != nil {
		p.dense.dense.Backward(x.Rows, x.Mean, g.Mean, g.Var, d.Mean, d.Var, p.scratch)
		return
	}
	p.step.BackwardApart(x.Rows, x.Mean, g.Mean, g.Var, g.Var, d.Mean, d.Var, p.scratch)
}

func (r *recurrentRunner[T]) applyBack(i, t int) {
	s := &r.recurrent.steps[i]
	g, d := r.gradient(at(s.to), t, s.n), r.gradient(s.from, t, s.n)
	a := &r.applied[i]
	n := len(g.Mean)
	lo := t % r.levels * n
	mean, variance := d.Mean, d.Var
	adds := r.addsUp(s.from.slot)
	if adds {
		mean = r.room[0][:n]
		variance = r.room[1][:n]
	}
	if r.form == Fixed {
		kernel.MulTo(mean, g.Mean, a.jac.MM[lo:lo+n])
	} else {
		jac := kernel.Moments[T]{MM: a.jac.MM[lo : lo+n], MV: a.jac.MV[lo : lo+n], VM: a.jac.VM[lo : lo+n], VV: a.jac.VV[lo : lo+n]}
		kernel.VJP(g.Mean, g.Var, jac, mean, variance)
	}
	if adds {
		kernel.Add(d.Mean, mean)
		if d.Var != nil {
			kernel.Add(d.Var, variance)
		}
	}
}

func (r *recurrentRunner[T]) productsBack(s *recurrentStep, t int) {
	g := r.gradient(at(s.to), t, 1)
	for _, term := range s.terms {
		r.factorBack(term.x, term.y, g, t)
		r.factorBack(term.y, term.x, g, t)
	}
	if s.adds {
		d := r.gradient(s.add, t, 1)
		if r.addsUp(s.add.slot) {
			kernel.Add(d.Mean, g.Mean)
			kernel.Add(d.Var, g.Var)
			return
		}
		copy(d.Mean, g.Mean)
		copy(d.Var, g.Var)
	}
}

// factorBack is the gradient by factor x of a product with y:
//
//	∂m = m'g + 2m∘(v'h)        ∂v = (m'² + v')h
func (r *recurrentRunner[T]) factorBack(of, by operand, g gauss.Batch[T], t int) {
	if of.before && t == 0 {
		return
	}
	x, y := r.read(of, t, 1), r.read(by, t, 1)
	d := r.gradient(of, t, 1)
	n := len(g.Mean)
	if !r.addsUp(of.slot) {
		clear(d.Mean)
		clear(d.Var)
	}
	kernel.MulAdd(d.Mean, y.Mean, g.Mean)
	if g.Var == nil {
		return
	}
	a, b := r.room[0][:n], r.room[1][:n]
	kernel.MulTo(a, y.Var, g.Var)
	kernel.AddTwiceMul(d.Mean, x.Mean, a)
	kernel.Add(d.Var, a)
	kernel.Square(b, y.Mean)
	kernel.MulAdd(d.Var, b, g.Var)
}

func (r *recurrentRunner[T]) mixBack(s *recurrentStep, t int) {
	g := r.gradient(at(s.to), t, 1)
	z, x, y := r.mixed(s, t)
	dz := r.gradient(s.terms[0].x, t, 1)
	dx := r.gradient(s.terms[0].y, t, 1)
	dy := r.gradient(s.terms[1].y, t, 1)
	for _, o := range [...]operand{s.terms[0].x, s.terms[1].y} {
		if b := r.gradient(o, t, 1); !r.addsUp(o.slot) {
			clear(b.Mean)
			clear(b.Var)
		}
	}
	for i, m := range z.Mean {
		d, rest := x.Mean[i]-y.Mean[i], 1-m
		gm := g.Mean[i]
		dz.Mean[i] += T(gm * d)
		dx.Mean[i] += T(gm * m)
		dy.Mean[i] += T(gm * rest)
		if z.Var == nil {
			continue
		}
		h, vz := g.Var[i], z.Var[i]
		vx, vy := x.Var[i], y.Var[i]
		dz.Mean[i] += T(2 * h * (T(m*vx) - T(rest*vy)))
		dz.Var[i] += T(h * (T(d*d) + vx + vy))
		dx.Mean[i] += T(2 * h * T(vz*d))
		dy.Mean[i] -= T(2 * h * T(vz*d))
		dx.Var[i] += T(h * (T(m*m) + vz))
		dy.Var[i] += T(h * (T(rest*rest) + vz))
	}
}

// recordGradients brings the gradients by what a matrix made onto its tape.
func (p *projectionRunner[T]) recordGradients(rows int) {
	g := first(p.grad, rows)
	if p.dense != nil {
		p.dense.dense.RecordGradient(p.tape, rows*p.times, g.Mean, g.Var)
		return
	}
	p.pass.DOut = g
	p.conv.Backward(&p.pass)
}
