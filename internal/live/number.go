package live

import (
	"math"
	"strconv"
)

// A Number is a float64 in JSON; what is not finite is null.
type Number float64

// Num returns a Number that can be left out.
func Num(v float64) *Number { n := Number(v); return &n }

// MarshalJSON writes six digits: the page draws them.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return strconv.AppendFloat(nil, v, 'g', 6, 64), nil
	}
	return []byte("null"), nil
}
