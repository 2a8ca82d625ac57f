package likelihood

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Heteroscedastic learns the noise: k targets have 2k outputs, first the k
// targets' values f, then the k logarithms ℓ of their noise variances. With f ~
// N(m, Σ_m) and ℓ ~ N(l, Σ_ℓ) independent, the expected score is (Wu et al. 2019)
//
//	E_q[−ln N(y; f, e^ℓ)] = ½ [ ln 2π + l + e^−a·(Σ_m + (m−y)²) ],   a = l − Σ_ℓ/2
//
// Noise and doubt stay separate: the noise is e^ℓ, the doubt Σ_m. As in Normal, the
// noise variance e^a has a floor. Below the floor, the gradient with respect to a is kept
// only if it raises a; so no error overflows, and ℓ → −∞ gains nothing.
//
// A row that is given a large noise no longer teaches the mean, and the mean of such rows
// is learned badly. With Common = c > 0, the score is 1−c times the one above plus c times
// the same with a noise variance that all rows share, so that every row keeps at least
// that part in the mean. k more outputs are the logarithms of the common variances: learned
// numbers, nn.Append. They are used in training only.
//
// Where the inputs have variances, Σ_m holds what these add, and that is not doubt: the error
// m−y shows it already. The score above would count it twice, and learn a noise that holds it once
// more. There the predicted Normal is scored as a whole (Total):
//
//	−ln N(y; m, Σ_m + e^(l+Σ_ℓ/2))
//
// Only the KL then tells doubt from noise.
type Heteroscedastic struct {
	Floor  float64 `json:"floor,omitempty"`  // smallest e^a; 0 means 1e-6
	Common float64 `json:"common,omitempty"` // share of the score with common noise, below 1
	Total  bool    `json:"total,omitempty"`  // for uncertain inputs; a trainer sets it where rows have such

	// Range bounds the noise variances of predictions; nil: no bounds.
	Range *NoiseRange `json:"range,omitempty"`
}

// A NoiseRange holds the noise variances that training rows showed: the smallest and the
// largest one of each target. Far from the training rows an exponential of a weighted sum
// means nothing.
type NoiseRange struct {
	Least []float64 `json:"least"`
	Most  []float64 `json:"most"`
}

func (r *NoiseRange) check(targets int) error {
	if r == nil {
		return nil
	}
	for _, bounds := range [][]float64{r.Least, r.Most} {
		if len(bounds) != targets || slices.ContainsFunc(bounds, func(v float64) bool { return !(v > 0) }) {
			return fmt.Errorf("likelihood heteroscedastic: %v bounds the noise variances of %d targets; each needs a number > 0", bounds, targets)
		}
	}
	return nil
}

// Kind implements Likelihood.
func (Heteroscedastic) Kind() string { return "heteroscedastic" }

// String implements Likelihood.
func (l Heteroscedastic) String() string {
	s := withFloor("heteroscedastic", l.Floor)
	if l.Common > 0 {
		s += fmt.Sprintf(", common %g", l.Common)
	}
	if l.Total {
		s += ", total"
	}
	return s
}

// ForUncertainInputs returns l as it is right for rows whose inputs have variances.
func ForUncertainInputs(l Likelihood) Likelihood {
	switch x := l.(type) {
	case Heteroscedastic:
		x.Total = true
		return x
	case Wrapper:
		if x.Unwrap() != nil {
			return x.Wrap(ForUncertainInputs(x.Unwrap()))
		}
	case Composite:
		children := x.Children()
		for i, child := range children {
			children[i] = ForUncertainInputs(child)
		}
		return x.WithChildren(children)
	}
	return l
}

// NeedsVariance implements Likelihood: the noise is an output.
func (Heteroscedastic) NeedsVariance() bool { return false }

