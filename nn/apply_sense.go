package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// Follow implements Sensitive.
func (u *apply[T]) Follow(int) {}

// applySenser is a nonlinearity that carries correlations: it passes sensitivities
// on by its slope g and adds the variance beyond its slope,
//
//	e = V − g²v          ∂e/∂m = ∂V/∂m − 2gv·∂g/∂m       ∂e/∂v = ∂V/∂v − g² − 2gv·∂g/∂v
type applySenser[T gauss.Float] struct {
	*applyRunner[T]
	e, de  []T // of the block Forward saw last
	xm, xv []T // gradients that Backward adds
}

func newApplySenser[T gauss.Float](r *applyRunner[T], n int, train bool) *applySenser[T] {
	s := &applySenser[T]{applyRunner: r, e: make([]T, n)}
	r.makeSlopes(n, train)
	if train {
		s.de = make([]T, n)
		s.xm = make([]T, n)
		s.xv = make([]T, n)
	}
	return s
}

// makeSlopes allocates the slopes. A rule of points computes them without derivatives,
// which prediction does not need.
func (r *applyRunner[T]) makeSlopes(n int, train bool) {
	r.slope = make([]T, n)
	if train || r.rule.Nodes().Method != moment.ByPoints {
		r.slopeM, r.slopeV = make([]T, n), make([]T, n)
		if r.jac.MM == nil {
			r.jac = newJacobian[T](n)
		}
	}
}

func newJacobian[T gauss.Float](n int) kernel.Moments[T] {
	p := compute.Make[T](4 * n)
	return kernel.Moments[T]{MM: p[:n], MV: p[n : 2*n], VM: p[2*n : 3*n], VV: p[3*n:]}
}

func (r *applySenser[T]) Forward(p *Pass[T]) {
	r.applyRunner.Forward(p)
	kernel.Rest(r.e[:len(p.In.Var)], p.Out.Var, r.slope, p.In.Var) // below 0 by rounding alone
}

func (r *applySenser[T]) Sense(s *Sense[T]) {
	width := r.shape.Size()
	s.AddVariances(r.e, width)
	for row := range s.Rows {
		g := r.slope[row*width:][:width]
		for k := range s.K {
			at := (row*s.K + k) * width
			kernel.MulTo(s.In[at:][:width], s.Out[at:][:width], g)
		}
	}
}

func (r *applySenser[T]) SenseBack(s *Sense[T]) {
	width := r.shape.Size()
	n := s.Rows * width
	xm, xv := r.xm[:n], r.xv[:n]
	clear(xm) // ∂g for now
	for row := range s.Rows {
		g, dg := r.slope[row*width:][:width], xm[row*width:][:width]
		for k := range s.K {
			at := (row*s.K + k) * width
			a := s.Out[at:][:width]
			bin := s.BIn[at:][:width]
			bout := s.BOut[at:][:width]
			kernel.MulTo(bout, bin, g)
			kernel.MulAdd(dg, a, bin)
		}
	}
	s.AddVariancesBack(r.e, r.de, width)
	kernel.RestBack(xm, xv, r.de, s.Pass.In.Var, &kernel.Slope[T]{G: r.slope, GM: r.slopeM, GV: r.slopeV, VM: r.jac.VM, VV: r.jac.VV})
}

func (r *applySenser[T]) Backward(p *Pass[T]) {
	r.applyRunner.Backward(p)
	if p.DIn.Mean != nil {
		kernel.Add(p.DIn.Mean, r.xm[:len(p.DIn.Mean)])
		kernel.Add(p.DIn.Var, r.xv[:len(p.DIn.Var)])
	}
}

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
