package dist

import (
	"math"

	"utvi/internal/counts"
	"utvi/internal/special"
)

// Counts is a weighted mixture of negative binomials, each with its mean and variance, for
// whole numbers from 0. The zero value is empty: Add adds a part, Reset removes all parts
// and keeps the memory. A *Counts with at least one part is a Dist. CDF, Quantile and CRPS visit
// every count that has a probability, so they take as long as there are such counts.
//
// As a Dist, it spreads the probability of a count n evenly over n ± ½: it has a density,
// which at n is the probability of n, and can be scaled and bent like any other. Mean, SD
// and CRPS are those of the count. Whole makes it whole again.
type Counts struct {
	parts []countPart
	total float64 // Σ w
}

// A countPart is a negative binomial with its weight; size is 0 for a Poisson.
type countPart struct {
	w, mean, size float64
	log           float64 // ln of what a size of 1 has: mean, or mean/size
	start         float64 // below it there is nothing that counts
}

// Reset empties the mixture.
func (c *Counts) Reset() { c.parts, c.total = c.parts[:0], 0 }

// Add adds a negative binomial: a Poisson if the variance is not larger than the mean. A
// variance above mean + 4·mean² counts as that. The weight must be > 0, the mean ≥ 0.
func (c *Counts) Add(weight, mean, variance float64) {
	if !(weight > 0) || math.IsInf(weight, 1) {
		panic("dist: a weight must be finite and > 0")
	}
	if !(mean >= 0) || math.IsInf(mean, 1) {
		panic("dist: the mean of counts must be finite and ≥ 0")
	}
	p := newCount(mean, variance)
	p.w = weight
	c.parts = append(c.parts, p)
	c.total += weight
}

// LogCount returns the logarithm of the probability of a count n under one part of Counts.
func LogCount(n, mean, variance float64) float64 {
	p := newCount(mean, variance)
	return p.logMass(n)
}

func newCount(mean, variance float64) countPart {
	const least, equal = 1e-9, 1e-6
	p := countPart{mean: max(mean, least)}
	if a := min((variance-p.mean)/(p.mean*p.mean), counts.MostDispersion); a*p.mean > equal {
		p.size = 1 / a
		p.log = math.Log(p.mean * a)
	} else {
		p.log = math.Log(p.mean)
	}
	// The lower tail is lighter than a Normal's.
	p.start = max(0, math.Floor(p.mean-9*math.Sqrt(p.variance())))
	return p
}

func (p *countPart) variance() float64 {
	if p.size == 0 {
		return p.mean
	}
	return p.mean + p.mean*p.mean/p.size
}

// logMass is the logarithm of the probability of n.
func (p *countPart) logMass(n float64) float64 {
	own, _ := math.Lgamma(n + 1)
	if p.size == 0 {
		return n*p.log - p.mean - own
	}
	both, _ := math.Lgamma(n + p.size)
	size, _ := math.Lgamma(p.size)
	return both - size - own + n*p.log - (n+p.size)*special.Softplus(p.log)
}

// ratio is the probability of n+1 relative to that of n.
func (p *countPart) ratio(n float64) float64 {
	if p.size == 0 {
		return p.mean / (n + 1)
	}
	return (n + p.size) / (n + 1) * p.mean / (p.mean + p.size)
}

// Mean implements Dist.
func (c *Counts) Mean() (mean float64) {
	for i := range c.parts {
		mean += c.parts[i].w / c.total * c.parts[i].mean
	}
	return mean
}

// SD implements Dist.
func (c *Counts) SD() float64 {
	mean, v := c.Mean(), 0.0
	for i := range c.parts {
		p := &c.parts[i]
		v += p.w / c.total * (p.variance() + (p.mean-mean)*(p.mean-mean))
	}
	return math.Sqrt(v)
}

// LogPDF implements Dist: the logarithm of the probability of the nearest count.
func (c *Counts) LogPDF(x float64) float64 {
	n := math.Floor(x + 0.5)
	if !(n >= 0) || math.IsInf(n, 1) {
		return math.Inf(-1)
	}
	top, sum := math.Inf(-1), 0.0
	for i := range c.parts {
		l := math.Log(c.parts[i].w) + c.parts[i].logMass(n)
		if l > top {
			sum, top = sum*math.Exp(top-l)+1, l
		} else {
			sum += math.Exp(l - top)
		}
	}
	return top + math.Log(sum/c.total)
}

// walk visits counts in ascending order with their probabilities, from the first that has
// one, until visit returns false or nothing remains. It returns the first count.
func (c *Counts) walk(visit func(n, mass float64) bool) (first float64) {
	const nothing = 1e-19
	var room [64]float64
	masses := room[:]
	if len(c.parts) > len(room) {
		masses = make([]float64, len(c.parts))
	}
	first, top := math.Inf(1), 0.0
	for i := range c.parts {
		first, top = min(first, c.parts[i].start), max(top, c.parts[i].mean)
	}
	if len(c.parts) == 0 {
		panic("dist: a mixture of counts without parts is no distribution")
	}
	for n := first; ; n++ {
		var sum float64
		for i := range c.parts {
			p := &c.parts[i]
			if n == p.start {
				masses[i] = math.Exp(p.logMass(n))
			}
			sum += p.w * masses[i]
			masses[i] *= p.ratio(n)
		}
		sum /= c.total
		if !visit(n, sum) || n > top && sum < nothing {
			return first
		}
	}
}

// CDF implements Dist.
func (c *Counts) CDF(x float64) float64 {
	at := math.Floor(x + 0.5)
	if !(at >= 0) {
		return 0
	}
	var below float64
	c.walk(func(n, mass float64) bool {
		if n >= at {
			if n == at {
				below += (x + 0.5 - at) * mass
			}
			return false
		}
		below += mass
		return true
	})
	return min(below, 1)
}

// Quantile implements Dist.
func (c *Counts) Quantile(p float64) float64 {
	switch {
	case !(p >= 0 && p <= 1):
		return math.NaN()
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	}
	var below, x float64
	c.walk(func(n, mass float64) bool {
		if below+mass >= p && mass > 0 {
			x = n - 0.5 + max(0, (p-below)/mass)
			return false
		}
		below, x = below+mass, n+0.5
		return true
	})
	return x
}

// CRPS implements Dist: Σ (P(X ≤ n) − [y ≤ n])² over all n.
func (c *Counts) CRPS(y float64) float64 {
	at := math.Floor(y + 0.5)
	var below, sum, last float64
	first := c.walk(func(n, mass float64) bool {
		below = min(below+mass, 1)
		d := below
		if n >= at {
			d = 1 - below
		}
		sum += d * d
		last = n
		return true
	})
	return sum + max(0, first-at) + max(0, at-last-1)
}
