package dist

import (
	"math"

	"utvi/internal/special"
)

const (
	halfLog2Pi = 0.918938533204672741780329736405617640
	invSqrtPi  = 0.564189583547756286948079451560772586
)

// Normal is a Normal distribution. Sigma must be > 0.
type Normal struct{ Mu, Sigma float64 }

// Mean implements Dist.
func (n Normal) Mean() float64 { return n.Mu }

// SD implements Dist.
func (n Normal) SD() float64 { return n.Sigma }

// LogPDF implements Dist.
func (n Normal) LogPDF(x float64) float64 {
	z := (x - n.Mu) / n.Sigma
	return -0.5*z*z - math.Log(n.Sigma) - halfLog2Pi
}

// CDF implements Dist.
func (n Normal) CDF(x float64) float64 { return special.CDF((x - n.Mu) / n.Sigma) }

// Quantile implements Dist.
func (n Normal) Quantile(p float64) float64 { return n.Mu + n.Sigma*special.Quantile(p) }

// CRPS implements Dist: with z = (y−μ)/σ it is
//
//	σ·(2φ(z) + z·(2Φ(z) − 1) − 1/√π)
func (n Normal) CRPS(y float64) float64 {
	return absMean(y-n.Mu, n.Sigma) - n.Sigma*invSqrtPi
}

// absMean returns E|X| = 2sφ(m/s) + m·(2Φ(m/s) − 1) for X ~ N(m, s²).
func absMean(m, s float64) float64 {
	if m == 0 {
		return s * math.Sqrt2 * invSqrtPi
	}
	z := m / s
	return 2*s*special.PDF(z) + m*math.Erf(z/math.Sqrt2)
}
