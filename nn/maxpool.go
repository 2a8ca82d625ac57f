package nn

import (
	"math"

	"utvi/special"
)

// MaxPool2D takes the maximum of each channel over windows of an image, cell by
// cell in reading order: after each cell, the maximum so far is taken as Normal
// with its exact mean and variance (Clark 1961). Two cells are exact; with more
// the true maximum is skewed, and what is carried is an approximation.
//
// For independent N(m₁, v₁) and N(m₂, v₂) with θ² = v₁ + v₂, let m₂ be the
// larger mean, x = (m₂ − m₁)/θ and z ~ N(−x, 1). Then
//
//	m' = m₂ + θ E[z⁺]          v' = v₁ Var[z⁺] + v₂ Var[z⁻]
//
// It follows from writing both as a common part, independent of their difference
// D ~ N(−θx, θ²), plus v₁/θ² and −v₂/θ² times D. Nothing cancels, and v' ≥ 0.
// With no variance it is the plain maximum, whose gradient goes to the first of
// equal cells.
//
// Cells at the border that fill no window are dropped. Windows that overlap
// share cells; their correlation is not carried on.
type MaxPool2D struct {
	Size   [2]int `json:"size"`             // height and width of a window
	Stride int    `json:"stride,omitempty"` // 0 stands for windows side by side
}

func (MaxPool2D) Kind() string { return "maxpool2d" }

func (l MaxPool2D) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindMaxPool(l, b) }
func (l MaxPool2D) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindMaxPool(l, b) }

// A larger is the maximum of two Normals and its derivatives.
type larger struct {
	m, v float64
	// ∂m/∂m₁, ∂m/∂m₂ and ∂m/∂v₁ = ∂m/∂v₂.
	mm1, mm2, mv float64
	// ∂v/∂m₁ = −∂v/∂m₂, ∂v/∂v₁ and ∂v/∂v₂.
	vm, vv1, vv2 float64
}

// farApart is the distance in θ beyond which the smaller one never wins: its
// chance is below the smallest number.
const farApart = 39

// maxOfTwo returns the moments of the larger of N(m1, v1) and N(m2, v2). The
// derivative ∂m/∂v, which grows like 1/θ where the means are equal, is 0 for
// θ = 0.
func maxOfTwo(m1, v1, m2, v2 float64) larger {
	if m1 >= m2 {
		l := maxOfTwoSorted(m2, v2, m1, v1)
		l.mm1, l.mm2, l.vv1, l.vv2, l.vm = l.mm2, l.mm1, l.vv2, l.vv1, -l.vm
		return l
	}
	return maxOfTwoSorted(m1, v1, m2, v2)
}

// maxOfTwoSorted is maxOfTwo for m1 ≤ m2.
func maxOfTwoSorted(m1, v1, m2, v2 float64) larger {
	theta := math.Sqrt(v1 + v2)
	d := m2 - m1
	if d >= farApart*theta {
		return larger{m: m2, v: v2, mm2: 1, vv2: 1}
	}
	x := d / theta
	pdf := special.PDF(x)
	win := pdf * special.Mills(x) // Φ(−x), the chance of the first
	r := max(0, pdf-x*win)        // E[z⁺]
	q := r + x                    // E[z⁻]
	// Var[z⁺] = E[(z⁺)²] − r², E[(z⁺)²] = Φ(−x) − x·r; Var[z⁺] + Var[z⁻] + 2rq = 1.
	p := max(0, win-r*q)
	n := 1 - p - 2*r*q
	// d Var[z⁺]/dx = −2r·Φ(x), d Var[z⁻]/dx = 2q·Φ(−x).
	slope := 2 * (v2*q*win - v1*r*(1-win))
	along := slope * x / (2 * theta * theta) // −∂x/∂v · slope
	return larger{
		m: m2 + theta*r, v: v1*p + v2*n,
		mm1: win, mm2: 1 - win, mv: pdf / (2 * theta),
		vm: -slope / theta, vv1: p - along, vv2: n - along,
	}
}
