package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
)

// first is the first rows of a batch.
func first[T gauss.Float](b gauss.Batch[T], rows int) gauss.Batch[T] {
	b.Rows = rows
	b.Mean = b.Mean[:rows*b.Width]
	if b.Var != nil {
		b.Var = b.Var[:rows*b.Width]
	}
	return b
}

// ofWidth is room for what a matrix makes of a slot.
func (r *recurrentRunner[T]) ofWidth(width int) gauss.Batch[T] {
	b := r.step
	b.Width = width
	return first(b, r.rows)
}

// tapes hands each projection its part of the tape.
func (r *recurrentRunner[T]) tapes(tape []T) {
	if !r.train {
		return
	}
	for i := range len(r.state) + 1 {
		p := r.projection(i)
		n := r.rows * p.tapeWidth()
		p.tape, tape = tape[:n], tape[n:]
	}
}

func (r *recurrentRunner[T]) Forward(p *Pass[T]) {
	r.rows = p.In.Rows
	r.tapes(p.Tape)
	q := &r.pass
	q.Seed = p.Seed
	q.Step = p.Step
	q.Row = p.Row
	q.Tape = r.input.tape
	q.In = r.input.virtual(p.In)
	q.Out = r.input.virtual(first(r.gates, r.rows))
	r.input.runner.Forward(q)
	r.begin()
	for t := range r.shape.W {
		for i := range r.steps {
			r.forward(i, t)
		}
		r.write(p.Out, t)
	}
	r.recordInputs()
}

// begin writes the start to level 0.
func (r *recurrentRunner[T]) begin() {
	for i, slot := range r.states {
		b := r.values.at(r.rows, 0, slot, 1)
		clear(b.Mean)
		clear(b.Var)
		for row := 0; r.start != nil && row < r.rows; row++ {
			compute.Convert(b.Mean[row*r.units:][:r.units], r.start[i*r.units:])
		}
	}
}

// read is an operand of step t.
func (r *recurrentRunner[T]) read(o operand, t, n int) gauss.Batch[T] {
	level := t + 1
	if o.before {
		level--
	}
	return r.values.at(r.rows, level, o.slot, n)
}

func (r *recurrentRunner[T]) forward(i, t int) {
	s := &r.recurrent.steps[i]
	switch s.kind {
	case stepMultiply:
		r.multiply(s, t)
	case stepTake:
		r.take(s, t)
	case stepApply:
		r.apply(i, t)
	case stepProducts:
		r.products(s, t)
	case stepMix:
		r.mix(s, t)
	}
}

// write copies the state behind step t to the outputs.
func (r *recurrentRunner[T]) write(out gauss.Batch[T], t int) {
	from, ok := r.outputAt(t)
	if !ok {
		return
	}
	h := r.read(at(r.states[0]), t, 1)
	scatter(out.Mean, h.Mean, r.units, from, out.Width)
	scatter(out.Var, h.Var, r.units, from, out.Width)
}

// outputAt is where in a row of the outputs those of step t begin; with Last, only the last
// step has any.
func (r *recurrentRunner[T]) outputAt(t int) (from int, ok bool) {
	if r.last {
		return 0, t == r.shape.W-1
	}
	return r.place(t) * r.units, true
}

// scatter copies rows of n values to columns from, … of a matrix; gather copies them back, and
// gatherOnto adds them.
func scatter[T gauss.Float](matrix, rows []T, n, from, width int) {
	for i, at := 0, from; i < len(rows); i, at = i+n, at+width {
		copy(matrix[at:at+n], rows[i:i+n])
	}
}

func gather[T gauss.Float](rows, matrix []T, n, from, width int) {
	for i, at := 0, from; i < len(rows); i, at = i+n, at+width {
		copy(rows[i:i+n], matrix[at:at+n])
	}
}

func gatherOnto[T gauss.Float](rows, matrix []T, n, from, width int) {
	for i, at := 0, from; i < len(rows); i, at = i+n, at+width {
		kernel.Add(rows[i:i+n], matrix[at:at+n])
	}
}

// multiply computes gates from a slot and, for those that are joined, from the input.
func (r *recurrentRunner[T]) multiply(s *recurrentStep, t int) {
	p := &r.state[s.matrix]
	x := r.read(s.from, t, 1)
	width := s.n * r.units
	y := r.ofWidth(width)
	p.forwardStep(x, y)
	if p.in.Mean != nil {
		scatter(p.in.Mean, x.Mean, r.units, r.place(t)*r.units, p.in.Width)
		scatter(p.in.Var, x.Var, r.units, r.place(t)*r.units, p.in.Width)
	}
	r.joinInput(s, y, t)
	for g := range s.n {
		z := r.read(at(s.to+g), t, 1)
		gather(z.Mean, y.Mean, r.units, g*r.units, width)
		gather(z.Var, y.Var, r.units, g*r.units, width)
	}
}

