// Package moment pushes Gaussian moments through functions.
//
// Given x ~ N(m, v) and a nonlinearity f, a [Rule] approximates the mean and the
// variance of f(x) and their derivatives with respect to m and v. A rule knows
// where to look, a [Func] gives the value there; any rule works with any function.
//
// Point rules look at x_k = m + ξ_k·σ with weights w_k and combine what they see
// about a reference point, so that nothing cancels (d_k = f(x_k) − f₀, M = Σ w d):
//
//	mean = f₀ + M                ∂mean/∂m = Σ w f'       ∂mean/∂σ = Σ w ξ f'
//	var  = c·Σ w (d − M)²        ∂var/∂m = 2c Σ w (d−M) f'
//	                             ∂var/∂σ = 2c Σ w (d−M) ξ f'
//
// with ∂/∂v = ∂/∂σ /(2σ), and c = 1 for quadrature, n/(n−1) for n samples.
//
// When v is exactly zero, the mean is f(m), the variance 0, ∂var/∂v = f'(m)² and
// ∂mean/∂v = 0. When σ is tiny relative to m, and f is smooth with a known second
// derivative, the Taylor limit is used; see [Func].
package moment
