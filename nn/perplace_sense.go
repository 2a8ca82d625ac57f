package nn

import "utvi/gauss"

// Follow implements Sensitive.
func (u *perPlace[T]) Follow(k int) {
	u.k = k
	if u.Form() != Fixed {
		u.Unit.(Sensitive[T]).Follow(k)
	}
}

// perPlaceSenser carries correlations through a layer whose weights are numbers: what its places add
// is independent from place to place. Their sensitivities lie quantity by quantity; its layer
// wants them place by place.
type perPlaceSenser[T gauss.Float] struct {
	*perPlaceRunner[T]
	sense     Sense[T]
	ain, aout []T // sensitivities
	bin, bout []T // their gradients
	cov, dcov []float64
}

func newPerPlaceSenser[T gauss.Float](r *perPlaceRunner[T], maxRows int) *perPlaceSenser[T] {
	n := maxRows * r.k
	s := &perPlaceSenser[T]{perPlaceRunner: r}
	s.ain = make([]T, n*r.in.Size())
	s.bin = make([]T, n*r.in.Size())
	s.aout = make([]T, n*r.out.Size())
	s.bout = make([]T, n*r.out.Size())
	s.cov = make([]float64, n*r.k*r.places())
	s.dcov = make([]float64, n*r.k*r.places())
	return s
}

// turn writes, for each row, n × m stretches of width numbers as m × n.
func turn[T gauss.Float](dst, src []T, rows, n, m, width int) {
	for row := range rows {
		from, to := src[row*n*m*width:], dst[row*n*m*width:]
		for i := range n {
			for j := range m {
				copy(to[(j*n+i)*width:][:width], from[(i*m+j)*width:])
			}
		}
	}
}

func (r *perPlaceSenser[T]) Sense(s *Sense[T]) {
	places, k := r.places(), s.K
	q := &r.sense
	*q = *s
	q.Pass = &r.pass
	q.Rows = s.Rows * places
	q.Out = r.aout[:len(s.Out)]
	turn(q.Out, s.Out, s.Rows, k, places, r.out.C)
	if s.In != nil {
		q.In = r.ain[:len(s.In)]
	}
	q.Cov = r.cov[:q.Rows*k*k]
	clear(q.Cov)
	r.Runner.(Senser[T]).Sense(q)
	if s.In != nil {
		turn(s.In, q.In, s.Rows, places, k, r.in.C)
	}
	for at, c := range q.Cov {
		s.Cov[at/(places*k*k)*k*k+at%(k*k)] += c
	}
}

func (r *perPlaceSenser[T]) SenseBack(s *Sense[T]) {
	places, k := r.places(), s.K
	q := &r.sense
	q.DCov = r.dcov[:q.Rows*k*k]
	for at := range q.DCov {
		q.DCov[at] = s.DCov[at/(places*k*k)*k*k+at%(k*k)]
	}
	q.BIn = nil
	if s.BIn != nil {
		q.BIn = r.bin[:len(s.BIn)]
		turn(q.BIn, s.BIn, s.Rows, k, places, r.in.C)
	}
	q.BOut = r.bout[:len(s.BOut)]
	r.Runner.(Senser[T]).SenseBack(q)
	turn(s.BOut, q.BOut, s.Rows, places, k, r.out.C)
}
