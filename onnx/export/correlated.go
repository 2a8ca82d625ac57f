package export

import "utvi/nn"

// sensed collects what layers add to the covariance of K quantities: Σ a·e·aᵀ, with a rows
// × K × n and e rows × 1 × n, or the same for all rows.
type sensed struct {
	o     ops
	k     int
	terms [][2]value
}

// inject adds independent variances e that the quantities see by a.
func (s *sensed) inject(a, e value) { s.terms = append(s.terms, [2]value{a, e}) }

// diagonal is the variance of the quantities, rows × K.
func (s *sensed) diagonal() value {
	var all []value
	for _, t := range s.terms {
		all = append(all, s.o.sum(s.o.mul(s.o.square(t[0]), t[1]), -1, false))
	}
	return s.o.total(all)
}

// full is the covariance, rows × K × K.
func (s *sensed) full() value {
	var all []value
	for _, t := range s.terms {
		all = append(all, s.o.matmul(s.o.mul(t[0], t[1]), s.o.transpose(t[0], 0, 2, 1)))
	}
	return s.o.total(all)
}

// correlated writes layers one after the other, and then the sensitivities of the outputs
// to all of them backwards; see nn.Correlated.
func (w *writer) correlated(n *node, in signal, out *signal) error {
	w.sense = true
	defer func() { w.sense = false }()
	to := out.form
	b, err := w.chain(n, in, out)
	if err != nil || to == nn.Fixed {
		return err
	}
	w.Scope(w.prefix + n.Name)
	k := out.shape.Size()
	eye := make([]float32, k*k)
	for i := range k {
		eye[i*k+i] = 1
	}
	s := &sensed{o: w.ops, k: k}
	a := b(s, w.Floats("eye", eye, 1, k, k))
	if in.form != nn.Fixed {
		s.inject(a, w.unsqueeze(w.rows(in.variance, in.shape), 1))
	}
	out.form = to
	out.variance = w.natural(s.diagonal(), out.shape)
	out.cov = s.full
	return nil
}
