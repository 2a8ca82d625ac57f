package notation

import (
	"math"
	"strings"
)

// IsNumber reports whether a trimmed text is a number, also an infinite one, whose fraction
// follows a point or what stands for it.
func IsNumber(s string, point byte) bool {
	b := []byte(s)
	if IsMissing(b) {
		return false
	}
	if _, n := ScanFloat(b, point); n == len(b) {
		return true
	}
	_, ok := Infinite(b)
	return ok
}

// Infinite reads inf and infinity, in capitals or not, with or without a sign.
func Infinite(s []byte) (float64, bool) {
	sign := 1
	if s[0] == '-' || s[0] == '+' {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	return math.Inf(sign), equalFold(s, "inf") || equalFold(s, "infinity")
}

// IsPadded reports whether a text is a whole number with zeros in front, such as 01067, which may
// be a code. Most numbers are told by two bytes.
func IsPadded(s []byte) bool {
	if len(s) < 2 || s[0] != '0' {
		return false
	}
	for _, c := range s[1:] {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

// longestNumber is the length, in bytes, of texts that may be numbers as people write them.
const longestNumber = 40

// Ambiguous reports whether a text with a comma, such as 1,234, is a number in both styles.
func Ambiguous(s string) bool {
	return len(s) <= longestNumber && strings.Contains(s, ",") && CommaStyle.Reads(s) && PointStyle.Reads(s)
}
