package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// Follow implements Sensitive.
func (u *periodic[T]) Follow(int) {}

// periodicSenser carries correlations, as piecewiseSenser does: features vary with their
// unit by their slopes g, and what is beyond, V − g²v, is taken as independent.
type periodicSenser[T gauss.Float] struct {
	*periodicRunner[T]
	e, de      []T // rows × outputs
	xm, xv, xw []T // gradients by the moments of the units and by w, which Backward adds
}

func (r *periodicSenser[T]) Forward(p *Pass[T]) {
	r.periodicRunner.Forward(p)
	n, out := len(r.unit), p.Out.Width
	clear(r.e[:len(p.Out.Mean)])
	for i, f := range r.waves[:p.In.Rows*2*n] {
		row := i / (2 * n)
		v := float64(p.In.Var[row*r.in+r.unit[i%n]])
		r.e[row*out+r.in+i%(2*n)] = T(max(0, f.v-f.slope*f.slope*v)) // below 0 by rounding alone
	}
}

func (r *periodicSenser[T]) Sense(s *Sense[T]) {
	in, n := r.in, len(r.unit)
	out := in + 2*n
	s.AddVariances(r.e, out)
	for i := range s.Rows * s.K {
		a, to := s.Out[i*out:][:out], s.In[i*in:][:in]
		copy(to, a)
		for k, f := range r.waves[i/s.K*2*n:][:2*n] {
			to[r.unit[k%n]] += T(a[in+k] * T(f.slope))
		}
	}
}

func (r *periodicSenser[T]) SenseBack(s *Sense[T]) {
	in, n := r.in, len(r.unit)
	out := in + 2*n
	xm := r.xm[:s.Rows*in]
	xv := r.xv[:s.Rows*in]
	xw := r.xw[:s.Rows*n]
	clear(xm)
	clear(xv)
	clear(xw)
	for i := range s.Rows * s.K {
		row := i / s.K
		b := s.BIn[i*in:][:in]
		a := s.Out[i*out:][:out]
		to := s.BOut[i*out:][:out]
		copy(to, b)
		for k, f := range r.waves[row*2*n:][:2*n] {
			j := r.unit[k%n]
			to[in+k] = T(b[j] * T(f.slope))
			// The slope moves with the moments of the unit and with w.
			dg := T(b[j] * a[in+k])
			xm[row*in+j] += T(dg * T(f.slopeM))
			xv[row*in+j] += T(dg * T(f.slopeV))
			xw[row*n+k%n] += T(dg * T(f.slopeW))
		}
	}
	s.AddVariancesBack(r.e, r.de, out)
	for i, f := range r.waves[:s.Rows*2*n] { // e = V − g²v
		row, j := i/(2*n), r.unit[i%n]
		de := r.de[row*out+in+i%(2*n)]
		g := f.slope
		v := float64(s.Pass.In.Var[row*in+j])
		xm[row*in+j] += T(de * T(f.vm-2*g*v*f.slopeM))
		xv[row*in+j] += T(de * T(f.vv-g*g-2*g*v*f.slopeV))
		xw[row*n+i%n] += T(de * T(f.vw-2*g*v*f.slopeW))
	}
}

func (r *periodicSenser[T]) Backward(p *Pass[T]) {
	r.periodicRunner.Backward(p)
	kernel.Add(p.Tape, r.xw[:len(p.Tape)])
	if p.DIn.Mean != nil {
		kernel.Add(p.DIn.Mean, r.xm[:len(p.DIn.Mean)])
		kernel.Add(p.DIn.Var, r.xv[:len(p.DIn.Var)])
	}
}
