package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
)

// This file is the contract of layers that carry correlations to first order; see
// Correlated, which drives them.
//
// To first order, the output of a layer is y = E y + G·(x − E x) + e: it passes the
// variation of its inputs on by its slopes G, and adds an e that is independent of its
// inputs. So the covariance of a few quantities at the end is a sum over all layers of
// what they add, weighted with the sensitivities a of those quantities to it,
//
//	C_kl = Σ_layers a_kᵀ Cov(e) a_l,        a ← Gᵀ·a from layer to layer, backwards.

// A Sensitive unit carries correlations to first order.
type Sensitive[T gauss.Float] interface {
	Unit[T]
	// Follow sets the number of quantities that are followed back. It is called before
	// any runner is made.
	Follow(k int)
}

// A Senser is the runner of a Sensitive unit. In a training step, its methods are
// called for a block of rows in the order Forward, Sense, SenseBack, Backward.
type Senser[T gauss.Float] interface {
	Runner[T]
	// Sense adds the contribution of the layer to s.Cov, and writes s.In from s.Out.
	Sense(s *Sense[T])
	// SenseBack writes s.BOut from s.BIn and s.DCov, and keeps the gradients with
	// respect to the moments of the input and the parameters, which Backward adds.
	SenseBack(s *Sense[T])
}

// A Sense is one block of rows on its way back through one unit: for each row and each
// of K quantities the sensitivities to the unit's outputs and inputs, rows × K × width
// numbers.
type Sense[T gauss.Float] struct {
	Rows, K int
	Pass    *Pass[T] // of the same block

	// In is nil if the input of the unit is Fixed, as that of the first layer on inputs
	// without variance: nothing depends on it then. So is BIn.
	In, Out []T
	// Cov has rows × K × K numbers, symmetric. If Diagonal is set, only the diagonal
	// is used.
	Cov      []float64
	Diagonal bool

	// BIn and BOut are the gradients of the loss with respect to In and Out. DCov is
	// the gradient with respect to Cov, also symmetric: a change dC of the covariances
	// of a row changes the loss by Σ DCov·dC.
	BIn, BOut []T
	DCov      []float64
}

// inject adds to Cov what independent additions of variance e, rows × width, come to.
func (s *Sense[T]) inject(e []T, width int) {
	k := s.K
	for r := range s.Rows {
		e := e[r*width:][:width]
		for i := range k {
			a := s.Out[(r*k+i)*width:][:width]
			for j := s.from(i); j <= i; j++ {
				b := s.Out[(r*k+j)*width:][:width]
				s.add(r, i, j, float64(compute.Dot3(e, a, b)))
			}
		}
	}
}

// from is the first column of row i of the lower half of Cov that is wanted.
func (s *Sense[T]) from(i int) int {
	if s.Diagonal {
		return i
	}
	return 0
}

// add adds to the covariance of quantities i and j of row r.
func (s *Sense[T]) add(r, i, j int, x float64) {
	c := s.Cov[r*s.K*s.K:]
	c[i*s.K+j] += x
	if i != j {
		c[j*s.K+i] += x
	}
}

// uninject is the reverse of inject: it writes the gradients by e to de, and adds those
// by the sensitivities to BOut.
func (s *Sense[T]) uninject(e, de []T, width int) {
	k := s.K
	for r := range s.Rows {
		e, de := e[r*width:][:width], de[r*width:][:width]
		clear(de)
		for i := range k {
			a, b := s.Out[(r*k+i)*width:][:width], s.BOut[(r*k+i)*width:][:width]
			for j := range k {
				if s.Diagonal && j != i {
					continue
				}
				h := T(s.DCov[(r*k+i)*k+j])
				if h == 0 {
					continue
				}
				compute.InjectBack(de, b, a, s.Out[(r*k+j)*width:], e, h)
			}
		}
	}
}

// slopes is what a layer passes on that only scales its units: unit u by g[u%len(g)],
// the same for all rows.
func (s *Sense[T]) slopes(g []T) {
	for i, a := range s.Out {
		s.In[i] = a * g[i%len(g)]
	}
}

// unslopes is the reverse of slopes.
func (s *Sense[T]) unslopes(g []T) {
	for i, b := range s.BIn {
		s.BOut[i] = b * g[i%len(g)]
	}
}

// pass is what a layer passes on that leaves its units as they are.
func (s *Sense[T]) pass() {
	if s.In != nil {
		copy(s.In, s.Out)
	}
}

// unpass is the reverse of pass; fixed inputs have no gradients.
func (s *Sense[T]) unpass() {
	clear(s.BOut)
	copy(s.BOut, s.BIn)
}
