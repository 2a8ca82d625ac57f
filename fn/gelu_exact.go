package fn

import (
	"math"

	"utvi/internal/special"
	"utvi/moment"
)

// geluMoments are the moments of f(x) = xΦ(x). With s² = 1+v and h = m/s,
//
//	E f   = mΦ(h) + vφ(h)/s          E f′  = Φ(h) + hφ(h)/s²
//	E f″  = φ(h)(1 + (1−h²)/s²)/s    E f‴  = −hφ(h)(1 + (3−h²)/s²)/s²
//
// For X, Y ~ N(m, v) with covariance c, Price's theorem (1958) gives
// d/dc Cov(f(X), f(Y)) = E f′(X)f′(Y), and once more with f″. Taken from c = 0
// to c = v,
//
//	var = v(E f′)² + ∫₀ᵛ (v−c)·E[f″(X)f″(Y)] dc
//
// where f″ = φ(x)(2−x²) makes the integrand an elementary Gaussian moment that
// is never negative: see geluPair. So nothing cancels, neither in the tails nor
// as v → 0. Owen's substitution c = s²(1−x²)/(1+x²) turns the integral into a
// slice of his T. The derivatives are ∂var/∂m = 2Cov(f, f′) and
// ∂var/∂v = E f′² + Cov(f, f″), taken apart in the same way.
func geluMoments(m, v float64) moment.Jet {
	s2 := 1 + v
	s := math.Sqrt(s2)
	h := m / s
	p := special.PDF(h)
	if p == 0 { // φ is zero to the last bit, f is the ReLU
		if m < 0 {
			return moment.Jet{}
		}
		return moment.Jet{Mean: m, Var: v, MeanByMean: 1, VarByVar: 1}
	}
	mean := m*special.CDF(h) + v*p/s
	if h < -1 { // the same with |h|·Φ(h) = φ(h)(1 − I₁)
		mean = p * (s*special.Tail(-h).I1 - 1/s)
	}
	e1 := special.CDF(h) + h*p/s2
	e2 := p * (1 + (1-h*h)/s2) / s
	e3 := -h * p * (1 + (3-h*h)/s2) / s2

	a, width := owenSpan(v)
	var spread, spreadByMean, spreadByVar float64 // the integral and its derivatives
	special.OwenSlice(h, a, width, 0, func(x, fromA, w float64) {
		q := 1 + x*x
		room := s2 * 2 * fromA * (x + a) / ((1 + a*a) * q) // v − c
		g := newGeluPair(m, s2, x)
		w /= q * math.Pi
		spread += w * room * g.p
		spreadByMean += w * room * g.byMean()
		spreadByVar += w * (g.p + room*g.byVar())
	})
	return moment.Jet{
		Mean: mean, Var: v*e1*e1 + spread,
		MeanByMean: e1, MeanByVar: e2 / 2,
		VarByMean: 2 * (v*e1*e2 + spreadByMean), VarByVar: e1*e1 + v*e1*e3 + spreadByVar,
	}
}

// A geluPair is the Gaussian moment behind E[f″(X)f″(Y)] at one covariance c,
// with A = 1+v+c and B = 1+v−c. Under N(m, …)·φ(X)φ(Y) both have mean μ = m/A,
// variance V = 1 − (1/A + 1/B)/2 and covariance k = (1/B − 1/A)/2, so that
//
//	P = E[(2−X²)(2−Y²)] = (2−μ²−V)² + 4μ²k + 2k²
//
// and E[f″(X)f″(Y)] = P·exp(−m²/A)/(2π√(AB)).
type geluPair struct{ ia, ib, mu, two, k, p float64 }

func newGeluPair(m, s2, x float64) geluPair {
	q := 1 + x*x
	g := geluPair{ia: q / (2 * s2), ib: q / (2 * s2 * x * x)}
	g.mu = m * g.ia
	g.k = g.ia * (1 - x*x) / (2 * x * x)
	g.two = 2 - g.mu*g.mu - (1 - (g.ia+g.ib)/2)
	g.p = g.two*g.two + 4*g.mu*g.mu*g.k + 2*g.k*g.k
	return g
}

// byMean is E[f″(X)f‴(Y)], half the derivative with respect to m.
func (g geluPair) byMean() float64 {
	return g.mu * (-g.p + g.ia*(4*g.k-2*g.two))
}

// byVar is E[f″(X)f⁗(Y)], the derivative with respect to v at constant c.
func (g geluPair) byVar() float64 {
	mu2 := g.mu * g.mu
	a2, b2 := g.ia*g.ia, g.ib*g.ib
	dk := (a2 - b2) / 2
	dp := 2*g.two*(2*mu2*g.ia-(a2+b2)/2) - 8*mu2*g.ia*g.k + 4*mu2*dk + 4*g.k*dk
	return (mu2-(g.ia+g.ib)/2)*g.p + dp
}
