package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// SenseBack goes through time again: first what all times share through the weights, then
// step by step from the inputs on. The gradients by the moments of slots begin
// r.grads, to which Backward adds.
func (r *recurrentRunner[T]) SenseBack(s *Sense[T]) {
	f := r.followed
	clear(r.grads.mean)
	clear(r.grads.vari)
	r.input.conv.SenseBack(r.ofInput(s))
	for i := range r.state {
		p := &r.state[i]
		p.conv.SenseBack(r.ofMatrix(s, i))
		p.conv.byMeans(r.rows)
		p.injectedBack(r.rows)
	}
	for _, slot := range r.states {
		clear(f.b.at(r.rows, 0, slot, 1).Mean)
	}
	clear(s.BOut)
	width := r.Out().Size()
	for t := range r.shape.W {
		for i := range r.recurrent.steps {
			r.senseStepBack(s, i, t)
		}
		from, ok := r.outputAt(t)
		if ok {
			scatter(s.BOut, r.bySensitivities(at(r.states[0]), t), r.units, from, width)
		}
	}
	for i := range r.state {
		r.state[i].keepSense(s.Rows, s.K)
	}
}

// injectedBack computes the gradients by the variances that a matrix read.
func (p *projectionRunner[T]) injectedBack(rows int) {
	c := p.conv
	out, in := c.unit.out.Size(), c.unit.shape.Size()
	clear(p.xv)
	for i := range rows {
		p.places.InjectedBack(c.sense, c.dj[i*out:][:out], p.xv[i*in:][:in])
	}
}

// keepSense brings the gradients by the sensitivities to what a matrix read onto the tape.
func (p *projectionRunner[T]) keepSense(rows, k int) {
	c := p.conv
	in := c.unit.shape.Size()
	for i := range rows * k {
		tape := c.tapeOf(&p.pass, i/k)
		p.places.KeepSense(p.places.Followed(tape, i%k).B, p.bin[i*in:][:in])
	}
}

// bySensitivities are the gradients by the sensitivities to an operand of step t.
func (r *recurrentRunner[T]) bySensitivities(o operand, t int) []T {
	level := t + 1
	if o.before {
		level--
	}
	return r.followed.b.at(r.rows, level, o.slot, 1).Mean
}

func (r *recurrentRunner[T]) senseStepBack(s *Sense[T], i, t int) {
	step := &r.recurrent.steps[i]
	switch step.kind {
	case stepMultiply:
		r.senseMultiplyBack(step, t, s.Rows*s.K)
	case stepTake:
		width := r.shape.W * r.recurrent.gates * r.units
		gather(r.bySensitivities(at(step.to), t), r.followed.byGates, r.units, r.gateAt(t, step.input), width)
	case stepApply:
		for j := range step.n {
			r.senseApplyBack(s, i, j, t)
		}
	case stepProducts:
		r.senseProductsBack(s, step, t)
	case stepMix:
		r.senseMixBack(s, step, t)
	}
}

func (r *recurrentRunner[T]) senseMultiplyBack(s *recurrentStep, t, rows int) {
	f, p := r.followed, &r.state[s.matrix]
	width, units := s.n*r.units, r.units
	times := r.shape.W
	y := f.step[:rows*width]
	gather(y, p.b, width, r.place(t)*width, times*width)
	b := r.bySensitivities(s.from, t)
	if !s.from.before || t > 0 {
		more := f.more[:len(y)]
		p.step.SenseForward(rows, b, more)
		kernel.Add(y, more)
	}
	scatter(p.bin, b, units, r.place(t)*units, times*units)
	for g := range s.n {
		to := r.bySensitivities(at(s.to+g), t)
		gather(to, y, units, g*units, width)
		if g < s.joined {
			gatherOnto(to, f.byGates, units, r.gateAt(t, s.input+g), times*r.recurrent.gates*units)
		}
	}
	d := r.gradient(s.from, t, 1)
	gatherOnto(d.Mean, p.conv.xm, units, r.place(t)*units, times*units)
	gatherOnto(d.Var, p.xv, units, r.place(t)*units, times*units)
}

// passOnBack is the reverse of passOn: it adds to b, the gradients by the sensitivities to a
// step, and to bySlope.
func (r *recurrentRunner[T]) passOnBack(to operand, a, b, slope, bySlope []T, t int) {
	from := r.bySensitivities(to, t)
	u := r.units
	for at := 0; at < len(a); at += u {
		row := at / (r.k * u) * u
		kernel.MulAdd(b[at:at+u], from[at:at+u], slope[row:row+u])
		kernel.MulAdd(bySlope[row:row+u], from[at:at+u], a[at:at+u])
	}
}

