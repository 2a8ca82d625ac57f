package laplace

import (
	"errors"
	"fmt"
	"math"
)

// A Form is how a covariance of weights is held.
type Form uint8

// Auto is Weights where the weights are fewer than what rows say of them, else Kernel.
const (
	Auto Form = iota
	Weights
	Kernel
)

// A Config says which covariance of the weights is meant.
type Config struct {
	Form   Form
	Layers bool // layers are independent of each other; their weights are not
	// Landmarks is the largest number of rows that weights vary along, in the form Kernel; 0 stands for 1000.
	Landmarks int
	Scale     float64 // of the prior variances; 0 stands for 1
}

// A Posterior is the covariance of a network's weights, given rows. Goroutines may share it.
type Posterior struct {
	scale  float64
	blocks []blockOf
}

// A blockOf is the covariance of the weights of layers lo to hi−1.
type blockOf struct {
	lo, hi int
	// Kernel: the variance of an output is that of the prior less |φ|², φ = root·k, k the kernel with
	// landmarks, and more by |back·φ|² where the landmarks are not all rows.
	landmarks  *side
	root, back []float64 // lower triangular
	// Weights: it is |inverse·J|².
	inverse []float64 // of the lower triangular root of the precision, the same
	n       int       // of either
}

// mostWeights is the largest number of weights whose covariance is kept as a matrix.
const mostWeights = 20_000

// New returns the covariance of the weights, given the Jacobians of rows that were whitened: by
// Rows.Combine with roots of the Hessians, see Precisions and Classes.
func New(x *Rows, c Config) (*Posterior, error) {
	switch {
	case !(c.Scale >= 0) || math.IsInf(c.Scale, 1):
		return nil, fmt.Errorf("laplace: the scale of the prior is %v; it must be a number > 0, or 0 for 1", c.Scale)
	case c.Landmarks < 0:
		return nil, fmt.Errorf("laplace: %d landmarks; there must be at least 1, or 0 for the default", c.Landmarks)
	case x.N < 1 || len(x.Layers) == 0:
		return nil, errors.New("laplace: no rows; a covariance needs at least 1")
	}
	if c.Scale == 0 {
		c.Scale = 1
	}
	if c.Landmarks == 0 {
		c.Landmarks = 1000
	}
	p := &Posterior{scale: c.Scale}
	step := len(x.Layers)
	if c.Layers {
		step = 1
	}
	for lo := 0; lo < len(x.Layers); lo += step {
		b := blockOf{lo: lo, hi: lo + step}
		if err := b.learn(x.layers(lo, lo+step), c); err != nil {
			return nil, err
		}
		p.blocks = append(p.blocks, b)
	}
	return p, nil
}

func (b *blockOf) learn(x *Rows, c Config) error {
	weights := x.Weights()
	form := c.Form
	if form == Auto {
		form = Kernel
		if weights <= min(x.N*x.K, c.Landmarks*x.K) {
			form = Weights
		}
	}
	if form == Weights {
		if weights > mostWeights {
			return fmt.Errorf("laplace: %d weights; the form Weights takes at most %d, Kernel any number", weights, mostWeights)
		}
		b.byWeights(x, c.Scale)
		return nil
	}
	b.byKernel(x, c)
	return nil
}

// byWeights factors the precision I + scale·Σ JᵀJ.
func (b *blockOf) byWeights(x *Rows, scale float64) {
	n := x.Weights()
	precision := make([]float64, n*n)
	j := make([]float64, n)
	for q := range x.N * x.K {
		x.Whole(q, j)
		for i, u := range j {
			if u != 0 {
				axpy(precision[i*n:][:i+1], scale*u, j)
			}
		}
	}
	for i := range n {
		precision[i*n+i]++
	}
	factor(precision, n)
	b.inverse = invert(precision, n)
	b.n = n
}

// byKernel finds the root of (K + 1)⁻¹ of all rows, or what stands for it with landmarks.
func (b *blockOf) byKernel(x *Rows, c Config) {
	if x.N <= c.Landmarks {
		b.landmarks = newSide(x)
		b.n = x.N * x.K
		k := make([]float64, b.n*b.n)
		b.landmarks.kernel(k, x)
		for i := range k {
			k[i] *= c.Scale
		}
		for i := range b.n {
			k[i*b.n+i]++
		}
		factor(k, b.n)
		b.root = invert(k, b.n)
		return
	}
	var rows []int
	for i := range c.Landmarks {
		rows = append(rows, i*x.N/c.Landmarks)
	}
	b.byLandmarks(x, x.Pick(rows), c.Scale)
}

// jitter keeps landmarks that are alike apart, relative to the mean of their own kernels.
const jitter = 1e-9

// byLandmarks: with K = L·Lᵀ the kernel of the landmarks and φ = L⁻¹k, weights vary by I along φ before
// rows are seen and by B⁻¹ = (I + Σ φφᵀ/(1+ρ))⁻¹ after. Across φ they vary as before, which adds ρ, what
// the landmarks do not explain of a row, to its noise.
func (b *blockOf) byLandmarks(x, marks *Rows, scale float64) {
	b.landmarks = newSide(marks)
	b.n = marks.N * marks.K
	n := b.n
	l := make([]float64, n*n)
	b.landmarks.kernel(l, marks)
	trace := 0.0
	for i := range n {
		trace += l[i*n+i] * scale
	}
	for i := range l {
		l[i] *= scale
	}
	for i := range n {
		l[i*n+i] += jitter*trace/float64(n) + 1e-300
	}
	factor(l, n)
	l = invert(l, n)
	gram := make([]float64, n*n)
	const rows = 64
	for lo := 0; lo < x.N; lo += rows {
		part := x.slice(lo, min(x.N, lo+rows))
		k := make([]float64, part.N*part.K*n)
		b.landmarks.kernel(k, part)
		own := make([]float64, part.N*part.K*part.K)
		part.own(own)
		phi := make([]float64, n)
		for q := range part.N * part.K {
			mulLower(phi, l, k[q*n:][:n], scale)
			across := max(0, scale*own[q*part.K+q%part.K]-dot(phi, phi))
			for i, u := range phi {
				axpy(gram[i*n:][:i+1], u/(1+across), phi)
			}
		}
	}
	for i := range n {
		gram[i*n+i]++
	}
	factor(gram, n)
	b.root, b.back = l, invert(gram, n)
}
