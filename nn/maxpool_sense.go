package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

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
	e, de []T            // by row, cell and output, as the folds; of the block Forward saw last
	kept  gauss.Batch[T] // the maximum after each fold, in training
	x     extra[T]
	a     [][]T    // sensitivities of one row to the maximum after each cell
	b     [2][]T   // their gradients
	cell  []T      // one cell of every window, of one quantity
	dp    []T      // gradients by the p of a fold
	part  Sense[T] // one fold of one row
}

// extra is what Backward adds to the gradients by each fold's two means and variances;
// that by m₂ is −m.
type extra[T gauss.Float] struct{ m, v1, v2 []T }

// addTo adds the part from at on to the gradients by the cell d and the maximum g.
func (x *extra[T]) addTo(d, g gauss.Batch[T], at int) {
	n := len(d.Mean)
	kernel.SubTo(d.Mean, d.Mean, x.m[at:][:n])
	kernel.Add(d.Var, x.v2[at:][:n])
	kernel.Add(g.Mean, x.m[at:][:n])
	kernel.Add(g.Var, x.v1[at:][:n])
}

func newMaxPoolSenser[T gauss.Float](r *maxPoolRunner[T], maxRows int, train bool) *maxPoolSenser[T] {
	n := r.out.Size()
	folds := maxRows * n * (r.cells - 1)
	s := &maxPoolSenser[T]{maxPoolRunner: r, e: make([]T, folds), a: make([][]T, r.cells), cell: make([]T, n)}
	for k := range s.a {
		s.a[k] = make([]T, r.k*n)
	}
	if train {
		s.kept = gauss.New[T](1, folds)
		s.de, s.dp = make([]T, n), make([]T, n)
		s.x = extra[T]{make([]T, folds), make([]T, folds), make([]T, folds)}
		s.b[0], s.b[1] = make([]T, r.k*n), make([]T, r.k*n)
	}
	return s
}

func (r *maxPoolSenser[T]) Forward(p *Pass[T]) {
	n := r.out.Size()
	for i := range p.In.Rows {
		in, out := p.In.Slice(i, i+1), p.Out.Slice(i, i+1)
		r.pick(r.last, in, 0)
		for k := 1; k < r.cells; k++ {
			r.pick(r.next, in, k)
			copy(r.cell, r.next.Var)
			r.fold(i, k)
			before := r.next.Var // of the maximum so far
			at := r.of(i, k)
			e := r.e[at:][:n]
			kernel.Rest(e, r.last.Var, r.slopes.MM1[at:][:n], before) // below 0 by rounding alone
			kernel.Rest(e, e, r.slopes.MM2[at:][:n], r.cell)
			if r.kept.Mean != nil {
				copy(r.kept.Mean[at:], r.last.Mean)
				copy(r.kept.Var[at:], r.last.Var)
			}
		}
		copy(out.Mean, r.last.Mean)
		copy(out.Var, r.last.Var)
	}
}

func (r *maxPoolSenser[T]) Sense(s *Sense[T]) {
	n, size := r.out.Size(), r.window.H*r.window.W*r.window.C
	for row := range s.Rows {
		in := r.begin(s, row, s.In)
		clear(in)
		for k := r.cells - 1; k > 0; k-- {
			r.step(s, row, k)
			at := r.of(row, k)
			r.part.AddVariances(r.e[at:], n)
			for i := range s.K {
				kernel.MulTo(r.cell, r.a[k][i*n:][:n], r.slopes.MM2[at:][:n])
				r.spread(in[i*size:][:size], r.cell, k)
			}
		}
		for i := range s.K {
			r.spread(in[i*size:][:size], r.a[0][i*n:][:n], 0)
		}
	}
}

