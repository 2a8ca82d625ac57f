package table

import (
	"math"
	"strconv"
)

// pow10 are the powers of ten that float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// scanFloat reads the decimal number at the start of b and returns how many bytes
// it takes, 0 if there is none. The result is correctly rounded: a mantissa up to
// 2⁵³ and a power of ten up to 10²² are both exact, so that one product or quotient
// rounds once (Clinger 1990); all else is left to strconv.
func scanFloat(b []byte) (v float64, n int) {
	i := 0
	negative := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	var mantissa uint64
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(b[i]-'0')
		i++
	}
	digits := i - start
	exp := 0
	if i < len(b) && b[i] == '.' {
		i++
		start = i
		for i < len(b) && b[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(b[i]-'0')
			i++
		}
		exp = start - i
		digits += i - start
	}
	if digits == 0 {
		return 0, 0
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		e, length := scanExp(b[i+1:])
		if length > 0 {
			i += 1 + length
			exp += e
		}
	}
	// 19 digits cannot overflow the mantissa.
	if digits <= 19 && mantissa <= 1<<53 && -22 <= exp && exp <= 22 {
		v = float64(mantissa)
		if exp < 0 {
			v /= pow10[-exp]
		} else {
			v *= pow10[exp]
		}
		if negative {
			v = -v
		}
		return v, i
	}
	v, err := strconv.ParseFloat(string(b[:i]), 64)
	if err != nil && !math.IsInf(v, 0) { // beyond the range it is infinite
		return 0, 0
	}
	return v, i
}

// scanExp reads the digits after e, with their sign.
func scanExp(b []byte) (e, n int) {
	negative := false
	if n < len(b) && (b[n] == '-' || b[n] == '+') {
		negative = b[n] == '-'
		n++
	}
	start := n
	for n < len(b) && b[n]-'0' <= 9 {
		e = min(e*10+int(b[n]-'0'), 1<<20)
		n++
	}
	if n == start {
		return 0, 0
	}
	if negative {
		e = -e
	}
	return e, n
}

// classify makes a cell of a whole trimmed field; ref is where its text is.
func classify(s []byte, ref int) cell {
	if isMissing(s) {
		return missing
	}
	if v, n := scanFloat(s); n == len(s) {
		return v
	}
	if v, ok := infinite(s); ok {
		return v
	}
	return box(Text, ref)
}

func infinite(s []byte) (float64, bool) {
	sign := 1
	if s[0] == '-' || s[0] == '+' {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	return math.Inf(sign), fold(s, "inf") || fold(s, "infinity")
}