// Targets implements Likelihood: one target for every two outputs, or for every three.
func (l Heteroscedastic) Targets(outputs int) (int, error) {
	if err := checkFloor("heteroscedastic", l.Floor, math.MaxFloat64); err != nil {
		return 0, err
	}
	if !(l.Common >= 0 && l.Common < 1) {
		return 0, fmt.Errorf("likelihood heteroscedastic: the share of the common noise is %v; it must be at least 0 and below 1", l.Common)
	}
	each := l.each()
	if outputs < each || outputs%each != 0 {
		if each == 3 {
			return 0, fmt.Errorf("likelihood heteroscedastic: the network has %d outputs; it needs a multiple of 3: values first, then as many log-variances, then as many common ones", outputs)
		}
		return 0, fmt.Errorf("likelihood heteroscedastic: the network has %d outputs; it needs an even number, values first, then as many log-variances", outputs)
	}
	k := outputs / each
	return k, l.Range.check(k)
}

// each is the number of outputs of a target.
func (l Heteroscedastic) each() int {
	if l.Common > 0 {
		return 3
	}
	return 2
}

func (l Heteroscedastic) floor() float64 { return cmp.Or(l.Floor, 1e-6) }

// noise is the expected noise variance E e^ℓ = e^x of target i, for x = l + Σ_ℓ/2.
func (l Heteroscedastic) noise(i int, x float64) float64 { return l.bound(i, math.Exp(x)) }

// bound keeps a noise variance of target i above the floor and within the bounds.
func (l Heteroscedastic) bound(i int, v float64) float64 {
	if l.Range != nil {
		v = max(min(v, l.Range.Most[i]), l.Range.Least[i])
	}
	return max(v, l.floor())
}

// Row implements Likelihood.
func (l Heteroscedastic) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	if l.Total {
		return l.totalRow(y, mean, variance, dmean, dvar)
	}
	k := len(y)
	least := math.Log(l.floor())
	for i, y := range y {
		e, half := mean[i]-y, variance[k+i]/2
		a := mean[k+i] - half
		low := a < least
		if low {
			a = least
			floored++
		}
		w := math.Exp(-a)
		q := w * (variance[i] + e*e)
		nll += halfLog2Pi + 0.5*(a+half+q)
		dmean[i], dvar[i] = w*e, 0.5*w
		da := 0.5 * (1 - q)
		if low && da > 0 {
			da = 0
		}
		dmean[k+i], dvar[k+i] = da, 0.25-0.5*da
	}
	if l.Common > 0 {
		nll = l.share(nll, y, mean, variance, dmean, dvar)
	}
	return nll, floored
}

// share mixes the score of a row with the one of the common noise, whose log-variance
// enters as a number.
func (l Heteroscedastic) share(nll float64, y, mean, variance, dmean, dvar []float64) float64 {
	k, c := len(y), l.Common
	nll *= 1 - c
	for i := range 2 * k {
		dmean[i] *= 1 - c
		dvar[i] *= 1 - c
	}
	least := math.Log(l.floor())
	for i, y := range y {
		e, a := mean[i]-y, mean[2*k+i]
		low := a < least
		if low {
			a = least
		}
		w := math.Exp(-a)
		q := w * (variance[i] + e*e)
		nll += c * (halfLog2Pi + 0.5*(a+q))
		dmean[i] += c * w * e
		dvar[i] += 0.5 * c * w
		dmean[2*k+i], dvar[2*k+i] = 0.5*c*(1-q), 0
		if low && q < 1 {
			dmean[2*k+i] = 0
		}
	}
	return nll
}

// Predict implements Predictive: the variance is Σ_m + e^{l+Σ_ℓ/2}, the doubt and
// the expected noise, at most 1e300.
func (l Heteroscedastic) Predict(mean, variance, ymean, yvar []float64) {
	for i := range ymean {
		noise := l.noise(i, mean[len(ymean)+i]+variance[len(ymean)+i]/2)
		ymean[i], yvar[i] = mean[i], min(variance[i]+noise, 1e300)
	}
}

// Score implements Predictive. The target is a Normal whose variance Σ_m + e^ℓ is
// uncertain; the density is averaged over ℓ.
func (l Heteroscedastic) Score(y, mean, variance []float64) (nll float64) {
	k := len(y)
	for i, y := range y {
		s := math.Sqrt(variance[k+i])
		nll -= logMean(func(xi float64) float64 {
			noise := l.bound(i, math.Exp(min(mean[k+i]+s*xi, 690)))
			return -normalNLL(mean[i]-y, variance[i]+noise)
		})
	}
	return nll
}
