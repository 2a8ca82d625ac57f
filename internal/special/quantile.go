package special

import "math"

// Quantile returns Φ⁻¹(p): ∓Inf at 0 and 1, NaN outside [0, 1].
func Quantile(p float64) float64 {
	switch q := p - 0.5; {
	case math.Abs(q) <= 0.425:
		return centralQuantile(q)
	case p < 0.5:
		return -tailQuantile(-math.Log(p))
	default:
		return tailQuantile(-math.Log1p(-p))
	}
}

// QuantileLog returns Φ⁻¹(p) from ln p, so it reaches probabilities far below
// the smallest float64: −Inf at −Inf, +Inf at 0, NaN above.
func QuantileLog(lnP float64) float64 {
	switch {
	case lnP < logCentral:
		return -tailQuantile(-lnP)
	case lnP <= -0.0779: // p between 0.075 and 0.925
		return centralQuantile(math.Exp(lnP) - 0.5)
	default:
		return tailQuantile(-math.Log(-math.Expm1(lnP)))
	}
}

// logCentral is ln 0.075, the border between the centre and the tail.
const logCentral = -2.590267165445824

// centralQuantile returns Φ⁻¹(½+q) for |q| ≤ 0.425: Wichura's rational function
// (AS241, Applied Statistics 37, 1988), then one Newton step on
// erf(x/√2)/2 = q, which keeps relative accuracy around q = 0.
func centralQuantile(q float64) float64 {
	r := 0.180625 - q*q
	x := q * horner(r, &centralP) / horner(r, &centralQ)
	return x - (math.Erf(x/math.Sqrt2)/2-q)/PDF(x)
}

// tailQuantile returns the x > 0 with Φ(−x) = e⁻ᴸ for L above ln 2, L up to
// the largest float64. AS241 gives the start while it holds (L < 700), the
// leading asymptotic terms beyond; Newton steps on ln Φ finish:
//
//	x ← x + (L + ln Φ(−x))·Φ(−x)/φ(x)
func tailQuantile(L float64) float64 {
	switch {
	case math.IsInf(L, 1) || math.IsNaN(L):
		return L
	case L > 1e18: // the next term is below ε
		return math.Sqrt2 * math.Sqrt(L)
	}
	x, steps := 0.0, 1
	switch r := math.Sqrt(L); {
	case r <= 5:
		x = horner(r-1.6, &middleP) / horner(r-1.6, &middleQ)
	case r <= 26:
		x = horner(r-5, &farP) / horner(r-5, &farQ)
	default:
		x, steps = math.Sqrt(2*(L-lnSqrt2Pi-math.Log(math.Sqrt2*r))), 2
	}
	for range steps {
		m := Mills(x)
		x += (math.FMA(-x/2, x, L) - lnSqrt2Pi + math.Log(m)) * m
	}
	return x
}

func horner(x float64, c *[8]float64) float64 {
	s := c[7]
	for i := 6; i >= 0; i-- {
		s = s*x + c[i]
	}
	return s
}

// The coefficients of AS241 (PPND16), lowest power first.
var (
	centralP = [8]float64{3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
		4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3}
	centralQ = [8]float64{1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
		2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}
	middleP = [8]float64{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	middleQ = [8]float64{1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
	farP = [8]float64{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	farQ = [8]float64{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}
)
