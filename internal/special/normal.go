package special

import "math"

const (
	invSqrt2Pi = 0.398942280401432677939946059934381868475858631164934657666
	sqrtHalfPi = 1.25331413731550025120788264240552262650349337030496915831
	lnSqrt2Pi  = 0.918938533204672741780329736405617639861397473637783412817
	invSqrtPi  = 0.564189583547756286948079451560772585844050629328998856844
)

// PDF returns the standard Normal density φ(z) = exp(−z²/2)/√(2π).
func PDF(z float64) float64 { return invSqrt2Pi * expHalfSquare(z) }

// expHalfSquare returns exp(−z²/2). The rounding error of z² is put back by a
// fused multiply-add: without it the relative error would grow like z²·ε.
func expHalfSquare(z float64) float64 {
	if math.Abs(z) > 40 {
		return 0 // below the smallest subnormal, also for ±Inf
	}
	sq := z * z
	low := math.FMA(z, z, -sq)
	e := math.Exp(-sq / 2)
	return e - e*low/2
}

// CDF returns the standard Normal distribution function Φ(z) = erfc(−z/√2)/2.
// The lower tail keeps its relative accuracy until it becomes subnormal near
// z = −37.5.
func CDF(z float64) float64 {
	if z < -1 {
		return expHalfSquare(z) * (invSqrt2Pi * Mills(-z))
	}
	return math.Erfc(-z/math.Sqrt2) / 2
}

// LogCDF returns ln Φ(z); it is finite while z² is.
func LogCDF(z float64) float64 {
	if z < -1 {
		return -z*z/2 - lnSqrt2Pi + math.Log(Mills(-z))
	}
	return math.Log1p(-CDF(-z))
}

// Mills returns the Mills ratio Φ(−z)/φ(z) = √(π/2)·erfcx(z/√2), which falls
// like 1/z. Below z ≈ −37.5 it overflows to +Inf.
func Mills(z float64) float64 { return sqrtHalfPi * Erfcx(z/math.Sqrt2) }

// Erfcx returns the scaled complementary error function exp(x²)·erfc(x). It
// overflows to +Inf below x ≈ −26.6.
func Erfcx(x float64) float64 {
	switch {
	case x < 25: // erfc is still a normal number
		sq := x * x
		low := math.FMA(x, x, -sq)
		if x < -27 {
			low = 0
		}
		return math.Exp(sq) * (1 + low) * math.Erfc(x)
	case x < 1e8:
		// Asymptotic series 1 − 1/(2x²) + 3/(2x²)² − 15/(2x²)³ …; the term
		// left out is below 3e-17 for x ≥ 25.
		t := 1 / (2 * x * x)
		return invSqrtPi / x * (1 - t*(1-3*t*(1-5*t*(1-7*t*(1-9*t*(1-11*t))))))
	}
	return invSqrtPi / x // also NaN
}
