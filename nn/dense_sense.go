package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/affine"
)

// Follow implements Sensitive. Inputs that are fixed have nothing to follow.
func (u *dense[T]) Follow(k int) {
	if u.apart != nil && u.in != Fixed {
		u.apart.Follow(k)
	}
}

// denseSenser is a dense layer that carries correlations: its weights add j = (m²+v)·S
// + s_b to the variances, independently, and pass on sensitivities by their means.
type denseSenser[T gauss.Float] struct {
	denseRunner[T]
	apart *affine.DenseApart[T]
	j     []T // what the weights add to the block Forward saw last
	e     []T // the gradient by that
}

func (r *denseSenser[T]) Forward(p *Pass[T]) {
	rows := p.In.Rows
	r.apart.ForwardApart(rows, p.In.Mean, p.In.Var, p.Out.Mean, p.Out.Var, r.j, r.scratch)
	if r.train {
		r.apart.RecordInput(p.Tape, rows, p.In.Mean, p.In.Var)
	}
}

func (r *denseSenser[T]) Sense(s *Sense[T]) {
	s.AddVariances(r.j, r.dense.Out)
	if s.Weigher != nil && r.weight.Random {
		s.Weigher.Product(s, r.weight, r.bias, s.Pass.In.Mean)
	}
	if r.in != Fixed {
		r.apart.SenseBack(s.Rows*s.K, s.Out, s.In)
	}
}

func (r *denseSenser[T]) SenseBack(s *Sense[T]) {
	clear(s.BOut)
	if r.in != Fixed {
		r.apart.SenseForward(s.Rows*s.K, s.BIn, s.BOut)
	}
	s.AddVariancesBack(r.j, r.e, r.dense.Out)
	r.apart.RecordSense(s.Pass.Tape, s.Rows, s.Out, s.BIn)
}

func (r *denseSenser[T]) Backward(p *Pass[T]) {
	rows := p.DOut.Rows
	e := r.e[:len(p.DOut.Var)]
	for i, h := range p.DOut.Var { // j is part of the output's variance
		e[i] += h
	}
	r.apart.RecordApart(p.Tape, rows, p.DOut.Mean, p.DOut.Var, e)
	if p.DIn.Mean != nil {
		r.apart.BackwardApart(rows, p.In.Mean, p.DOut.Mean, p.DOut.Var, e, p.DIn.Mean, p.DIn.Var, r.scratch)
	}
}
