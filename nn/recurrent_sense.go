package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// This file and recurrent_sense_back.go carry correlations through time. A cell is a short list of
// steps, each linear in the sensitivities; what a step adds itself, the rest of a
// function beyond its slope and that of a product, v v', is independent of all others. Sensitivities go back through
// the steps and through time; at the end those by all gates of all times meet in the
// weights, which are drawn once.

// followed is what a runner needs to carry correlations. A series here holds, for each slot,
// rows × k × units.
type followed[T gauss.Float] struct {
	a, b      series[T] // sensitivities, and the gradients by those, of which two levels are kept
	gates     []T       // sensitivities to the input's gates: rows × k × times·gates·units
	byGates   []T       // the gradients by those
	step      []T       // what a matrix passes on: rows × k × gates·units
	more      []T       // the same
	back      []T       // rows × k × units
	variance  []T       // that a step adds: rows × units
	byAdded   []T       // the gradient by it
	slope     []T       // of a step
	bySlope   []T       // the gradient by it
	own, part Sense[T]  // of a step, of a projection
}

// sensed is what a projection needs to carry correlations.
type sensed[T gauss.Float] struct {
	a, b []T // sensitivities to what the matrix makes, and the gradients by them: rows × k × times·gates·units
	bin  []T // gradients by the sensitivities to what it reads: rows × k × times·units
	xv   []T // gradients by the variances of what it reads, that Backward adds: rows × times·units
}

// Follow implements Sensitive.
func (u *recurrent[T]) Follow(k int) {
	if !u.sense {
		return
	}
	u.k = k
	u.input.conv.Follow(k)
	for i := range u.state {
		u.state[i].conv.Follow(k)
	}
}

func newFollowed[T gauss.Float](r *recurrentRunner[T], maxRows int) *followed[T] {
	u, times := r.recurrent, r.shape.W
	n := maxRows * u.k
	f := &followed[T]{
		a:     newSeries[T](times+1, u.slots, maxRows, u.k*u.units, false),
		b:     newSeries[T](2, u.slots, maxRows, u.k*u.units, false),
		gates: make([]T, n*times*u.recurrentCell.gates*u.units), byGates: make([]T, n*times*u.recurrentCell.gates*u.units),
		back: make([]T, n*u.units), variance: make([]T, maxRows*u.units), byAdded: make([]T, maxRows*u.units),
		slope: make([]T, maxRows*u.units), bySlope: make([]T, maxRows*u.units),
	}
	widest := 0
	for i := range r.state {
		p := &r.state[i]
		width := u.matrices[i].gates * u.units
		widest = max(widest, width)
		p.a = make([]T, n*times*width)
		p.b = make([]T, n*times*width)
		p.bin = make([]T, n*times*u.units)
		p.xv = make([]T, maxRows*times*u.units)
	}
	f.step = make([]T, n*widest)
	f.more = make([]T, n*widest)
	return f
}

// keepApart brings what a matrix multiplied at all times onto the tape.
func (p *projectionRunner[T]) keepApart(in gauss.Batch[T]) {
	c := p.conv
	p.pass.Tape = p.tape
	p.pass.In = in
	width := c.unit.out.Size()
	for i := range in.Rows {
		row := in.Slice(i, i+1)
		p.places.KeepApart(c.tapeOf(&p.pass, i), row.Mean, row.Var, c.j[i*width:][:width])
	}
}

// sensitivities are those to an operand of step t.
func (r *recurrentRunner[T]) sensitivities(o operand, t, n int) []T {
	level := t + 1
	if o.before {
		level--
	}
	return r.followed.a.at(r.rows, level, o.slot, n).Mean
}

// Sense goes back through time.
func (r *recurrentRunner[T]) Sense(s *Sense[T]) {
	f := r.followed
	clear(f.a.mean)
	width := r.Out().Size()
	for t := r.shape.W - 1; t >= 0; t-- {
		from, ok := r.outputAt(t)
		if ok {
			gatherOnto(r.sensitivities(at(r.states[0]), t, 1), s.Out, r.units, from, width)
		}
		for i := len(r.recurrent.steps) - 1; i >= 0; i-- {
			r.senseStep(s, i, t)
		}
	}
	r.input.conv.Sense(r.ofInput(s))
	for i := range r.state {
		r.state[i].conv.Sense(r.ofMatrix(s, i))
	}
}

// ofInput is the sense of the input's projection.
func (r *recurrentRunner[T]) ofInput(s *Sense[T]) *Sense[T] {
	f := r.followed
	n := s.Rows * s.K * r.shape.W * r.recurrent.gates * r.units
	f.part = *s
	f.part.Pass = &r.pass
	f.part.Out = f.gates[:n]
	f.part.BOut = f.byGates[:n]
	return &f.part
}

