package dist

// Positive is the distribution of a target that is never negative, made of one that may
// reach below 0 where it was stretched or where its tail is long: what lies below counts
// as 0. The density below 0 stays, so that a target that is negative after all has a
// finite score.
type Positive struct{ Dist }

// CDF implements Dist.
func (d Positive) CDF(y float64) float64 {
	if y < 0 {
		return 0
	}
	return d.Dist.CDF(y)
}

// Quantile implements Dist.
func (d Positive) Quantile(p float64) float64 { return max(0, d.Dist.Quantile(p)) }

// Mean implements Dist.
func (d Positive) Mean() float64 { return max(0, d.Dist.Mean()) }
