package likelihood

import (
	"fmt"
	"math"
	"slices"

	"utvi/internal/special"
)

// Count scores whole numbers y ≥ 0: the first output of a target is the logarithm ℓ of
// their mean. Without Dispersed, y given ℓ is Poisson(e^ℓ), and each target has one output.
// With it, y is negative binomial, with a second output a, the logarithm of the dispersion:
//
//	E[y|ℓ] = e^ℓ          Var[y|ℓ] = e^ℓ + e^a·e^2ℓ
//
// Outputs are the ℓ of all targets first, then their a. For ℓ ~ N(m, v), with r = e^−a, the
// expected score is
//
//	E_q[−ln p(y|ℓ)] = ln Γ(r) + ln y! − ln Γ(y+r) − y·(m+a) + (y+r)·E softplus(ℓ+a)
//
// The dispersion is read at the mean of a, whose variance is not used: it is a learned
// number, nn.Append. It stays between e^−12 and e^5.
type Count struct {
	Dispersed bool `json:"dispersed,omitempty"`

	// Scale says how counts are encoded; nil: targets are the counts themselves.
	Scale *CountScale `json:"scale,omitempty"`
}

// A CountScale says for each target that a count n is encoded as Zero + n·Step.
// Predictions are encoded in the same way. The logarithm of the mean is ℓ = Base + the
// first output, so that an output of 0 can be what all rows have in common.
type CountScale struct {
	Zero []float64 `json:"zero"`
	Step []float64 `json:"step"`
	Base []float64 `json:"base,omitempty"` // nil: 0

	// Most bounds the means of predictions, in counts; nil: no bound. Far from the
	// training rows an exponential of a weighted sum means nothing.
	Most []float64 `json:"most,omitempty"`
}

func (s *CountScale) check(targets int) error {
	if s == nil {
		return nil
	}
	notFinite := func(v float64) bool { return v-v != 0 }
	bad := func(v float64) bool { return !(v > 0) || math.IsInf(v, 1) }
	switch {
	case len(s.Zero) != targets || len(s.Step) != targets || s.Base != nil && len(s.Base) != targets || s.Most != nil && len(s.Most) != targets:
		return fmt.Errorf("likelihood count: a scale of %d zeros, %d steps, %d bases and %d bounds; there are %d targets", len(s.Zero), len(s.Step), len(s.Base), len(s.Most), targets)
	case slices.ContainsFunc(s.Step, bad) || slices.ContainsFunc(s.Most, bad) || slices.ContainsFunc(s.Zero, notFinite) || slices.ContainsFunc(s.Base, notFinite):
		return fmt.Errorf("likelihood count: zeros %v, steps %v, bases %v and bounds %v; all must be finite, steps and bounds > 0", s.Zero, s.Step, s.Base, s.Most)
	}
	return nil
}

// Bounds of the logarithm of the dispersion.
const (
	leastLogDispersion = -12
	mostLogDispersion  = 5
)

// LogDispersion returns the bounds of the logarithm of the dispersion.
func (Count) LogDispersion() (least, most float64) { return leastLogDispersion, mostLogDispersion }

// Kind implements Likelihood.
func (Count) Kind() string { return "count" }

// String implements Likelihood.
func (l Count) String() string {
	if l.Dispersed {
		return "negative binomial counts"
	}
	return "poisson counts"
}

// NeedsVariance implements Likelihood.
func (Count) NeedsVariance() bool { return false }

// Targets implements Likelihood: one target for each output, or for every two.
func (l Count) Targets(outputs int) (int, error) {
	k, err := onePerOutput("count", outputs)
	if err == nil && l.Dispersed {
		if k%2 != 0 {
			return 0, fmt.Errorf("likelihood count: the network has %d outputs; it needs an even number, log-means first, then as many log-dispersions", outputs)
		}
		k /= 2
	}
	if err != nil {
		return 0, err
	}
	return k, l.Scale.check(k)
}

// count is the count that target i holds; NaN if it is below 0.
func (l Count) count(i int, y float64) float64 {
	if l.Scale != nil {
		y = math.Round((y - l.Scale.Zero[i]) / l.Scale.Step[i])
	}
	if !(y >= 0) {
		return math.NaN()
	}
	return y
}

// base is what the first output of target i is added to.
func (l Count) base(i int) float64 {
	if l.Scale == nil || l.Scale.Base == nil {
		return 0
	}
	return l.Scale.Base[i]
}

// Row implements Likelihood. A count below 0 scores NaN.
func (l Count) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	k := len(y)
	for i, y := range y {
		n, m := [1]float64{l.count(i, y)}, [1]float64{l.base(i) + mean[i]}
		if !l.Dispersed {
			s, f := Poisson{}.Row(n[:], m[:], variance[i:i+1], dmean[i:i+1], dvar[i:i+1])
			nll, floored = nll+s, floored+f
			continue
		}
		a := logDispersion(mean[k+i])
		s, dm, dv, da := negativeBinomial(n[0], m[0], variance[i], a)
		nll += s
		dmean[i], dvar[i] = dm, dv
		dmean[k+i], dvar[k+i] = da, 0
		if a != mean[k+i] { // beyond a bound, only the way back counts
			floored++
			if (a < mean[k+i]) == (da < 0) {
				dmean[k+i] = 0
			}
		}
	}
	return nll, floored
}

