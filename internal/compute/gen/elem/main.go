// Command elem generates the elementwise kernels of package compute: one per
// named function, value and slope in one pass, or the value alone.
package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/out"
	. "utvi/internal/compute/gen/vec"
)

func main() {
	for _, f := range functions {
		result := ""
		if f.most > 0 {
			result = flagged
		}
		kernel("elem"+f.op, result, f.begin)
	}
	leakyMoments()
	leakyThree()
	if isa.AVX512 {
		leakyPair()
	}
	out.Write("elem", "kernel", "isa", "lane", "vec")
	if !isa.AVX512 && !isa.NEON {
		out.WriteGo("elem_table", "elem", "kernel", table(), "isa", "lane", "vec")
	}
}

// table is the text of a file that says which kernel an Op has.
func table() string {
	var b strings.Builder
	b.WriteString("//go:build amd64 || arm64\n\npackage kernel\n\nvar elemKernels = [NumOps]kernel{\n")
	for _, f := range functions {
		k := "elem" + f.op
		if f.most > 0 {
			k = fmt.Sprintf("patched(%s, %g, Op%s)", k, f.most, f.op)
		}
		fmt.Fprintf(&b, "Op%s: %s,\n", f.op, k)
	}
	b.WriteString("}\n")
	return b.String()
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
