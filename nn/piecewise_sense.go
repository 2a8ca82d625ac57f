package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// Follow implements Sensitive.
func (u *piecewise[T]) Follow(int) {}

// piecewiseSenser carries correlations. All features of a unit vary with it: to first
// order by their slopes g, and what is beyond, V − g²v, is taken as independent. The unit
// itself is passed on and adds nothing.
type piecewiseSenser[T gauss.Float] struct {
	*piecewiseRunner[T]
	e, de  []T // rows × outputs
	xm, xv []T // gradients by the moments of the units, which Backward adds
}

func (r *piecewiseSenser[T]) Forward(p *Pass[T]) {
	r.piecewiseRunner.Forward(p)
	in, at := len(r.edges), 0
	clear(r.e[:len(p.Out.Mean)])
	for row := range p.In.Rows {
		v, i := p.In.Var[row*in:][:in], row*r.out+in
		for j, inv := range r.inv {
			n := len(inv)
			for k := range n { // below 0 by rounding alone
				g := r.slope[at+k]
				r.e[i+k] = max(0, p.Out.Var[i+k]-T(g*g)*v[j])
			}
			i, at = i+n, at+n
		}
	}
}

func (r *piecewiseSenser[T]) Sense(s *Sense[T]) {
	s.AddVariances(r.e, r.out)
	in, features := len(r.edges), r.out-len(r.edges)
	for i := range s.Rows * s.K {
		a, to := s.Out[i*r.out:][:r.out], s.In[i*in:][:in]
		copy(to, a)
		g, f := r.slope[i/s.K*features:][:features], a[in:]
		for j, inv := range r.inv {
			for k := range inv {
				to[j] += T(f[k] * g[k])
			}
			f, g = f[len(inv):], g[len(inv):]
		}
	}
}

func (r *piecewiseSenser[T]) SenseBack(s *Sense[T]) {
	in, features := len(r.edges), r.out-len(r.edges)
	xm, xv := r.xm[:s.Rows*in], r.xv[:s.Rows*in]
	clear(xm)
	clear(xv)
	for i := range s.Rows * s.K {
		b, to := s.BIn[i*in:][:in], s.BOut[i*r.out:][:r.out]
		copy(to, b)
		at := i / s.K * features
		for j, k := 0, in; j < in; j++ {
			for range r.inv[j] {
				to[k] = T(b[j] * r.slope[at])
				// The slope moves with the moments of the unit.
				dg := T(b[j] * s.Out[i*r.out+k])
				xm[i/s.K*in+j] += T(dg * r.slopeM[at])
				xv[i/s.K*in+j] += T(dg * r.slopeV[at])
				k, at = k+1, at+1
			}
		}
	}
	s.AddVariancesBack(r.e, r.de, r.out)
	for row := range s.Rows { // e = V − g²v
		at := row * features
		for j, k := 0, in; j < in; j++ {
			v, x := s.Pass.In.Var[row*in+j], row*in+j
			for range r.inv[j] {
				de, g := r.de[row*r.out+k], r.slope[at]
				xm[x] += T(de * (r.jac.VM[at] - T(2*g*v*r.slopeM[at])))
				xv[x] += T(de * (r.jac.VV[at] - T(g*g) - T(2*g*v*r.slopeV[at])))
				k, at = k+1, at+1
			}
		}
	}
}

func (r *piecewiseSenser[T]) Backward(p *Pass[T]) {
	r.piecewiseRunner.Backward(p)
	if p.DIn.Mean != nil {
		kernel.Add(p.DIn.Mean, r.xm[:len(p.DIn.Mean)])
		kernel.Add(p.DIn.Var, r.xv[:len(p.DIn.Var)])
	}
}
