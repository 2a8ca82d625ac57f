package compute

// This file is the plain arithmetic between the products. Every family computes
// the same bits; AnyBelow may differ within rounding of its bound.

// TwiceMul computes x = 2·x∘y.
func TwiceMul[T Float](x, y []T) { TwiceMulTo(x, x, y) }

// TwiceMulTo computes dst = 2·x∘y.
func TwiceMulTo[T Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	if is32[T]() && vector && len(dst) > 0 {
		twiceMulVector(as32(dst), as32(x), as32(y))
		return
	}
	for i := range dst {
		dst[i] = 2 * x[i] * y[i]
	}
}

// MulTo computes dst = x∘y.
func MulTo[T Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	if is32[T]() && vector && len(dst) > 0 {
		mulToVector(as32(dst), as32(x), as32(y))
		return
	}
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

// Add computes x += y.
func Add[T Float](x, y []T) {
	y = y[:len(x)]
	if is32[T]() && vector && len(x) > 0 {
		addVector(as32(x), as32(y))
		return
	}
	for i := range x {
		x[i] += y[i]
	}
}

// AddTwiceMul computes x += 2·y∘z, the product rounded before it is added.
func AddTwiceMul[T Float](x, y, z []T) {
	y, z = y[:len(x)], z[:len(x)]
	if is32[T]() && vector && len(x) > 0 {
		addTwiceMulVector(as32(x), as32(y), as32(z))
		return
	}
	for i := range x {
		x[i] += T(2 * y[i] * z[i])
	}
}

// AnyBelow reports whether some s[i] ≥ 0 is positive and less than rel + rel·|m[i]|.
func AnyBelow[T Float](s, m []T, rel T) bool {
	m = m[:len(s)]
	if is32[T]() && vector && len(s) > 0 {
		return anyBelowVector(as32(s), as32(m), float32(rel))
	}
	for i, s := range s {
		if s < rel+T(rel*max(m[i], -m[i])) && s > 0 {
			return true
		}
	}
	return false
}

// AllFinite reports whether the squares of g are finite and can be summed in T: no
// element is NaN, infinite or too large.
func AllFinite[T Float](g []T) bool {
	var sum T
	if is32[T]() && vector && len(g) > 0 {
		sum = T(squaresVector(as32(g)))
	} else {
		for _, g := range g {
			sum += T(g * g)
		}
	}
	return sum-sum == 0
}

// PackLeft packs a row-major rows × width matrix into panels of MR columns:
// element (i, k) goes to dst[(k/MR*rows+i)*MR + k%MR]; missing columns are zero.
func PackLeft[T Float](dst, src []T, rows, width int) {
	src = src[:rows*width]
	k := 0
	if is32[T]() && vector && rows > 0 && width >= MR {
		k = packLeftVector(as32(dst), as32(src), rows, width)
	}
	for ; k < width; k += MR {
		n := min(MR, width-k)
		panel := dst[k*rows:][:rows*MR]
		for i := range rows {
			to := (*[MR]T)(panel[i*MR:])
			*to = [MR]T{}
			for c := range n { // too few to call copy
				to[c] = src[i*width+k+c]
			}
		}
	}
}
