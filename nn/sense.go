package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
	"utvi/vi"
)

// This file is the contract of layers that carry correlations to first order; see
// Correlated, which drives them. A layer of another module carries them if its unit is
// Sensitive and its runner a Senser; the methods of Sense do what most layers need.
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
	Pass    *Pass[T]   // of the same block
	Weigher Weigher[T] // is told what the quantities see of weights; nil: nobody asks

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

// A Weigher is told, on the way back, how each quantity varies with the means of the weights of every
// layer that has Normal ones: their Jacobian. Layers come in the same order for every block.
type Weigher[T gauss.Float] interface {
	// Product tells of weights that multiply inputs m, len(m)/s.Rows a row: by weight (i, j) quantity k of
	// row r varies as m_ri·a_rkj, and by bias j as a_rkj, where a is s.Out. The bias is nil without one.
	Product(s *Sense[T], weight, bias *vi.Tensor[T], m []T)
	// Levels tells of a table of which each row reads one line: by number j of line level[r] quantity
	// k of row r varies as a_rkj, with a the numbers of s.Out that begin at from.
	Levels(s *Sense[T], table *vi.Tensor[T], level []int, from int)
	// Direct tells what quantity k of row r sees of a tensor as a whole.
	Direct(s *Sense[T], t *vi.Tensor[T], r, k int, j []T)
}

// AddVariances adds to Cov what the layer adds itself: to each of its outputs, width a row, an
// independent variance e, rows × width.
func (s *Sense[T]) AddVariances(e []T, width int) {
	k := s.K
	for r := range s.Rows {
		e := e[r*width:][:width]
		for i := range k {
			a := s.Out[(r*k+i)*width:][:width]
			for j := s.from(i); j <= i; j++ {
				b := s.Out[(r*k+j)*width:][:width]
				s.add(r, i, j, float64(kernel.Dot3(e, a, b)))
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

// AddVariancesBack is the reverse of AddVariances: it writes the gradients by e to de, and
// adds those by the sensitivities to BOut, which must have been written before.
func (s *Sense[T]) AddVariancesBack(e, de []T, width int) {
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
				kernel.InjectBack(de, b, a, s.Out[(r*k+j)*width:], e, h)
			}
		}
	}
}

// PassOn writes In for a layer that leaves its units as they are, apart from what it adds.
func (s *Sense[T]) PassOn() {
	if s.In != nil {
		copy(s.In, s.Out)
	}
}

// PassOnBack is the reverse of PassOn; fixed inputs have no gradients.
func (s *Sense[T]) PassOnBack() {
	clear(s.BOut)
	copy(s.BOut, s.BIn)
}

// PassOnScaled writes In for a layer whose unit u follows its input u with the slope g: one
// for each row and unit, or one for each unit, or, in images, one for each channel.
func (s *Sense[T]) PassOnScaled(g []T) {
	width := s.width()
	for i := range s.In {
		s.In[i] = s.Out[i] * g[s.slopeAt(i, width)%len(g)]
	}
}

// PassOnScaledBack is the reverse of PassOnScaled. It writes the gradients by the slopes to dg,
// rows × width, unless that is nil.
func (s *Sense[T]) PassOnScaledBack(g, dg []T) {
	width := s.width()
	clear(s.BOut)
	clear(dg)
	for i, b := range s.BIn {
		at := s.slopeAt(i, width)
		s.BOut[i] = b * g[at%len(g)]
		if dg != nil {
			dg[at] += T(b * s.Out[i])
		}
	}
}

// width is the number of the layer's outputs.
func (s *Sense[T]) width() int { return len(s.Out) / max(1, s.Rows*s.K) }

// slopeAt is the place, in rows × width slopes, of the unit that sensitivity i belongs to.
func (s *Sense[T]) slopeAt(i, width int) int { return i/(s.K*width)*width + i%width }