// spread adds cell k of every window to an image.
func (r *maxPoolSenser[T]) spread(image, cell []T, k int) {
	c := r.out.C
	for i, place := k, 0; i < len(r.index); i, place = i+r.cells, place+c {
		if at := r.index[i]; at >= 0 {
			kernel.AddShort(image[at:][:c], cell[place:][:c])
		}
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
	p := r.slopes.MM1[r.of(row, k):][:n]
	for i := range s.K {
		kernel.MulTo(r.a[k-1][i*n:][:n], r.a[k][i*n:][:n], p)
	}
}

// SenseBack goes through the folds as Forward does, the first cell first.
func (r *maxPoolSenser[T]) SenseBack(s *Sense[T]) {
	n, size := r.out.Size(), r.window.H*r.window.W*r.window.C
	for row := range s.Rows {
		bin := r.begin(s, row, s.BIn)
		for k := r.cells - 1; k > 0; k-- {
			r.step(s, row, k)
		}
		r.part.DCov = s.DCov[row*s.K*s.K:][:s.K*s.K]
		before, b := r.b[0], r.b[1]
		for i := range s.K {
			r.gather(before[i*n:][:n], bin[i*size:][:size], 0)
		}
		in := s.Pass.In.Slice(row, row+1)
		r.pick(r.last, in, 0)
		for k := 1; k < r.cells; k++ {
			r.pick(r.next, in, k)
			at := r.of(row, k)
			clear(r.dp)
			for i := range s.K {
				r.foldBack(b[i*n:][:n], before[i*n:][:n], r.a[k][i*n:][:n], bin[i*size:][:size], at, k)
			}
			r.part.Out, r.part.BOut = r.a[k], b
			r.part.AddVariancesBack(r.e[at:], r.de, n)
			r.gradients(at, k)
			before, b = b, before
		}
		copy(s.BOut[row*len(before):], before)
	}
}

// foldBack writes the gradients b by the sensitivities of a quantity to the maximum after cell k,
// from those to the maximum before and to the image, and adds those by p.
func (r *maxPoolSenser[T]) foldBack(b, before, a, image []T, at, k int) {
	n := len(b)
	r.gather(r.cell, image, k)
	kernel.MulTo(b, before, r.slopes.MM1[at:][:n])
	kernel.MulAdd(b, r.cell, r.slopes.MM2[at:][:n])
	kernel.SubTo(r.cell, before, r.cell)
	kernel.MulAdd(r.dp, a, r.cell)
}

// gradients turns the gradients by p and e of the fold of cell k, between last and next,
// into those by its moments, and takes next into last.
func (r *maxPoolSenser[T]) gradients(at, k int) {
	f := r.slopes.Cut(at, len(r.dp))
	for o, dp := range r.dp {
		de := r.de[o]
		v1, v2 := r.last.Var[o], r.next.Var[o]
		dp += 2 * de * (T(f.MM2[o]*v2) - T(f.MM1[o]*v1))
		var far T // D/θ²
		if s := v1 + v2; s > 0 {
			far = (r.last.Mean[o] - r.next.Mean[o]) / s
		}
		by := T(dp * (-f.MV[o] * far)) // dp·∂p/∂v
		if by-by != 0 {
			by = T(-T(dp*f.MV[o]) * far) // θ² is so small that ∂p/∂v overflows
		}
		r.x.m[at+o] = 2*T(dp*f.MV[o]) + T(de*f.VM[o])
		r.x.v1[at+o] = by + de*(f.VV1[o]-T(f.MM1[o]*f.MM1[o]))
		r.x.v2[at+o] = by + de*(f.VV2[o]-T(f.MM2[o]*f.MM2[o]))
	}
	copy(r.last.Mean, r.kept.Mean[at:])
	copy(r.last.Var, r.kept.Var[at:])
	if !r.padded {
		return
	}
	c := r.out.C
	for i, place := k, at; i < len(r.index); i, place = i+r.cells, place+c {
		if r.index[i] < 0 {
			clear(r.x.m[place:][:c])
			clear(r.x.v1[place:][:c])
			clear(r.x.v2[place:][:c])
		}
	}
}

func (r *maxPoolSenser[T]) Backward(p *Pass[T]) { r.unwind(p, &r.x) }
