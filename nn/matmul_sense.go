package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// Follow implements Sensitive.
func (u *matmul[T]) Follow(k int) { u.k = k }

// matmulSenser is a product of matrices that carries correlations: its slopes are the other factor,
// and beyond them it adds V·W, where both factors have variances.
type matmulSenser[T gauss.Float] struct {
	*matmulRunner[T]
	both   bool
	e, de  []T
	xm, xv []T // gradients that Backward adds
}

func newMatmulSenser[T gauss.Float](r *matmulRunner[T], maxRows int, train bool) *matmulSenser[T] {
	n := maxRows * r.Out().Size()
	s := &matmulSenser[T]{matmulRunner: r, both: r.random[0] && r.random[1], e: make([]T, n)}
	if train {
		s.de = make([]T, n)
		s.xm = make([]T, maxRows*r.width())
		s.xv = make([]T, maxRows*r.width())
	}
	return s
}

// product is where the numbers of a head lie, among those of all outputs of a row.
func (r *matmulSenser[T]) product(head int, row []T) matrix[T] {
	return rowMajor(row[head*r.n*r.q:], r.n, r.q)
}

func (r *matmulSenser[T]) Forward(p *Pass[T]) {
	r.matmulRunner.Forward(p)
	if !r.both {
		return
	}
	size, width := r.Out().Size(), p.In.Width
	for row := range p.In.Rows {
		e, v := r.e[row*size:][:size], p.In.Var[row*width:][:width]
		for head := range r.heads {
			r.mul(r.product(head, e), r.factor(0, head, v), r.factor(1, head, v), false)
		}
		scaleBy(e, r.scale*r.scale)
	}
}

func (r *matmulSenser[T]) Sense(s *Sense[T]) {
	size, width := r.Out().Size(), r.width()
	if r.both {
		s.AddVariances(r.e, size)
	}
	if s.In == nil {
		return
	}
	for i := range s.Rows * s.K {
		mean := s.Pass.In.Mean[i/s.K*width:][:width]
		in := s.In[i*width:][:width]
		for head := range r.heads {
			a := r.scaled(s.Out[i*size:], head)
			r.mul(r.factor(0, head, in), a, r.factor(1, head, mean).t(), false)
			r.mul(r.factor(1, head, in), r.factor(0, head, mean).t(), a, false)
		}
	}
}

// scaled is what a head of a row has, times the scale.
func (r *matmulSenser[T]) scaled(row []T, head int) matrix[T] {
	scaleTo(r.g, row[head*r.n*r.q:], r.scale)
	return rowMajor(r.g, r.n, r.q)
}

func (r *matmulSenser[T]) SenseBack(s *Sense[T]) {
	size, width := r.Out().Size(), r.width()
	clear(s.BOut)
	clear(r.xm)
	clear(r.xv)
	if s.BIn != nil {
		for i := range s.Rows * s.K {
			row := i / s.K
			mean, xm := s.Pass.In.Mean[row*width:][:width], r.xm[row*width:][:width]
			b := s.BIn[i*width:][:width]
			bout := s.BOut[i*size:][:size]
			for head := range r.heads {
				ba, bb := r.factor(0, head, b), r.factor(1, head, b)
				y := r.product(head, bout)
				r.mul(y, ba, r.factor(1, head, mean), false)
				r.mul(y, r.factor(0, head, mean), bb, true)
				a := r.scaled(s.Out[i*size:], head)
				r.mul(r.factor(0, head, xm), a, bb.t(), true)
				r.mul(r.factor(1, head, xm), ba.t(), a, true)
			}
			scaleBy(bout, r.scale)
		}
	}
	if r.both {
		s.AddVariancesBack(r.e, r.de, size)
		r.backRest(s)
	}
}

// backRest takes the gradient by V·W back to V and W.
func (r *matmulSenser[T]) backRest(s *Sense[T]) {
	size, width := r.Out().Size(), r.width()
	for row := range s.Rows {
		v, xv := s.Pass.In.Var[row*width:][:width], r.xv[row*width:][:width]
		for head := range r.heads {
			scaleTo(r.h, r.de[row*size+head*r.n*r.q:], r.scale*r.scale)
			de := rowMajor(r.h, r.n, r.q)
			r.mul(r.factor(0, head, xv), de, r.factor(1, head, v).t(), false)
			r.mul(r.factor(1, head, xv), r.factor(0, head, v).t(), de, false)
		}
	}
}

func (r *matmulSenser[T]) Backward(p *Pass[T]) {
	r.matmulRunner.Backward(p)
	if p.DIn.Mean != nil {
		kernel.Add(p.DIn.Mean, r.xm[:len(p.DIn.Mean)])
		if p.DIn.Var != nil {
			kernel.Add(p.DIn.Var, r.xv[:len(p.DIn.Var)])
		}
	}
}
