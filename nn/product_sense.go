package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// Follow implements Sensitive.
func (u *times[T]) Follow(k int) { u.k = k }

// timesSenser is a product that carries correlations: its slopes are the means of the other
// factor, and beyond them it adds the product of both variances.
type timesSenser[T gauss.Float] struct {
	*timesRunner[T]
	e, de  []T
	xm, xv []T // gradients that Backward adds
	room   []T
}

func newTimesSenser[T gauss.Float](r *timesRunner[T], maxRows int, train bool) *timesSenser[T] {
	n := r.out.Size()
	s := &timesSenser[T]{timesRunner: r, e: make([]T, maxRows*n), room: make([]T, n)}
	if train {
		s.de = make([]T, maxRows*n)
		s.xm = make([]T, maxRows*r.width())
		s.xv = make([]T, maxRows*r.width())
	}
	return s
}

func (u *times[T]) width() int { return u.parts[1].at + u.parts[1].size() }

func (r *timesSenser[T]) Forward(p *Pass[T]) {
	r.timesRunner.Forward(p)
	n := r.out.Size()
	if r.Form() == Fixed {
		return
	}
	for row := range p.In.Rows {
		_, v := r.factors(p.In, row)
		kernel.MulTo(r.e[row*n:][:n], v[0], v[1])
	}
}

func (r *timesSenser[T]) Sense(s *Sense[T]) {
	n, width := r.out.Size(), r.width()
	s.AddVariances(r.e, n)
	for row := range s.Rows {
		m, _ := r.factors(s.Pass.In, row)
		for k := range s.K {
			at := row*s.K + k
			for j, p := range r.parts {
				kernel.MulTo(r.room, s.Out[at*n:][:n], m[1-j])
				from(r.spread[j], s.In[at*width+p.at:][:p.size()], r.room)
			}
		}
	}
}

func (r *timesSenser[T]) SenseBack(s *Sense[T]) {
	n, width := r.out.Size(), r.width()
	clear(r.xm)
	for row := range s.Rows {
		m, _ := r.factors(s.Pass.In, row)
		for k := range s.K {
			at := row*s.K + k
			a, b := s.Out[at*n:][:n], s.BOut[at*n:][:n]
			clear(b)
			for j, p := range r.parts {
				bin := to(r.spread[j], r.room, s.BIn[at*width+p.at:][:p.size()])
				kernel.MulAdd(b, bin, m[1-j])
				r.byOther(1-j, row, a, bin)
			}
		}
	}
	s.AddVariancesBack(r.e, r.de, n)
	for row := range s.Rows {
		_, v := r.factors(s.Pass.In, row)
		for j, p := range r.parts {
			kernel.MulTo(r.room, r.de[row*n:][:n], v[1-j])
			from(r.spread[j], r.xv[row*width+p.at:][:p.size()], r.room)
		}
	}
}

// byOther adds a·bin, the gradient by the slope that the mean of factor j is, to its own.
func (r *timesSenser[T]) byOther(j, row int, a, bin []T) {
	p := r.parts[j]
	x := r.xm[row*r.width()+p.at:][:p.size()]
	if r.spread[j] == nil {
		kernel.MulAdd(x, a, bin)
		return
	}
	for i, at := range r.spread[j] {
		x[at] += T(a[i] * bin[i])
	}
}

func (r *timesSenser[T]) Backward(p *Pass[T]) {
	r.timesRunner.Backward(p)
	if p.DIn.Mean != nil {
		kernel.Add(p.DIn.Mean, r.xm[:len(p.DIn.Mean)])
		if p.DIn.Var != nil {
			kernel.Add(p.DIn.Var, r.xv[:len(p.DIn.Var)])
		}
	}
}
