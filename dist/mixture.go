package dist

import (
	"math"

	"utvi/internal/special"
)

// Mixture is a weighted mixture of Normals. The zero value is empty: Add adds a part,
// Reset removes all parts and keeps the memory. The weights need not sum to 1. A
// *Mixture with at least one part is a Dist.
type Mixture struct {
	parts []part
	total float64 // Σ w
}

// A part is a Normal with its weight w; inv is 1/sigma.
type part struct{ w, mu, sigma, inv float64 }

func (p *part) z(x float64) float64 { return (x - p.mu) * p.inv }

// Reset empties the mixture.
func (m *Mixture) Reset() { m.parts, m.total = m.parts[:0], 0 }

// Add adds a Normal. Its weight must be > 0.
func (m *Mixture) Add(weight, mu, sigma float64) {
	if !(weight > 0) || math.IsInf(weight, 1) {
		panic("dist: a weight must be finite and > 0")
	}
	if sigma <= 0 {
		panic("dist: a standard deviation must be > 0")
	}
	m.parts = append(m.parts, part{weight, mu, sigma, 1 / sigma})
	m.total += weight
}

// Len returns the number of parts.
func (m *Mixture) Len() int { return len(m.parts) }

// Mean implements Dist.
func (m *Mixture) Mean() (mean float64) {
	for _, p := range m.parts {
		mean += p.w / m.total * p.mu
	}
	return mean
}

// SD implements Dist: the variance is the mean of the parts' variances and the
// variance of their means.
func (m *Mixture) SD() float64 {
	mean, v := m.Mean(), 0.0
	for _, p := range m.parts {
		d := p.mu - mean
		v += p.w / m.total * (p.sigma*p.sigma + d*d)
	}
	return math.Sqrt(v)
}

// LogPDF implements Dist. Terms are measured relative to the nearest part, so nothing
// underflows.
func (m *Mixture) LogPDF(x float64) float64 {
	least := math.Inf(1)
	for i := range m.parts {
		least = min(least, math.Abs(m.parts[i].z(x)))
	}
	if math.IsInf(least, 1) {
		return math.Inf(-1)
	}
	var sum float64
	for i := range m.parts {
		p := &m.parts[i]
		z := math.Abs(p.z(x))
		sum += p.w * p.inv * math.Exp(0.5*(least-z)*(least+z))
	}
	return math.Log(sum/m.total) - 0.5*least*least - halfLog2Pi
}

// CDF implements Dist.
func (m *Mixture) CDF(x float64) float64 { return m.tail(x, 1) }

// tail returns P(X ≤ x) for side 1 and P(X > x) for side −1.
func (m *Mixture) tail(x, side float64) (sum float64) {
	for i := range m.parts {
		p := &m.parts[i]
		sum += p.w * special.CDF(side*p.z(x))
	}
	return min(sum/m.total, 1)
}

// CRPS implements Dist (Grimit et al. 2006): with A(m, s) = E|N(m, s²)|,
//
//	Σ wᵢ A(y−μᵢ, σᵢ) − ½ ΣΣ wᵢ wⱼ A(μᵢ−μⱼ, √(σᵢ²+σⱼ²))
//
// Its time grows with the square of the number of parts.
func (m *Mixture) CRPS(y float64) float64 {
	var near, apart float64
	for i := range m.parts {
		p := &m.parts[i]
		near += p.w * absMean(y-p.mu, p.sigma)
		apart += 0.5 * p.w * p.w * absMean(0, math.Sqrt2*p.sigma)
		for j := range m.parts[:i] {
			q := &m.parts[j]
			apart += p.w * q.w * absMean(p.mu-q.mu, math.Sqrt(p.sigma*p.sigma+q.sigma*q.sigma))
		}
	}
	return (near - apart/m.total) / m.total
}