// ofMatrix is the sense of a matrix, whose sensitivities to what it reads are found step by
// step.
func (r *recurrentRunner[T]) ofMatrix(s *Sense[T], i int) *Sense[T] {
	f, p := r.followed, &r.state[i]
	n := s.Rows * s.K * r.shape.W * r.matrices[i].gates * r.units
	f.part = *s
	f.part.Pass = &p.pass
	f.part.Out = p.a[:n]
	f.part.BOut = p.b[:n]
	f.part.In = nil
	f.part.BIn = nil
	return &f.part
}

// ofStep is the sense of a slot of step t.
func (r *recurrentRunner[T]) ofStep(s *Sense[T], o operand, t int) *Sense[T] {
	q := &r.followed.own
	*q = *s
	q.Out = r.sensitivities(o, t, 1)
	return q
}

func (r *recurrentRunner[T]) senseStep(s *Sense[T], i, t int) {
	step := &r.recurrent.steps[i]
	f := r.followed
	switch step.kind {
	case stepMultiply:
		r.senseMultiply(step, t, s.Rows*s.K)
	case stepTake:
		width := r.shape.W * r.recurrent.gates * r.units
		scatter(f.gates, r.sensitivities(at(step.to), t, 1), r.units, r.gateAt(t, step.input), width)
	case stepApply:
		r.senseApply(s, i, t)
	case stepProducts:
		r.addedByProducts(step, t)
		r.ofStep(s, at(step.to), t).AddVariances(f.variance, r.units)
		a := r.sensitivities(at(step.to), t, 1)
		for _, term := range step.terms {
			r.passOn(term.x, a, r.read(term.y, t, 1).Mean, t)
			r.passOn(term.y, a, r.read(term.x, t, 1).Mean, t)
		}
		if step.adds {
			kernel.Add(r.sensitivities(step.add, t, 1), a)
		}
	case stepMix:
		r.senseMix(s, step, t)
	}
}

// passOn adds to the sensitivities to an operand those to a step, times the slopes.
func (r *recurrentRunner[T]) passOn(to operand, a, slope []T, t int) {
	dst := r.sensitivities(to, t, 1)
	for at := 0; at < len(a); at += r.units {
		row := at / (r.k * r.units)
		kernel.MulAdd(dst[at:at+r.units], a[at:at+r.units], slope[row*r.units:][:r.units])
	}
}

func (r *recurrentRunner[T]) senseMultiply(s *recurrentStep, t, rows int) {
	f, p := r.followed, &r.state[s.matrix]
	width, units := s.n*r.units, r.units
	times := r.shape.W
	y := f.step[:rows*width]
	for g := range s.n {
		a := r.sensitivities(at(s.to+g), t, 1)
		scatter(y, a, units, g*units, width)
		if g < s.joined {
			scatter(f.gates, a, units, r.gateAt(t, s.input+g), times*r.recurrent.gates*units)
		}
	}
	scatter(p.a, y, width, r.place(t)*width, times*width)
	if s.from.before && t == 0 {
		return
	}
	x := f.back[:rows*units]
	p.step.SenseBack(rows, y, x)
	kernel.Add(r.sensitivities(s.from, t, 1), x)
}

func (r *recurrentRunner[T]) senseApply(s *Sense[T], i, t int) {
	step := &r.recurrent.steps[i]
	a := &r.applied[i]
	size := r.rows * r.units
	for j := range step.n {
		from := (t*step.n + j) * size
		to := at(step.to + j)
		r.ofStep(s, to, t).AddVariances(a.e[from:from+size], r.units)
		r.passOn(at(step.from.slot+j), r.sensitivities(to, t, 1), a.slope[from:from+size], t)
	}
}

// addedByProducts writes the variance beyond the slopes of products, Σ v v'.
func (r *recurrentRunner[T]) addedByProducts(s *recurrentStep, t int) {
	e := r.followed.variance[:r.rows*r.units]
	clear(e)
	for _, term := range s.terms {
		kernel.MulAdd(e, r.read(term.x, t, 1).Var, r.read(term.y, t, 1).Var)
	}
}

// senseMix has the slopes m_x − m_y, m_z and 1 − m_z, beyond which it adds v_z(v_x + v_y).
func (r *recurrentRunner[T]) senseMix(s *Sense[T], step *recurrentStep, t int) {
	f := r.followed
	a := r.sensitivities(at(step.to), t, 1)
	z, x, y := r.mixed(step, t)
	r.addedByMix(step, t)
	r.ofStep(s, at(step.to), t).AddVariances(f.variance, r.units)
	g := f.slope[:len(z.Mean)]
	for i := range g {
		g[i] = x.Mean[i] - y.Mean[i]
	}
	r.passOn(step.terms[0].x, a, g, t)
	r.passOn(step.terms[0].y, a, z.Mean, t)
	for i, m := range z.Mean {
		g[i] = 1 - m
	}
	r.passOn(step.terms[1].y, a, g, t)
}

func (r *recurrentRunner[T]) addedByMix(s *recurrentStep, t int) {
	z, x, y := r.mixed(s, t)
	e := r.followed.variance
	for i, v := range z.Var {
		e[i] = v * (x.Var[i] + y.Var[i])
	}
}