// negativeBinomial is the expected score of a count y for ℓ ~ N(m, v) and log-dispersion a,
// and its derivatives.
func negativeBinomial(y, m, v, a float64) (nll, dm, dv, da float64) {
	if y != y {
		return y, 0, 0, 0
	}
	r := math.Exp(-a)
	s := softplusMoments(m+a, v)
	own, _ := math.Lgamma(r)
	both, _ := math.Lgamma(y + r)
	nll = own + logFactorial(y) - both - y*(m+a) + (y+r)*s.mean
	dm = (y+r)*s.slope - y
	da = r*(special.Digamma(y+r)-special.Digamma(r)) - y - r*s.mean + (y+r)*s.slope
	return nll, dm, (y + r) * s.bend / 2, da
}

// A bent is E softplus(x), E softplus′(x) and E softplus″(x) for a Normal x.
type bent struct{ mean, slope, bend float64 }

// softplusMoments uses the trapezoidal rule over ±8.1 standard deviations. Softplus is
// analytic within ±iπ, so the error falls like exp(−2π²/(h·σ)): steps h of 0.9 suffice for
// σ ≤ 1, and shrink in proportion beyond, to 1/8.
func softplusMoments(m, v float64) (s bent) {
	add := func(x, w float64) {
		p := special.Sigmoid(x)
		s.mean += w * special.Softplus(x)
		s.slope += w * p
		s.bend += w * p * (1 - p)
	}
	if !(v > 0) {
		add(m, 1)
		return s
	}
	const reach = 8.1
	sd := math.Sqrt(v)
	n := math.Ceil(reach / max(0.9/max(1, sd), 1.0/8))
	var total float64
	for i := -n; i <= n; i++ {
		xi := reach / n * i
		w := math.Exp(-xi * xi / 2)
		add(m+sd*xi, w)
		total += w
	}
	return bent{s.mean / total, s.slope / total, s.bend / total}
}

// moments are the encoded mean of target i, and the parts of its variance that ℓ ~ N(m, v)
// adds, the doubt, and that counts have themselves, the noise.
func (l Count) moments(i int, m, v, a float64) (mean, doubt, noise float64) {
	n := math.Exp(min(l.base(i)+m+v/2, 300))
	zero := 0.0
	step := 1.0
	if s := l.Scale; s != nil {
		zero, step = s.Zero[i], s.Step[i]
		if s.Most != nil {
			n = min(n, s.Most[i])
		}
	}
	spread := math.Expm1(min(v, 600))
	noise = n
	if l.Dispersed {
		noise += math.Exp(logDispersion(a)) * n * n * (1 + spread)
	}
	return zero + step*n, step * step * n * n * spread, step * step * noise
}

// logDispersion keeps a within its bounds.
func logDispersion(a float64) float64 { return min(max(a, leastLogDispersion), mostLogDispersion) }

// second is the output behind the first one of a target, 0 if there is none.
func second[T float32 | float64](dispersed bool, outputs []T, i, targets int) float64 {
	if !dispersed {
		return 0
	}
	return float64(outputs[targets+i])
}

// Predict implements Predictive. Variances are at most 1e300.
func (l Count) Predict(mean, variance, ymean, yvar []float64) {
	for i := range ymean {
		m, doubt, noise := l.moments(i, mean[i], variance[i], second(l.Dispersed, mean, i, len(ymean)))
		ymean[i], yvar[i] = m, min(doubt+noise, 1e300)
	}
}

// Score implements Predictive: the probability of the count, averaged over ℓ.
func (l Count) Score(y, mean, variance []float64) (nll float64) {
	k := len(y)
	for i, y := range y {
		n, m := [1]float64{l.count(i, y)}, [1]float64{l.base(i) + mean[i]}
		if !l.Dispersed {
			nll += Poisson{}.Score(n[:], m[:], variance[i:i+1])
			continue
		}
		s, a := math.Sqrt(variance[i]), logDispersion(mean[k+i])
		nll -= logMean(func(xi float64) float64 {
			one, _, _, _ := negativeBinomial(n[0], m[0]+s*xi, 0, a)
			return -one
		})
	}
	return nll
}

// Outputs implements Describer.
func (Count) Outputs() Outputs { return Outputs{OwnNoise: true} }

// Split implements Splitter.
func (l Count) Split(mean, variance, ymean, doubt, noise []float32) {
	for i := range ymean {
		m, d, n := l.moments(i, float64(mean[i]), float64(variance[i]), second(l.Dispersed, mean, i, len(ymean)))
		ymean[i] = float32(min(m, most))
		doubt[i] = float32(min(d, most))
		noise[i] = float32(min(n, most))
	}
}
