package kernel

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// This file is the plain arithmetic between the products. Every family computes
// the same bits; AnyBelow may differ within rounding of its bound.

// TwiceMul computes x = 2·x∘y.
func TwiceMul[T compute.Float](x, y []T) { TwiceMulTo(x, x, y) }

// TwiceMulTo computes dst = 2·x∘y.
func TwiceMulTo[T compute.Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	if cpu.Is32[T]() && cpu.Vector && len(dst) > 0 {
		twiceMulVector(cpu.As32(dst), cpu.As32(x), cpu.As32(y))
		return
	}
	for i := range dst {
		dst[i] = 2 * x[i] * y[i]
	}
}

// MulTo computes dst = x∘y.
func MulTo[T compute.Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	if cpu.Is32[T]() && cpu.Vector && len(dst) > 0 {
		mulToVector(cpu.As32(dst), cpu.As32(x), cpu.As32(y))
		return
	}
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

// ScaleTo computes dst = by·x.
func ScaleTo[T compute.Float](dst, x []T, by T) {
	x = x[:len(dst)]
	if cpu.Is32[T]() && cpu.Vector && len(dst) > 0 {
		scaleToVector(cpu.As32(dst), cpu.As32(x), float32(by))
		return
	}
	for i := range dst {
		dst[i] = by * x[i]
	}
}

// SubTo computes dst = x − y.
func SubTo[T compute.Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	if cpu.Is32[T]() && cpu.Vector && len(dst) > 0 {
		subToVector(cpu.As32(dst), cpu.As32(x), cpu.As32(y))
		return
	}
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
}

// Add computes x += y.
func Add[T compute.Float](x, y []T) {
	y = y[:len(x)]
	if cpu.Is32[T]() && cpu.Vector && len(x) > 0 {
		addVector(cpu.As32(x), cpu.As32(y))
		return
	}
	for i := range x {
		x[i] += y[i]
	}
}

// AddTwiceMul computes x += 2·y∘z, the product rounded before it is added.
func AddTwiceMul[T compute.Float](x, y, z []T) {
	y, z = y[:len(x)], z[:len(x)]
	if cpu.Is32[T]() && cpu.Vector && len(x) > 0 {
		addTwiceMulVector(cpu.As32(x), cpu.As32(y), cpu.As32(z))
		return
	}
	for i := range x {
		x[i] += T(2 * y[i] * z[i])
	}
}

// AnyBelow reports whether some s[i] ≥ 0 is positive and less than rel + rel·|m[i]|.
func AnyBelow[T compute.Float](s, m []T, rel T) bool {
	m = m[:len(s)]
	if cpu.Is32[T]() && cpu.Vector && len(s) > 0 {
		return anyBelowVector(cpu.As32(s), cpu.As32(m), float32(rel))
	}
	for i, s := range s {
		if s < rel+T(rel*max(m[i], -m[i])) && s > 0 {
			return true
		}
	}
	return false
}

// AllFinite reports whether the squares of g are finite and can be summed in T: no
// element is NaN, infinite or too large.
func AllFinite[T compute.Float](g []T) bool {
	var sum T
	if cpu.Is32[T]() && cpu.Vector && len(g) > 0 {
		sum = T(squaresVector(cpu.As32(g)))
	} else {
		for _, g := range g {
			sum += T(g * g)
		}
	}
	return sum-sum == 0
}
