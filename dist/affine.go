package dist

import "math"

// Affine is the distribution of Scale·X + Shift, for example a standardised target
// converted back to its unit. Scale must be > 0.
type Affine struct {
	Dist
	Scale, Shift float64
}

// Mean implements Dist.
func (a Affine) Mean() float64 { return a.Scale*a.Dist.Mean() + a.Shift }

// SD implements Dist.
func (a Affine) SD() float64 { return a.Scale * a.Dist.SD() }

// LogPDF implements Dist: a density per unit of the new scale.
func (a Affine) LogPDF(x float64) float64 { return a.Dist.LogPDF(a.back(x)) - math.Log(a.Scale) }

// CDF implements Dist.
func (a Affine) CDF(x float64) float64 { return a.Dist.CDF(a.back(x)) }

// Quantile implements Dist.
func (a Affine) Quantile(p float64) float64 { return a.Scale*a.Dist.Quantile(p) + a.Shift }

// CRPS implements Dist.
func (a Affine) CRPS(y float64) float64 { return a.Scale * a.Dist.CRPS(a.back(y)) }

func (a Affine) back(x float64) float64 { return (x - a.Shift) / a.Scale }
