// Command elem generates the elementwise kernels of package compute: one per
// named function, value and slope in one pass, or the value alone.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/out"
	. "utvi/internal/compute/gen/vec"
)

// A body emits the value of a function and, if slope, its slope.
type body func(x V, slope bool) (f, df V)

func main() {
	kernel("elemLeakyReLU", "", func() body { return leakyReLU(param()) })
	kernel("elemELU", "", func() body { return elu(param()) })
	for _, k := range []struct {
		name string
		body body
	}{
		{"elemExp", exp},
		{"elemSquare", square},
		{"elemSigmoid", sigmoid},
		{"elemSoftplus", softplus},
		{"elemSiLU", silu},
		{"elemTanh", tanh},
		{"elemErf", erf},
		{"elemNormalCDF", normalCDF},
		{"elemGELU", gelu},
	} {
		kernel(k.name, "", func() body { return k.body })
	}
	kernel("elemSin", flagged, func() body { return within(SinCosEnd, sin) })
	kernel("elemCos", flagged, func() body { return within(SinCosEnd, cos) })
	kernel("elemNormalInverse", flagged, func() body { return within(inverseEnd, normalInverse) })
	leakyMoments()
	leakyThree()
	if isa.AVX512 {
		leakyPair()
	}
	out.Write("elem", "kernel", "isa", "lane", "vec")
}

// flagged kernels say whether elements are left to scalar code: those have f = x.
const flagged = " (far bool)"

// far gathers the lanes a flagged kernel leaves.
var far V

// kernel emits one function. begin emits what precedes the loops, once for all.
func kernel(name, result string, begin func() body) {
	isa.Func(name, "func(a float32, x, f, df []float32)"+result)
	x := Load(Param("x").Base(), GP64())
	n := Load(Param("x").Len(), GP64()).(reg.GPVirtual)
	f := Load(Param("f").Base(), GP64())
	df := Load(Param("df").Base(), GP64())
	if result == flagged {
		far = isa.Vec()
		VXORPS(far, far, far)
	}
	body := begin()
	TESTQ(df, df)
	JEQ(LabelRef("value"))
	Loop("slope", n, []reg.Register{x}, []reg.Register{f, df}, func(x []V) []V {
		f, df := body(x[0], true)
		return []V{f, df}
	})
	end(result)
	Label("value")
	Loop("value", n, []reg.Register{x}, []reg.Register{f}, func(x []V) []V {
		f, _ := body(x[0], false)
		return []V{f}
	})
	end(result)
}

func end(result string) {
	if result == flagged {
		isa.Any(far)
	}
	isa.End()
}

// within leaves lanes beyond ±limit, and NaN, to scalar code.
func within(limit float32, b body) body {
	return func(x V, slope bool) (f, df V) {
		f, df = b(x, slope)
		out := Compare(Abs(x), NotAtMost, Const(limit))
		OrInto(far, out)
		return Select(out, x, f), df
	}
}

// param returns the parameter a in all lanes.
func param() V {
	a, err := Param("a").Resolve()
	if err != nil {
		panic(err)
	}
	r := isa.Vec()
	VBROADCASTSS(a.Addr, r)
	return r
}
