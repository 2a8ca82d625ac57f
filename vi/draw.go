package vi

import (
	"math"

	"utvi/gauss"
	"utvi/internal/compute/kernel"
	"utvi/rng"
)

// leastSigma keeps ε/(2σ) finite.
const leastSigma = 1e-18

// Sigma writes the standard deviations of the weights [lo, lo+len(dst)) of a random
// tensor.
func (t *Tensor[T]) Sigma(dst []T, lo int) {
	kernel.Variance(dst, t.Rho[lo:lo+len(dst)])
	for i, v := range dst {
		dst[i] = max(T(math.Sqrt(float64(v))), leastSigma)
	}
}

// Draw draws len(sigma) weights w = μ + σε, starting at weight lo, which must be a
// multiple of four. It writes ε to eps, whose length must be a multiple of four. The
// draws are counted within tensor number i of the stream key. Pieces of a tensor never
// share an ε, but the ε of a weight depends on how the tensor is cut into pieces: cut
// it by its shape alone.
func (t *Tensor[T]) Draw(key rng.Key, i, lo int, sigma, w []T, eps []float32) {
	n := len(sigma)
	quads := (n + 3) / 4
	eps = eps[:4*quads]
	kernel.Normals(eps, key, uint64(i), lo/4, quads, 4)
	mean := t.Mean[lo : lo+n]
	for j, e := range eps[:n] {
		w[j] = mean[j] + T(sigma[j]*T(e))
	}
}

// A Sampler draws all parameters of a network. It must be used by one goroutine at a
// time.
type Sampler[T gauss.Float] struct {
	from  *Params[T]
	sigma [][]T
	eps   []float32
}

// NewSampler returns a sampler of p with its current values.
func NewSampler[T gauss.Float](p *Params[T]) *Sampler[T] {
	s := &Sampler[T]{from: p, sigma: make([][]T, len(p.Tensors))}
	most := 0
	for i, t := range p.Tensors {
		if t.Random {
			s.sigma[i] = make([]T, t.Len())
			t.Sigma(s.sigma[i], 0)
			most = max(most, t.Len())
		}
	}
	s.eps = make([]float32, most+3)
	return s
}

// Draw writes drawn weights to the means of p, which has the same tensors as the
// sampled parameters, with numbers in place of Normals. Point tensors are copied.
func (s *Sampler[T]) Draw(key rng.Key, p *Params[T]) {
	for i, t := range s.from.Tensors {
		if !t.Random {
			copy(p.Tensors[i].Mean, t.Mean)
			continue
		}
		t.Draw(key, i, 0, s.sigma[i], p.Tensors[i].Mean, s.eps)
	}
}
