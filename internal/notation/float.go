package notation

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// pow10 are the powers of ten that float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// pow5 are the powers of five that 63 bits hold.
var pow5 = func() (p [28]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 5 * p[i-1]
	}
	return p
}()

// ScanFloat reads the decimal number at the start of b, whose fraction follows a
// point or what stands for it, and returns how many bytes it takes, 0 without a
// number. The result is correctly rounded.
func ScanFloat(b []byte, point byte) (v float64, n int) {
	i := 0
	var negative uint64
	if len(b) > 0 && b[0] == '-' {
		negative, i = 1, 1 // compiled without a jump: signs are hard to guess
	} else if len(b) > 0 && b[0] == '+' {
		i = 1
	}
	mantissa, digits := scanDigits(b[i:], 0)
	i += digits
	exp := 0
	if i < len(b) && b[i] == point {
		var after int
		mantissa, after = scanDigits(b[i+1:], mantissa)
		i += 1 + after
		exp = -after
		digits += after
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
	if digits <= 19 { // they cannot overflow the mantissa
		if v, ok := scale(mantissa, exp); ok {
			return math.Float64frombits(math.Float64bits(v) | negative<<63), i
		}
	}
	v, err := strconv.ParseFloat(strings.Replace(string(b[:i]), string(rune(point)), ".", 1), 64)
	if err != nil && !math.IsInf(v, 0) { // beyond the range it is infinite
		return 0, 0
	}
	return v, i
}

// scale returns m·10^exp where that is cheap to round correctly.
func scale(m uint64, exp int) (v float64, ok bool) {
	if m <= 1<<53 && -22 <= exp && exp <= 22 {
		// Both are exact, so that one quotient or product rounds once (Clinger 1990).
		if exp < 0 {
			return float64(m) / pow10[-exp], true
		}
		return float64(m) * pow10[exp], true
	}
	if exp >= 0 || exp <= -len(pow5) || m == 0 {
		return 0, false
	}
	// A quotient of 63 bits or more, its last bit also telling whether anything
	// follows, rounds as the exact one. With both shifted to the top, m/5^k lies
	// between a half and 2, and q = 2⁶³·m/5^k below 2⁶⁴.
	d := pow5[-exp]
	up, down := bits.LeadingZeros64(m), bits.LeadingZeros64(d)
	m <<= up
	q, rest := bits.Div64(m>>1, m<<63, d<<down)
	if rest != 0 {
		q |= 1
	}
	q = q>>1 | q&1 // for the conversion of signed numbers
	return float64(int64(q)) * math.Float64frombits(uint64(1023-62+down-up+exp)<<52), true
}

// scanDigits continues a mantissa by the digits at the start of b and counts them.
// Eight at a time: in a loop over single digits the processor would fail to
// foresee the end, once per number.
func scanDigits(b []byte, m uint64) (mantissa uint64, n int) {
	for len(b) >= n+8 {
		w := binary.LittleEndian.Uint64(b[n:]) ^ 0x3030303030303030 // digits become 0 … 9
		// The upper half of a byte is set where it is not a digit.
		no := (w | (w + 0x0606060606060606)) & 0xf0f0f0f0f0f0f0f0
		k := bits.TrailingZeros64(no) / 8
		if k == 0 {
			return m, n
		}
		w <<= uint(64 - 8*k) // the digits end at the top, zeros before them
		w = w*10 + w>>8
		w = (w&0x000000ff000000ff*(100+1000000<<32) + w>>16&0x000000ff000000ff*(1+10000<<32)) >> 32
		m = m*whole10[k] + w
		n += k
		if k < 8 {
			return m, n
		}
	}
	for n < len(b) && b[n]-'0' <= 9 {
		m = m*10 + uint64(b[n]-'0')
		n++
	}
	return m, n
}

var whole10 = [9]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

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
