package gpu

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"sync"
	"unsafe"

	"utvi/internal/compute/bytecode"
	"utvi/internal/cuda"
	"utvi/internal/cuda/kernels"
	"utvi/internal/expr"
)

// formulaKernels are the kernels that were compiled for formulas, by what was compiled.
type formulaKernels struct {
	mu  sync.Mutex
	all map[string]cuda.Kernel
}

// interpret makes all formulas run in the kernel that interprets them. Tests set it.
var interpret = false

// formula returns the kernel that is compiled for a formula, or, where the driver does not
// compile it, the one that interprets every formula.
func (k *kernelSet) formula(d *cuda.Device, f *expr.Formula) cuda.Kernel {
	if interpret {
		return k.formulas
	}
	c := &k.compiled
	c.mu.Lock()
	defer c.mu.Unlock()
	text := formulaPTX(f)
	kernel, ok := c.all[string(text)]
	if ok {
		return kernel
	}
	kernel = d.Kernel(k.formulas.Name, 0, func() ([]byte, error) { return append(formulaBase(), text...), nil })
	if kernel.Compile() != nil {
		kernel = k.formulas
	}
	if c.all == nil {
		c.all = map[string]cuda.Kernel{}
	}
	c.all[string(text)] = kernel
	return kernel
}

// formulaBase is the kernel of formulas, in which the functions of a formula are announced:
// they follow in the same text.
func formulaBase() []byte {
	return bytes.ReplaceAll(kernels.Formula, []byte(".extern .func"), []byte(".func"))
}

// formulaPTX writes the functions of a formula, which kernels/formula.h declares.
func formulaPTX(f *expr.Formula) []byte {
	var w ptxWriter
	for _, x := range []struct {
		name string
		prog *bytecode.Program
	}{{"code_value", f.Value}, {"code_train", f.Train}, {"code_limit", f.Limit}} {
		w.function(x.name, x.prog, f.Inputs)
	}
	return w.text.Bytes()
}

// A ptxWriter writes a program as a function in PTX. Every result has a register of its
// own: the driver's compiler chooses the card's registers.
type ptxWriter struct {
	text     bytes.Buffer
	body     strings.Builder
	f, p, rd int      // registers so far
	at       []string // where each slot is
}

func (w *ptxWriter) line(format string, args ...any) {
	fmt.Fprintf(&w.body, "\t"+format+"\n", args...)
}

func (w *ptxWriter) float() string   { w.f++; return fmt.Sprintf("%%f%d", w.f) }
func (w *ptxWriter) pred() string    { w.p++; return fmt.Sprintf("%%p%d", w.p) }
func (w *ptxWriter) address() string { w.rd++; return fmt.Sprintf("%%rd%d", w.rd) }

// number is a constant.
func number(x float32) string { return fmt.Sprintf("0f%08X", math.Float32bits(x)) }

const one, zero = "0f3F800000", "0f00000000"

// programAt is where the addresses of the inputs begin in a formula.
const programAt = int(unsafe.Offsetof(formula{}.At))

// function writes name(program, unit, x, out): output k goes to out[4k].
func (w *ptxWriter) function(name string, p *bytecode.Program, inputs []expr.Param) {
	w.body.Reset()
	w.f = 0
	w.p = 0
	w.rd = 0
	w.at = make([]string, p.Slots)
	program, out := w.address(), w.address()
	w.at[0] = w.float()
	w.line("ld.param.u64 %s, [%s_param_0];", program, name)
	w.line("ld.param.u32 %%r1, [%s_param_1];", name)
	w.line("ld.param.f32 %s, [%s_param_2];", w.at[0], name)
	w.line("ld.param.u64 %s, [%s_param_3];", out, name)
	for i := range p.Params {
		from, x := w.address(), w.float()
		w.line("ld.u64 %s, [%s+%d];", from, program, programAt+8*i)
		if inputs[i].OnePerUnit() {
			first := from
			from = w.address()
			w.line("mad.wide.s32 %s, %%r1, 4, %s;", from, first)
		}
		w.line("ld.f32 %s, [%s];", x, from)
		w.at[1+i] = x
	}
	for i, c := range p.Consts {
		w.at[1+p.Params+i] = w.float()
		w.line("mov.f32 %s, %s;", w.at[1+p.Params+i], number(float32(c)))
	}
	for i := range p.Code {
		w.instruction(&p.Code[i])
	}
	for k := range p.Outs {
		w.line("st.f32 [%s+%d], %s;", out, 16*k, w.at[p.First()+k])
	}
	fmt.Fprintf(&w.text, ".func %s(.param .b64 %[1]s_param_0, .param .b32 %[1]s_param_1, .param .b32 %[1]s_param_2, .param .b64 %[1]s_param_3)\n{\n", name)
	fmt.Fprintf(&w.text, "\t.reg .pred %%p<%d>;\n\t.reg .f32 %%f<%d>;\n\t.reg .b32 %%r<2>;\n\t.reg .b64 %%rd<%d>;\n%s\tret;\n}\n", w.p+1, w.f+1, w.rd+1, w.body.String())
}

