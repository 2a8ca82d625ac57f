package nn

import "utvi/gauss"

// Follow implements Sensitive.
func (u *embed[T]) Follow(int) {}

// embedSenser carries correlations: the levels of a row are independent of all others and
// add their variances; the other units are passed on.
type embedSenser[T gauss.Float] struct {
	*embedRunner[T]
	e []T // rows × outputs, 0 for units that are passed on
}

func (r *embedSenser[T]) Forward(p *Pass[T]) {
	r.embedRunner.Forward(p)
	e := r.e[:len(p.Out.Var)]
	copy(e, p.Out.Var)
	for row := range p.In.Rows {
		clear(e[row*r.out:][:len(r.others)])
	}
}

func (r *embedSenser[T]) Sense(s *Sense[T]) {
	s.AddVariances(r.e, r.out)
	if s.In == nil {
		return
	}
	clear(s.In)
	for i := range s.Rows * s.K {
		for j, unit := range r.others {
			s.In[i*r.inputs+unit] = s.Out[i*r.out+j]
		}
	}
}

func (r *embedSenser[T]) SenseBack(s *Sense[T]) {
	clear(s.BOut)
	if s.BIn != nil {
		for i := range s.Rows * s.K {
			for j, unit := range r.others {
				s.BOut[i*r.out+j] = s.BIn[i*r.inputs+unit]
			}
		}
	}
	s.AddVariancesBack(r.e, r.de, r.out)
}