// joinInput adds the input's gates, which lie side by side as those of y do.
func (r *recurrentRunner[T]) joinInput(s *recurrentStep, y gauss.Batch[T], t int) {
	n, from := s.joined*r.units, r.gateAt(t, s.input)
	if n == 0 {
		return
	}
	for row := range y.Rows {
		at, own := row*r.gates.Width+from, row*y.Width
		kernel.Add(y.Mean[own:own+n], r.gates.Mean[at:at+n])
		if y.Var != nil {
			kernel.Add(y.Var[own:own+n], r.gates.Var[at:at+n])
		}
	}
}

// gateAt is where in a row of the input's gates one of step t begins.
func (r *recurrentRunner[T]) gateAt(t, gate int) int {
	return (r.place(t)*r.recurrent.gates + gate) * r.units
}

// forwardStep computes the moments of one time.
func (p *projectionRunner[T]) forwardStep(x, y gauss.Batch[T]) {
	if p.dense != nil {
		p.dense.dense.Forward(x.Rows, x.Mean, x.Var, y.Mean, y.Var, p.scratch)
		return
	}
	p.step.ForwardApart(x.Rows, x.Mean, x.Var, y.Mean, y.Var, p.injected[:len(y.Mean)], p.scratch)
}

func (r *recurrentRunner[T]) take(s *recurrentStep, t int) {
	z := r.read(at(s.to), t, 1)
	from := r.gateAt(t, s.input)
	gather(z.Mean, r.gates.Mean, r.units, from, r.gates.Width)
	gather(z.Var, r.gates.Var, r.units, from, r.gates.Width)
}

// products computes the sum of products of independent factors, term by term
//
//	mean  m m'        variance  (m'² + v')v + m²v'
func (r *recurrentRunner[T]) products(s *recurrentStep, t int) {
	z := r.read(at(s.to), t, 1)
	room := r.room[0][:len(z.Mean)]
	for i, term := range s.terms {
		x, y := r.read(term.x, t, 1), r.read(term.y, t, 1)
		if i == 0 {
			kernel.MulTo(z.Mean, x.Mean, y.Mean)
		} else {
			kernel.MulAdd(z.Mean, x.Mean, y.Mean)
		}
		if z.Var == nil {
			continue
		}
		kernel.Square(room, y.Mean)
		kernel.Add(room, y.Var)
		if i == 0 {
			kernel.MulTo(z.Var, room, x.Var)
		} else {
			kernel.MulAdd(z.Var, room, x.Var)
		}
		kernel.Square(room, x.Mean)
		kernel.MulAdd(z.Var, room, y.Var)
	}
	if s.adds {
		a := r.read(s.add, t, 1)
		kernel.Add(z.Mean, a.Mean)
		kernel.Add(z.Var, a.Var)
	}
}

// mix computes z∘x + (1−z)∘y of independent z, x and y:
//
//	mean  m_y + m_z(m_x − m_y)
//	variance  m_z²v_x + (1−m_z)²v_y + v_z((m_x − m_y)² + v_x + v_y)
func (r *recurrentRunner[T]) mix(s *recurrentStep, t int) {
	out := r.read(at(s.to), t, 1)
	z, x, y := r.mixed(s, t)
	for i, m := range z.Mean {
		d := x.Mean[i] - y.Mean[i]
		out.Mean[i] = y.Mean[i] + T(m*d)
		if z.Var == nil {
			continue
		}
		rest := 1 - m
		v := T(T(m*m)*x.Var[i]) + T(T(rest*rest)*y.Var[i])
		out.Var[i] = v + T(z.Var[i]*(T(d*d)+x.Var[i]+y.Var[i]))
	}
}

// mixed are the operands of a mix.
func (r *recurrentRunner[T]) mixed(s *recurrentStep, t int) (z, x, y gauss.Batch[T]) {
	z = r.read(s.terms[0].x, t, 1)
	x = r.read(s.terms[0].y, t, 1)
	y = r.read(s.terms[1].y, t, 1)
	return z, x, y
}

// recordInputs brings what the matrices multiplied onto the tapes.
func (r *recurrentRunner[T]) recordInputs() {
	for i := range r.state {
		p := &r.state[i]
		if p.in.Mean == nil {
			continue
		}
		in := first(p.in, r.rows)
		if p.dense == nil {
			p.keepApart(in)
			continue
		}
		p.dense.dense.RecordInput(p.tape, r.rows*p.times, in.Mean, in.Var)
	}
}
