package special

import (
	"math"
	"math/big"
)

// The references are computed in 1,500-bit arithmetic, so that series which
// cancel by e^{x²} still leave hundreds of digits.
const bits = 1500

func number(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }

func zeroBig() *big.Float { return number(0) }

// bigPi is π by Machin's formula 16·atan(1/5) − 4·atan(1/239).
var bigPi = func() *big.Float {
	atan := func(n int64) *big.Float {
		sum, power := zeroBig(), zeroBig().Quo(number(1), number(float64(n)))
		sq := number(float64(n * n))
		for k := int64(0); power.Sign() != 0 && power.MantExp(nil) > -bits; k++ {
			term := zeroBig().Quo(power, number(float64(2*k+1)))
			if k%2 == 1 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, sq)
		}
		return sum
	}
	a, b := atan(5), atan(239)
	return zeroBig().Sub(a.Mul(a, number(16)), b.Mul(b, number(4)))
}()

// bigExp is eˣ by its series on x/2ⁿ, squared n times.
func bigExp(x *big.Float) *big.Float {
	const n = 24
	small := zeroBig().SetMantExp(x, -n)
	sum, term := number(1), number(1)
	for k := 1; k < 120; k++ {
		term.Mul(term, small)
		term.Quo(term, number(float64(k)))
		sum.Add(sum, term)
	}
	for range n {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigPDF is φ(z).
func bigPDF(z *big.Float) *big.Float {
	h := zeroBig().Mul(z, z)
	h.Quo(h, number(-2))
	return h.Quo(bigExp(h), zeroBig().Sqrt(zeroBig().Mul(number(2), bigPi)))
}

// bigCDF is Φ(z) = ½ + φ(z)·(z + z³/3 + z⁵/15 + …).
func bigCDF(z *big.Float) *big.Float {
	sum := zeroBig()
	term := zeroBig().Set(z)
	sq := zeroBig().Mul(z, z)
	for k := 1; term.Sign() != 0 && term.MantExp(nil) > -bits; k++ {
		sum.Add(sum, term)
		term.Mul(term, sq)
		term.Quo(term, number(float64(2*k+1)))
	}
	sum.Mul(sum, bigPDF(z))
	return sum.Add(sum, number(0.5))
}

// bigMills is Φ(−z)/φ(z).
func bigMills(z *big.Float) *big.Float {
	return zeroBig().Quo(bigCDF(zeroBig().Neg(z)), bigPDF(z))
}

// distance is |got−want|/|want|.
func distance(got float64, want *big.Float) float64 {
	if want.Sign() == 0 {
		return math.Abs(got)
	}
	d := zeroBig().Sub(number(got), want)
	d.Quo(d, want)
	f, _ := d.Float64()
	return math.Abs(f)
}
