package nn

import "utvi/gauss"

// applyCov is a nonlinearity of units with covariances C, which it carries to first
// order: C'_ij = g_i g_j C_ij between two units, g their slopes.
type applyCov[T gauss.Float] struct{ *applyRunner[T] }

func newApplyCov[T gauss.Float](r *applyRunner[T], n int, train bool) applyCov[T] {
	r.makeSlopes(n, train)
	return applyCov[T]{r}
}

func (r applyCov[T]) Forward(p *Pass[T]) {
	r.applyRunner.Forward(p)
	scaleCov(p.Out, p.In, r.slope[:len(p.In.Mean)])
}

func (r applyCov[T]) Backward(p *Pass[T]) {
	r.applyRunner.Backward(p)
	if p.DIn.Mean == nil {
		return
	}
	g := r.slope[:len(p.DIn.Mean)]
	unscaleCov(p.DIn, p.DOut, g)
	if p.DOut.Cov == nil {
		return
	}
	w := p.DIn.Width
	for i := range p.DIn.Mean {
		d := T(slopeGradient(p.In, p.DOut, g, i/w, i%w))
		p.DIn.Mean[i] += T(d * r.slopeM[i])
		p.DIn.Var[i] += T(d * r.slopeV[i])
	}
}
