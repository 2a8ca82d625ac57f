package dist

// Bounded is the distribution of a target that lies between bounds, made of one that may
// reach beyond them where it was stretched or where its tail is long: what lies beyond
// counts as the bound. The density beyond stays, so that a target that lies there after all
// has a finite score.
type Bounded struct {
	Dist
	Min, Max float64 // may be infinite
}

// CDF implements Dist.
func (d Bounded) CDF(y float64) float64 {
	switch {
	case y < d.Min:
		return 0
	case y >= d.Max:
		return 1
	}
	return d.Dist.CDF(y)
}

// Quantile implements Dist.
func (d Bounded) Quantile(p float64) float64 { return d.Clip(d.Dist.Quantile(p)) }

// Mean implements Dist.
func (d Bounded) Mean() float64 { return d.Clip(d.Dist.Mean()) }

// Clip is the value nearest to v between the bounds.
func (d Bounded) Clip(v float64) float64 { return min(max(v, d.Min), d.Max) }
