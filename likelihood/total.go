package likelihood

import "math"

// mostLog is the largest logarithm of a noise variance that is taken: its exponential is finite.
const mostLog = 690

// totalRow is Row where the predicted Normal is scored as a whole.
func (l Heteroscedastic) totalRow(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	k, c := len(y), l.Common
	for i, y := range y {
		e := mean[i] - y
		s := l.total(e, variance[i], mean[k+i]+variance[k+i]/2)
		nll += (1 - c) * s.nll
		dmean[i], dvar[i] = (1-c)*s.mean, (1-c)*s.variance
		dmean[k+i], dvar[k+i] = (1-c)*s.log, (1-c)*s.log/2
		if s.low {
			floored++
		}
		if c > 0 {
			s := l.total(e, variance[i], mean[2*k+i])
			nll += c * s.nll
			dmean[i] += c * s.mean
			dvar[i] += c * s.variance
			dmean[2*k+i], dvar[2*k+i] = c*s.log, 0
		}
	}
	return nll, floored
}

// A total is the score of an error under a Normal, and its derivatives by the mean, by the
// variance that is not noise, and by the logarithm of the noise. low: the floor took the place of
// the variance.
type total struct {
	nll, mean, variance, log float64
	low                      bool
}

func (l Heteroscedastic) total(e, variance, log float64) (s total) {
	noise := math.Exp(min(log, mostLog))
	v := variance + noise
	s.low = v < l.floor()
	if s.low {
		v = l.floor()
	}
	s.nll, s.mean = normalNLL(e, v), e/v
	by := 0.5 * (1 - e*e/v) // by the logarithm of v
	if s.low && by > 0 {
		by = 0 // only what raises it counts
	}
	s.variance = by / v
	if log < mostLog {
		s.log = by * (noise / v)
	}
	return s
}
