package fn

import "utvi/moment"

// withExact gives f its closed form and returns f. Without variance a Gaussian
// is a point: the mean is f, the variance 0, and by convention the mean does
// not move with the variance, which at a kink has no derivative there.
func withExact(f *moment.Func, jet func(mean, variance float64) moment.Jet) *moment.Func {
	value, slope := f.F, f.DF
	f.Exact = func(mean, variance float64) moment.Jet {
		if variance <= 0 {
			d := slope(mean)
			return moment.Jet{Mean: value(mean), MeanByMean: d, VarByVar: d * d}
		}
		return jet(mean, variance)
	}
	return f
}
