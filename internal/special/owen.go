package special

import "math"

// OwenT returns Owen's function (Owen 1956)
//
//	T(h, a) = (1/2π) ∫₀ᵃ exp(−h²(1+x²)/2)/(1+x²) dx
//
// even in h, odd in a. The integrand has one sign, so the quadrature keeps its
// relative accuracy in the tails; |a| > 1 is reflected to T(a·h, 1/a).
func OwenT(h, a float64) float64 {
	h = math.Abs(h)
	b := math.Abs(a)
	if math.IsNaN(h) || math.IsNaN(a) {
		return math.NaN()
	}
	var t float64
	if b <= 1 {
		t = OwenArc(h, 0, b) / (2 * math.Pi)
	} else {
		g := b * h
		if h == 0 {
			g = 0 // also for a = ±Inf
		}
		t = (CDF(h)*CDF(-g)+CDF(-h)*CDF(g))/2 - OwenT(g, 1/b)
	}
	return math.Copysign(t, a)
}

// OwenArc returns ∫ₐ^(a+width) exp(−h²(1+x²)/2)/(1+x²) dx for a ≥ 0, that is
// 2π·(T(h, a+width) − T(h, a)), with relative accuracy.
func OwenArc(h, a, width float64) float64 {
	sum := 0.0
	OwenSlice(h, a, width, 1, func(x, _, w float64) { sum += w / (1 + x*x) })
	return sum
}

// OwenSlice gives the integral of Owen's weight times any g over a slice,
//
//	∫ₐ^(a+width) exp(−h²(1+x²)/2)·g(x) dx = Σ w·g(x)
//
// for a ≥ 0: it calls visit with the nodes and weights of Gauss–Legendre panels
// no wider than max(x, smooth), smooth being a length over which g is tame, and
// no wider than the exponential allows. The node comes with x−a, which a short
// slice would round away. For g of one sign nothing cancels.
func OwenSlice(h, a, width, smooth float64, visit func(x, fromA, w float64)) {
	h2 := h * h
	lead := expHalfSquare(h) * expHalfSquare(h*a)
	if lead == 0 {
		return
	}
	for lo := 0.0; lo < width; {
		// The exponential relative to the slice's start ends the sum.
		if h2*lo*(a+lo/2) > 45 {
			return
		}
		x := a + lo
		w := min(width-lo, max(x, smooth))
		if h2 > 0 {
			w = min(w, 3/(h2*x+math.Abs(h)))
		}
		for i, t := range legendreNodes {
			for _, d := range [2]float64{lo + w/2*(1-t), lo + w/2*(1+t)} {
				visit(a+d, d, w/2*legendreWeights[i]*lead*math.Exp(-h2*d*(a+d/2)))
			}
		}
		if lo+w == lo {
			return
		}
		lo += w
	}
}

// CDFSlice returns Φ(z+width) − Φ(z) for width ≥ 0 with relative accuracy.
func CDFSlice(z, width float64) float64 {
	if width > 0.5 || math.Abs(z) > 20 && width*math.Abs(z) > 10 {
		if z+width/2 > 0 {
			return CDF(-z) - CDF(-z-width)
		}
		return CDF(z+width) - CDF(z)
	}
	return PDF(z) * legendre(0, width, func(d float64) float64 { return math.Exp(-d * (z + d/2)) })
}

// legendre returns ∫ f over [lo, lo+width] by the 16-point Gauss–Legendre rule.
func legendre(lo, width float64, f func(x float64) float64) float64 {
	half := width / 2
	sum := 0.0
	for i, x := range legendreNodes {
		sum += legendreWeights[i] * (f(lo+half*(1-x)) + f(lo+half*(1+x)))
	}
	return half * sum
}

// The positive nodes and the weights of the 16-point Gauss–Legendre rule
// (Abramowitz & Stegun, table 25.4).
var (
	legendreNodes = [8]float64{
		0.095012509837637440185, 0.281603550779258913230, 0.458016777657227386342, 0.617876244402643748447,
		0.755404408355003033895, 0.865631202387831743880, 0.944575023073232576078, 0.989400934991649932596,
	}
	legendreWeights = [8]float64{
		0.189450610455068496285, 0.182603415044923588867, 0.169156519395002538189, 0.149595988816576732081,
		0.124628971255533872052, 0.095158511682492784810, 0.062253523938647892863, 0.027152459411754094852,
	}
)
