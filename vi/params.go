// Package vi holds variational parameters: tensors of independent Normals, their
// priors, and the Kullback–Leibler divergence between the two.
//
// A random tensor has a mean μ and a ρ per weight, σ = softplus(ρ). With prior
// N(μ₀, σ₀²),
//
//	KL = Σ ln(σ₀/σ) + (σ² + (μ−μ₀)²)/(2σ₀²) − ½.
//
// A point tensor holds plain numbers: it has no ρ and no KL.
package vi

import (
	"fmt"
	"math"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/rng"
)

// Params are all parameters of a network, in one block of memory.
type Params[T gauss.Float] struct {
	Tensors []*Tensor[T]
	Theta   []T // every Mean and Rho
	Grad    []T // every GMean and GVar, in the layout of Theta

	// Prior is the prior of new random tensors; the zero value means N(0, 1). A layer
	// may give its tensors another prior.
	Prior Prior
}

func (p *Params[T]) add(t *Tensor[T]) *Tensor[T] {
	p.Tensors = append(p.Tensors, t)
	return t
}

// Random declares a tensor of Normal weights.
func (p *Params[T]) Random(name string, fanIn int, shape ...int) *Tensor[T] {
	return p.add(&Tensor[T]{Name: name, Shape: shape, Random: true, FanIn: fanIn, Prior: p.Prior.OrStandard()})
}

// RandomFrom declares a tensor of Normal weights that all start at the given
// mean and standard deviation.
func (p *Params[T]) RandomFrom(name string, mean, std float64, shape ...int) *Tensor[T] {
	t := p.Random(name, 1, shape...)
	t.fill, t.start = func(int) float64 { return mean }, std
	return t
}

// Point declares a tensor of plain numbers. fill returns their starting values; with a
// nil fill they start like the means of a random tensor.
func (p *Params[T]) Point(name string, fanIn int, fill func(i int) float64, shape ...int) *Tensor[T] {
	return p.add(&Tensor[T]{Name: name, Shape: shape, FanIn: fanIn, NoDecay: fill != nil, fill: fill})
}

// Alloc allocates the memory of all declared tensors.
func (p *Params[T]) Alloc() {
	p.Theta = p.layout(func(t *Tensor[T], mean, rho []T) { t.Mean, t.Rho = mean, rho })
}

// AllocGrads allocates the gradients of all tensors.
func (p *Params[T]) AllocGrads() {
	if p.Grad == nil {
		p.Grad = p.layout(func(t *Tensor[T], mean, rho []T) { t.GMean, t.GVar = mean, rho })
	}
}

func (p *Params[T]) layout(assign func(t *Tensor[T], mean, rho []T)) []T {
	size := 0
	for _, t := range p.Tensors {
		size += t.Len()
		if t.Random {
			size += t.Len()
		}
	}
	flat := compute.Make[T](size)
	rest := flat
	take := func(n int) []T {
		s := rest[:n:n]
		rest = rest[n:]
		return s
	}
	for _, t := range p.Tensors {
		mean := take(t.Len())
		var rho []T
		if t.Random {
			rho = take(t.Len())
		}
		assign(t, mean, rho)
	}
	return flat
}

// Start sets every tensor to its starting values, drawn from key.
func (p *Params[T]) Start(key rng.Key, init Init) {
	init = init.orDefault()
	for i, t := range p.Tensors {
		k := key.Sub(uint64(i), 0)
		bound := 1 / math.Sqrt(float64(max(1, t.FanIn)))
		for j := range t.Mean {
			if t.fill != nil {
				t.Mean[j] = T(t.fill(j))
				continue
			}
			t.Mean[j] = T(bound * (2*rng.Uniform(k, uint64(2*j)) - 1))
		}
		for j := range t.Rho {
			u := rng.Uniform(k, uint64(2*j+1))
			t.Rho[j] = T(init.RhoMin + (init.RhoMax-init.RhoMin)*u)
			if t.start > 0 {
				t.Rho[j] = T(special.SoftplusInverse(t.start))
			}
		}
	}
}

// KL returns the divergence of all random tensors from their priors.
func (p *Params[T]) KL() float64 {
	var sum float64
	for _, t := range p.Tensors {
		sum += t.KL()
	}
	return sum
}

// CheckFinite returns an error that names the first tensor with a NaN or an infinity.
func (p *Params[T]) CheckFinite() error {
	for _, t := range p.Tensors {
		if !compute.Finite(t.Mean...) || !compute.Finite(t.Rho...) || !compute.Finite(t.Center...) || !compute.Finite(t.Spread...) {
			return fmt.Errorf("%s holds a number that is not finite", t.Name)
		}
	}
	return nil
}

// CheckGrads returns an error that names the first tensor whose gradient is not
// finite.
func (p *Params[T]) CheckGrads() error {
	for _, t := range p.Tensors {
		if !compute.Finite(t.GMean...) || !compute.Finite(t.GVar...) {
			return fmt.Errorf("the gradient of %s is not finite", t.Name)
		}
	}
	return nil
}

// Share makes p use the memory of q, which must have the same layout.
func (p *Params[T]) Share(q *Params[T]) {
	p.Theta = q.Theta
	for i, t := range q.Tensors {
		p.Tensors[i].Mean = t.Mean
		p.Tensors[i].Rho = t.Rho
		p.Tensors[i].Prior = t.Prior
		p.Tensors[i].Center = t.Center
		p.Tensors[i].Spread = t.Spread
	}
}

// Like returns parameters of zeros with the layout of p, for the memory of an
// optimiser.
func (p *Params[T]) Like() *Params[T] {
	q := &Params[T]{}
	for _, t := range p.Tensors {
		q.Tensors = append(q.Tensors, &Tensor[T]{Name: t.Name, Shape: t.Shape, Random: t.Random})
	}
	q.Alloc()
	return q
}
