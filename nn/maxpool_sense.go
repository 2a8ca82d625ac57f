package nn

import "utvi/gauss"

// Follow implements Sensitive.
func (u *maxPool[T]) Follow(k int) { u.k = k }

// maxPoolSenser is a maximum that carries correlations. Each fold s' = max(s, x) is a
// layer of its own: by Stein's lemma its slopes are p = ∂m/∂m₁ and q = ∂m/∂m₂ = 1 − p,
// the chances of s and x to be the larger, and it adds e = v' − p²v₁ − q²v₂. With
// D = m₁ − m₂ and θ² = v₁ + v₂,
//
//	∂p/∂m₁ = −∂p/∂m₂ = 2·∂m/∂v        ∂p/∂v₁ = ∂p/∂v₂ = −∂m/∂v·D/θ²
type maxPoolSenser[T gauss.Float] struct {
	*maxPoolRunner[T]
	e, de []T // by row, cell and output, as the folds; of the block Forward saw last
	x     []extra[T]
	a     [][]T    // sensitivities of one row to the maximum after each cell
	b     [2][]T   // their gradients
	part  Sense[T] // one fold of one row
}

// extra is what Backward adds to the gradients by a fold's two means and variances;
// that by m₂ is −m.
type extra[T gauss.Float] struct{ m, v1, v2 T }

func newMaxPoolSenser[T gauss.Float](r *maxPoolRunner[T], train bool) *maxPoolSenser[T] {
	n := r.out.Size()
	s := &maxPoolSenser[T]{maxPoolRunner: r, e: make([]T, len(r.folds)), a: make([][]T, r.cells)}
	for k := range s.a {
		s.a[k] = make([]T, r.k*n)
	}
	if train {
		s.de, s.x = make([]T, n), make([]extra[T], len(r.folds))
		s.b[0], s.b[1] = make([]T, r.k*n), make([]T, r.k*n)
	}
	return s
}

// of is where the fold of cell k ≥ 1 of a row lies.
func (r *maxPoolRunner[T]) of(row, k int) int { return (row*(r.cells-1) + k - 1) * r.out.Size() }

func (r *maxPoolSenser[T]) Forward(p *Pass[T]) {
	r.maxPoolRunner.Forward(p)
	n := r.out.Size()
	for row := range p.In.Rows {
		in := p.In.Slice(row, row+1)
		r.pick(r.last, in, 0)
		for k := 1; k < r.cells; k++ {
			r.pick(r.next, in, k)
			at := r.of(row, k)
			e := r.e[at:][:n]
			for o := range e {
				f := &r.folds[at+o]
				e[o] = max(0, f.v-T(T(f.mm1*f.mm1)*r.last.Var[o])-T(T(f.mm2*f.mm2)*r.next.Var[o])) // below 0 by rounding alone
				r.last.Var[o] = f.v
			}
		}
	}
}

func (r *maxPoolSenser[T]) Sense(s *Sense[T]) {
	for row := range s.Rows {
		in := r.begin(s, row, s.In)
		clear(in)
		for k := r.cells - 1; k > 0; k-- {
			r.step(s, row, k)
			r.part.AddVariances(r.e[r.of(row, k):], r.out.Size())
			folds := r.folds[r.of(row, k):]
			r.each(k, func(cell, at, o int) {
				if cell >= 0 {
					in[cell] += folds[o].mm2 * r.a[k][at]
				}
			})
		}
		r.each(0, func(cell, at, _ int) { in[cell] += r.a[0][at] })
	}
}

// begin takes the sensitivities of a row to the maximum after the last cell, and
// returns the row's part of what lies at the inputs.
func (r *maxPoolSenser[T]) begin(s *Sense[T], row int, in []T) []T {
	n, k := s.K*r.out.Size(), s.K
	copy(r.a[r.cells-1], s.Out[row*n:][:n])
	r.part = Sense[T]{Rows: 1, K: k, Cov: s.Cov[row*k*k:][:k*k], Diagonal: s.Diagonal}
	size := s.K * r.window.H * r.window.W * r.window.C
	return in[row*size:][:size]
}

