package nn

import "utvi/gauss"

// MaxPool2D takes the maximum of each channel over windows of an image, cell by
// cell in reading order: after each cell, the maximum so far is taken as Normal
// with its exact mean and variance (Clark 1961).
//
// The larger of two is one of them plus the ReLU of their difference. For
// independent N(m₁, v₁) and N(m₂, v₂), m₂ ≥ m₁, let D = m₁ − m₂, θ² = v₁ + v₂,
// and μ, u the mean and variance of the ReLU of N(D, θ²). Then
//
//	m' = m₂ + μ          v' = v₁ u/θ² + v₂ (1 − (u + 2μ(μ−D))/θ²)
//
// where the factors of v₁ and v₂ are the variances of the positive and of the
// negative part of N(D/θ, 1): nothing cancels, and v' ≥ 0. It follows from writing
// both as a common part, independent of their difference, plus v₁/θ² and −v₂/θ²
// times the difference. Without variance it is the plain maximum, whose gradient
// goes to the first of equal cells.
//
// Two cells are exact. With more cells, the maximum so far is skewed and not Normal.
// For four equal cells the mean is 0.002 standard deviations too large and the variance
// 4 % too small; for nine equal cells, 0.002 and 11 %. The worst case is a
// wide cell before narrow ones of the same mean (σ 1, then three of 0.1): 0.15 and 47 %;
// with the wide cell last: 0.0001 and 0.04 %.
//
// Cells at the border that fill no window are dropped. With Pad, windows reach over the
// border; the cells outside of the image do not take part. Windows that overlap
// share cells; the correlation of their maxima is carried only inside Correlated. The
// cells of one window are always taken as independent of each other.
type MaxPool2D struct {
	Size   [2]int `json:"size"`             // height and width of a window
	Stride int    `json:"stride,omitempty"` // 0 means windows side by side
	Pad    [4]int `json:"pad,omitzero"`     // cells above, left, below and right of the image
}

// Kind is "maxpool2d", as model files and the names of parameters have it.
func (MaxPool2D) Kind() string { return "maxpool2d" }

// Bind32 fits the windows into the image; it declares nothing.
func (l MaxPool2D) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindMaxPool(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l MaxPool2D) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindMaxPool(l, b) }

// A larger is the maximum of two Normals and its derivatives.
type larger[T gauss.Float] struct {
	m, v         T
	mm1, mm2, mv T // ∂m/∂m₁, ∂m/∂m₂ and ∂m/∂v₁ = ∂m/∂v₂
	vm, vv1, vv2 T // ∂v/∂m₁ = −∂v/∂m₂, ∂v/∂v₁ and ∂v/∂v₂
}

// difference returns the Normal whose ReLU largerOf needs.
func difference[T gauss.Float](m1, v1, m2, v2 T) (mean, variance T) {
	return min(m1-m2, m2-m1), v1 + v2
}

// set makes l the larger of N(m1, v1) and N(m2, v2) from the moments mu and u of
// the ReLU of their difference, ∂mu/∂mean, the chance that the smaller one wins,
// and ∂mu/∂variance.
func (l *larger[T]) set(m1, v1, m2, v2, mu, u, chance, mv T) {
	d, s := difference(m1, v1, m2, v2)
	if s == 0 {
		s = 1 // mu and u are zero
	}
	a, b := v1/s, v2/s
	low, high := u/s, 1-(u+2*mu*(mu-d))/s
	l.mv = mv
	if m1 >= m2 {
		vm := 2 * (a*(mu-d)*chance - b*mu*(1-chance))
		along := vm * d / (2 * s)
		l.m, l.v = m1+mu, v1*high+v2*low
		l.mm1, l.mm2 = 1-chance, chance
		l.vm = vm
		l.vv1 = high + along
		l.vv2 = low + along
		return
	}
	vm := 2 * (a*mu*(1-chance) - b*(mu-d)*chance)
	along := vm * d / (2 * s)
	l.m, l.v = m2+mu, v1*low+v2*high
	l.mm1, l.mm2 = chance, 1-chance
	l.vm = vm
	l.vv1 = low - along
	l.vv2 = high - along
}