// plain are the instructions that PTX has; comparisons those of its comparisons.
var plain = map[bytecode.Code]string{
	bytecode.CodeAdd: "add.rn", bytecode.CodeSub: "sub.rn", bytecode.CodeMul: "mul.rn", bytecode.CodeDiv: "div.rn",
	bytecode.CodeNeg: "neg", bytecode.CodeAbs: "abs", bytecode.CodeSqrt: "sqrt.rn", bytecode.CodeCopy: "mov",
}

var comparisons = map[bytecode.Code]string{
	bytecode.CodeLess: "lt", bytecode.CodeAtMost: "le", bytecode.CodeEqual: "eq", bytecode.CodeNotEqual: "ne",
	bytecode.CodeMin: "lt", bytecode.CodeMax: "gt",
}

// compare writes a comparison and returns its result.
func (w *ptxWriter) compare(how, x, y string) string {
	p := w.pred()
	w.line("setp.%s.f32 %s, %s, %s;", how, p, x, y)
	return p
}

// choose writes x where p holds, else y.
func (w *ptxWriter) choose(p, x, y string) string {
	f := w.float()
	w.line("selp.f32 %s, %s, %s, %s;", f, x, y, p)
	return f
}

// compute writes an instruction of PTX.
func (w *ptxWriter) compute(name string, operands ...string) string {
	f := w.float()
	w.line("%s.f32 %s, %s;", name, f, strings.Join(operands, ", "))
	return f
}

// instruction writes an instruction with the results that formula.h defines for it.
func (w *ptxWriter) instruction(in *bytecode.Instr) {
	x := w.at[in.X]
	y := w.at[in.Y]
	z := w.at[in.Z]
	var f string
	switch in.Code {
	case bytecode.CodeAdd, bytecode.CodeSub, bytecode.CodeMul, bytecode.CodeDiv:
		f = w.compute(plain[in.Code], x, y)
	case bytecode.CodeNeg, bytecode.CodeAbs, bytecode.CodeSqrt, bytecode.CodeCopy:
		f = w.compute(plain[in.Code], x)
	case bytecode.CodeMulAdd:
		f = w.compute("fma.rn", x, y, z)
	case bytecode.CodeMulSub:
		f = w.compute("fma.rn", x, y, w.compute("neg", z))
	case bytecode.CodeSubMul:
		f = w.compute("fma.rn", w.compute("neg", x), y, z)
	case bytecode.CodeSign:
		f = w.choose(w.compare("gt", x, zero), one, w.choose(w.compare("lt", x, zero), number(-1), x))
	case bytecode.CodeMin, bytecode.CodeMax:
		f = w.choose(w.compare("nan", x, y), w.compute("add.rn", x, y), w.choose(w.compare(comparisons[in.Code], x, y), x, y))
	case bytecode.CodeLess, bytecode.CodeAtMost, bytecode.CodeEqual, bytecode.CodeNotEqual:
		f = w.choose(w.compare(comparisons[in.Code], x, y), one, zero)
	case bytecode.CodeSelect:
		f = w.choose(w.compare("neu", x, zero), y, z)
	case bytecode.CodeEval:
		var slope string
		f, slope = w.eval(in, x)
		if in.Slope != 0 {
			w.at[in.Slope] = slope
		}
	default:
		f = w.math(in, x)
	}
	w.at[in.Dst] = f
}

// eval calls a named function, which also returns its slope.
func (w *ptxWriter) eval(in *bytecode.Instr, x string) (f, slope string) {
	f, slope = w.float(), w.float()
	w.line("{\n\t.param .b32 fn;\n\t.param .b32 x;\n\t.param .align 4 .b8 y[8];")
	w.line("st.param.b32 [fn], %d;\n\tst.param.f32 [x], %s;", in.Fn, x)
	w.line("call.uni (y), formula_eval, (fn, x);")
	w.line("ld.param.f32 %s, [y];\n\tld.param.f32 %s, [y+4];\n\t}", f, slope)
	return f, slope
}

// math calls a function of one number.
func (w *ptxWriter) math(in *bytecode.Instr, x string) string {
	f := w.float()
	w.line("{\n\t.param .b32 code;\n\t.param .b32 fn;\n\t.param .b32 x;\n\t.param .b32 y;")
	w.line("st.param.b32 [code], %d;\n\tst.param.b32 [fn], %d;\n\tst.param.f32 [x], %s;", in.Code, in.Fn, x)
	w.line("call.uni (y), formula_math, (code, fn, x);")
	w.line("ld.param.f32 %s, [y];\n\t}", f)
	return f
}