// step prepares the fold of cell k, and writes the sensitivities to the maximum before
// it.
func (r *maxPoolSenser[T]) step(s *Sense[T], row, k int) {
	n := r.out.Size()
	r.part.Out = r.a[k]
	for i := range s.K {
		a, before := r.a[k][i*n:][:n], r.a[k-1][i*n:][:n]
		for o, f := range r.folds[r.of(row, k):][:n] {
			before[o] = f.mm1 * a[o]
		}
	}
}

// each calls f for each followed quantity and output o, with the places of the output's
// cell k among the inputs, −1 if the window has no such cell, and of its sensitivity.
func (r *maxPoolSenser[T]) each(k int, f func(cell, at, o int)) {
	n := r.out.Size()
	c := r.out.C
	size := r.window.H * r.window.W * r.window.C
	for i := range r.k {
		for o := range n {
			cell := r.index[o/c*r.cells+k]
			if cell >= 0 {
				cell += i*size + o%c
			}
			f(cell, i*n+o, o)
		}
	}
}

// SenseBack goes through the folds as Forward does, the first cell first.
func (r *maxPoolSenser[T]) SenseBack(s *Sense[T]) {
	n := r.out.Size()
	for row := range s.Rows {
		bin := r.begin(s, row, s.BIn)
		for k := r.cells - 1; k > 0; k-- {
			r.step(s, row, k)
		}
		r.part.DCov = s.DCov[row*s.K*s.K:][:s.K*s.K]
		before, b := r.b[0], r.b[1]
		r.each(0, func(cell, at, _ int) { before[at] = bin[cell] })
		in := s.Pass.In.Slice(row, row+1)
		r.pick(r.last, in, 0)
		for k := 1; k < r.cells; k++ {
			r.pick(r.next, in, k)
			at := r.of(row, k)
			folds, x := r.folds[at:][:n], r.x[at:][:n]
			for o := range x {
				x[o].m = 0 // ∂p for now
			}
			a := r.a[k]
			r.each(k, func(cell, at, o int) {
				if cell < 0 {
					b[at] = before[at]
					return
				}
				f := &folds[o]
				b[at] = T(f.mm1*before[at]) + T(f.mm2*bin[cell])
				x[o].m += a[at] * (before[at] - bin[cell])
			})
			r.part.Out, r.part.BOut = a, b
			r.part.AddVariancesBack(r.e[at:], r.de, n)
			for o := range x {
				x[o] = r.gradients(&folds[o], o, x[o].m, r.de[o])
				r.last.Mean[o], r.last.Var[o] = folds[o].m, folds[o].v
			}
			before, b = b, before
		}
		copy(s.BOut[row*len(before):], before)
	}
}

// gradients turns the gradients by p and e of the fold of output o, between last and next,
// into those by its moments.
func (r *maxPoolSenser[T]) gradients(f *larger[T], o int, dp, de T) extra[T] {
	v1, v2 := r.last.Var[o], r.next.Var[o]
	dp += 2 * de * (T(f.mm2*v2) - T(f.mm1*v1))
	var far T // D/θ²
	if s := v1 + v2; s > 0 {
		far = (r.last.Mean[o] - r.next.Mean[o]) / s
	}
	by := T(dp * (-f.mv * far)) // dp·∂p/∂v
	if by-by != 0 {
		by = T(-T(dp*f.mv) * far) // θ² is so small that ∂p/∂v overflows
	}
	return extra[T]{
		m:  2*T(dp*f.mv) + T(de*f.vm),
		v1: by + de*(f.vv1-T(f.mm1*f.mm1)),
		v2: by + de*(f.vv2-T(f.mm2*f.mm2)),
	}
}

func (r *maxPoolSenser[T]) Backward(p *Pass[T]) { r.unwind(p, r.x) }
