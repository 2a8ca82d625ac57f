package vi

import (
	"math"

	"utvi/gauss"
	"utvi/internal/special"
)

// A Tensor is one named block of parameters.
type Tensor[T gauss.Float] struct {
	Name    string
	Shape   []int
	Random  bool
	FanIn   int
	NoDecay bool // the weight decay leaves it alone, such as a learned scale
	Running bool // numbers that follow the data: GMean is their distance from those of the batch
	Prior   Prior

	Mean, Rho []T // Rho is nil in a point tensor

	// Center moves the prior of each weight: its mean is Prior.Mean + Center[i], and the
	// weight decay pulls towards Center. Nil moves nothing. It is set where a network
	// starts from weights that were trained elsewhere.
	Center []T

	// Spread is the standard deviation of each weight's own prior, in place of Prior.Std,
	// as Promote sets it. Nil: all weights have Prior.Std. Empirical Bayes leaves such a
	// tensor alone.
	Spread []T

	// GMean and GVar are the loss gradients with respect to the mean and the
	// *variance*; the optimiser applies the chain rule to ρ. They exist after
	// AllocGrads.
	GMean, GVar []T

	fill  func(i int) float64 // starting values of the means; nil: drawn
	start float64             // starting value of every σ; 0: drawn
}

// Len returns the number of weights.
func (t *Tensor[T]) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// center is the centre of weight i.
func (t *Tensor[T]) center(i int) float64 {
	if t.Center == nil {
		return 0
	}
	return float64(t.Center[i])
}

// spread is the standard deviation of the prior of weight i.
func (t *Tensor[T]) spread(i int) float64 {
	if t.Spread == nil {
		return t.Prior.Std
	}
	return float64(t.Spread[i])
}

// KL returns the divergence of the tensor from its prior. It is 0 for a point tensor.
func (t *Tensor[T]) KL() float64 {
	var sum float64
	m0 := t.Prior.Mean
	for i, rho := range t.Rho {
		s0 := t.spread(i)
		s := special.Softplus(float64(rho))
		d := float64(t.Mean[i]) - m0 - t.center(i)
		sum += math.Log(s0/s) + (s*s+d*d)/(2*s0*s0) - 0.5
	}
	return sum
}
