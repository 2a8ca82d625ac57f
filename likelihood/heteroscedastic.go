package likelihood

import (
	"cmp"
	"fmt"
	"math"
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
type Heteroscedastic struct {
	Floor float64 `json:"floor,omitempty"` // smallest e^a; 0 means 1e-6
}

// Kind implements Likelihood.
func (Heteroscedastic) Kind() string { return "heteroscedastic" }

func (l Heteroscedastic) String() string { return withFloor("heteroscedastic", l.Floor) }

// NeedsVariance implements Likelihood: the noise is an output.
func (Heteroscedastic) NeedsVariance() bool { return false }

// Targets implements Likelihood: one target for every two outputs.
func (l Heteroscedastic) Targets(outputs int) (int, error) {
	if err := checkFloor("heteroscedastic", l.Floor, math.MaxFloat64); err != nil {
		return 0, err
	}
	if outputs < 2 || outputs%2 != 0 {
		return 0, fmt.Errorf("likelihood heteroscedastic: the network has %d outputs; it needs an even number, values first, then as many log-variances", outputs)
	}
	return outputs / 2, nil
}

func (l Heteroscedastic) floor() float64 { return cmp.Or(l.Floor, 1e-6) }

// noise is the expected noise variance E e^ℓ = e^x for x = l + Σ_ℓ/2.
func (l Heteroscedastic) noise(x float64) float64 { return max(math.Exp(x), l.floor()) }

// Row implements Likelihood.
func (l Heteroscedastic) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
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
	return nll, floored
}

// Predict implements Predictive: the variance is Σ_m + e^{l+Σ_ℓ/2}, the doubt and
// the expected noise, at most 1e300.
func (l Heteroscedastic) Predict(mean, variance, ymean, yvar []float64) {
	for i := range ymean {
		noise := l.noise(mean[len(ymean)+i] + variance[len(ymean)+i]/2)
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
			noise := max(math.Exp(min(mean[k+i]+s*xi, 690)), l.floor())
			return -normalNLL(mean[i]-y, variance[i]+noise)
		})
	}
	return nll
}
