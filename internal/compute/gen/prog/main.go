// Command prog generates the kernels of package compute's programs, one for each
// instruction that is not an elementwise kernel already.
package main

import (
	"math"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/out"
	. "utvi/internal/compute/gen/vec"
)

func main() {
	two("Add", func(x, y V) V { return Add(x, y) })
	two("Sub", func(x, y V) V { return Sub(x, y) })
	two("Mul", func(x, y V) V { return Mul(x, y) })
	two("Div", func(x, y V) V { return Div(x, y) })
	two("Min", func(x, y V) V { return Or(MinOf(x, y), Compare(x, Unordered, x)) })
	two("Max", func(x, y V) V { return Or(MaxOf(x, y), Compare(x, Unordered, x)) })
	two("Less", func(x, y V) V { return And(Compare(x, Less, y), Const(1)) })
	two("AtMost", func(x, y V) V { return And(Compare(x, AtMost, y), Const(1)) })
	two("Equal", func(x, y V) V { return And(Compare(x, Equal, y), Const(1)) })
	two("NotEqual", func(x, y V) V { return And(Compare(x, differ, y), Const(1)) })
	three("MulAdd", func(x, y, z V) V { return AddMul(Copy(z), x, y) })
	three("SubMul", func(x, y, z V) V { return SubMul(Copy(z), x, y) })
	three("MulSub", func(x, y, z V) V { return MulSub(Copy(x), y, z) })
	three("Select", func(x, y, z V) V { return Select(Compare(x, NotEqual, Zero()), y, z) })
	one("Neg", Neg)
	one("Abs", Abs)
	one("Sign", sign)
	one("Sqrt", func(x V) V { return Sqrt(x) })
	one("Log", log)
	one("Log1p", log1p)
	one("Expm1", expm1)
	one("Atan", atan)
	out.Write("prog", "bytecode", "isa", "vec")
}

const (
	differ     = 0x0c // NEQ_OQ, false on NaN
	notAtLeast = 0x19 // NGE_UQ, true on NaN
	ordered    = 0x07
)

func one(name string, body func(x V) V) {
	kernel(name, "x", func(x []V) V { return body(x[0]) })
}

func two(name string, body func(x, y V) V) {
	kernel(name, "x, y", func(x []V) V { return body(x[0], x[1]) })
}

func three(name string, body func(x, y, z V) V) {
	kernel(name, "x, y, z", func(x []V) V { return body(x[0], x[1], x[2]) })
}

func kernel(name, params string, body func(x []V) V) {
	isa.Func("prog"+name, "func("+params+", f *float32, n int)")
	var in []reg.Register
	for _, p := range strings.Split(params, ", ") {
		in = append(in, Load(Param(p), GP64()))
	}
	f := Load(Param("f"), GP64())
	n := isa.Arg("n")
	Loop("", n, in, []reg.Register{f}, func(x []V) []V { return []V{body(x)} })
	isa.End()
}

// sign is ±1 with x's sign, or x where x is 0 or NaN.
func sign(x V) V {
	return Select(Compare(x, differ, Zero()), Or(Sign(x), Const(1)), x)
}

// log scales subnormal numbers up, and mends zero, infinity and all without a logarithm.
func log(x V) V {
	small := Compare(x, Less, Const(0x1p-126))
	l := Log(Select(small, Mul(x, Const(1<<24)), x))
	l = Sub(l, And(small, Const(24*math.Ln2)))
	l = Select(Compare(x, Equal, Zero()), Reg(Const(float32(math.Inf(-1)))), l)
	l = Select(Compare(x, Equal, Const(float32(math.Inf(1)))), x, l)
	return Or(l, Compare(x, notAtLeast, Zero()))
}

// log1p is ln u + c/u with u = 1+x rounded and c what rounding lost. c/u is NaN
// at the ends, where it counts for nothing.
func log1p(x V) V {
	u := Add(x, Const(1))
	c := Sub(x, Sub(u, Const(1)))
	c = Div(c, u)
	return Add(log(u), And(c, Compare(c, ordered, c)))
}

// expm1 is 2ⁿ·P + (2ⁿ−1) while 2ⁿ is a float32, eˣ−1 beyond.
func expm1(x V) V {
	p := ExpParts(Max(-104, Min(89, x)))
	s := p.Pow2()
	near := Sub(s, Const(1))
	AddMul(near, p.P, s)
	return Select(Compare(x, Greater, Const(64)), p.Scale(p.Y()), near)
}

// atan is t·poly(t²), t = |x| or 1/|x|; the latter is taken from π/2.
func atan(x V) V {
	a := Abs(x)
	far := Compare(a, Greater, Const(1))
	t := Select(far, Div(Reg(Const(1)), a), a)
	w := Mul(t, t)
	y := Mul(Poly(w, Fit(func(w float64) float64 {
		if w < 1e-6 {
			return 1 - w/3
		}
		r := math.Sqrt(w)
		return math.Atan(r) / r
	}, 0, 1, 10)), t)
	y = Select(far, Sub(Reg(Const(math.Pi/2)), y), y)
	return Or(y, Sign(x))
}