func (r *recurrentRunner[T]) senseApplyBack(s *Sense[T], i, j, t int) {
	step := &r.recurrent.steps[i]
	f, a := r.followed, &r.applied[i]
	size := r.rows * r.units
	lo := (t*step.n + j) * size
	hi := lo + size
	from, to := at(step.from.slot+j), at(step.to+j)
	b := r.bySensitivities(to, t)
	clear(b)
	bySlope, byAdded := f.bySlope[:size], f.byAdded[:size]
	clear(bySlope)
	r.passOnBack(from, r.sensitivities(to, t, 1), b, a.slope[lo:hi], bySlope, t)
	q := r.ofStep(s, to, t)
	q.BOut = b
	q.AddVariancesBack(a.e[lo:hi], byAdded, r.units)
	x, d := r.read(from, t, 1), r.gradient(from, t, 1)
	room := f.variance[:size]
	slope := kernel.Slope[T]{G: a.slope[lo:hi], GM: a.slopeM[lo:hi], GV: a.slopeV[lo:hi], VM: a.jac.VM[lo:hi], VV: a.jac.VV[lo:hi]}
	kernel.RestBack(bySlope, room, byAdded, x.Var, &slope)
	kernel.Add(d.Mean, bySlope)
	kernel.Add(d.Var, room)
}

func (r *recurrentRunner[T]) senseProductsBack(s *Sense[T], step *recurrentStep, t int) {
	a, b := r.sensitivities(at(step.to), t, 1), r.bySensitivities(at(step.to), t)
	clear(b)
	for _, term := range step.terms {
		x, y := r.read(term.x, t, 1), r.read(term.y, t, 1)
		r.passOnBack(term.x, a, b, y.Mean, r.gradient(term.y, t, 1).Mean, t)
		r.passOnBack(term.y, a, b, x.Mean, r.gradient(term.x, t, 1).Mean, t)
	}
	if step.adds {
		kernel.Add(b, r.bySensitivities(step.add, t))
	}
	r.addedByProducts(step, t)
	byAdded := r.addedBack(s, step, t, b)
	for _, term := range step.terms {
		x, y := r.read(term.x, t, 1), r.read(term.y, t, 1)
		kernel.MulAdd(r.gradient(term.x, t, 1).Var, byAdded, y.Var)
		kernel.MulAdd(r.gradient(term.y, t, 1).Var, byAdded, x.Var)
	}
}

// addedBack returns the gradient by the variance that a step adds.
func (r *recurrentRunner[T]) addedBack(s *Sense[T], step *recurrentStep, t int, b []T) []T {
	f := r.followed
	q := r.ofStep(s, at(step.to), t)
	q.BOut = b
	byAdded := f.byAdded[:r.rows*r.units]
	q.AddVariancesBack(f.variance, byAdded, r.units)
	return byAdded
}

func (r *recurrentRunner[T]) senseMixBack(s *Sense[T], step *recurrentStep, t int) {
	f := r.followed
	a, b := r.sensitivities(at(step.to), t, 1), r.bySensitivities(at(step.to), t)
	clear(b)
	z, x, y := r.mixed(step, t)
	of := [3]operand{step.terms[0].x, step.terms[0].y, step.terms[1].y}
	var d [3]gauss.Batch[T]
	for i := range d {
		d[i] = r.gradient(of[i], t, 1)
	}
	n := len(z.Mean)
	g, by := f.slope[:n], f.bySlope[:n]
	for i := range g {
		g[i] = x.Mean[i] - y.Mean[i]
	}
	clear(by)
	r.passOnBack(of[0], a, b, g, by, t)
	for i, h := range by {
		d[1].Mean[i] += h
		d[2].Mean[i] -= h
	}
	r.passOnBack(of[1], a, b, z.Mean, d[0].Mean, t)
	for i, m := range z.Mean {
		g[i] = 1 - m
	}
	clear(by)
	r.passOnBack(of[2], a, b, g, by, t)
	for i, h := range by {
		d[0].Mean[i] -= h
	}
	r.addedByMix(step, t)
	for i, h := range r.addedBack(s, step, t, b) {
		d[0].Var[i] += T(h * (x.Var[i] + y.Var[i]))
		d[1].Var[i] += T(h * z.Var[i])
		d[2].Var[i] += T(h * z.Var[i])
	}
}
