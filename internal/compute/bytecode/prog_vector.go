//go:build amd64 || arm64

package bytecode

import (
	"unsafe"

	"utvi/internal/compute/kernel"
)

// Kernels of programs by their number of operands; nil where runVector has its own way.
var (
	prog1 = [NumCodes]func(x, f *float32, n int){
		CodeNeg: progNeg, CodeAbs: progAbs, CodeSign: progSign, CodeSqrt: progSqrt,
		CodeLog: progLog, CodeLog1p: progLog1p, CodeExpm1: progExpm1, CodeAtan: progAtan,
	}
	prog2 = [NumCodes]func(x, y, f *float32, n int){
		CodeAdd: progAdd, CodeSub: progSub, CodeMul: progMul, CodeDiv: progDiv,
		CodeMin: progMin, CodeMax: progMax,
		CodeLess: progLess, CodeAtMost: progAtMost, CodeEqual: progEqual, CodeNotEqual: progNotEqual,
	}
	prog3 = [NumCodes]func(x, y, z, f *float32, n int){
		CodeMulAdd: progMulAdd, CodeMulSub: progMulSub, CodeSubMul: progSubMul, CodeSelect: progSelect,
	}
)

// runVector runs a chunk of n > 0 elements.
func runVector(code []Instr, at []*float32, n int) {
	for k := range code {
		in := &code[k]
		x, dst := at[in.X], at[in.Dst]
		if f := prog2[in.Code]; f != nil {
			f(x, at[in.Y], dst, n)
			continue
		}
		if f := prog3[in.Code]; f != nil {
			f(x, at[in.Y], at[in.Z], dst, n)
			continue
		}
		if f := prog1[in.Code]; f != nil {
			f(x, dst, n)
			continue
		}
		if in.Code != CodeEval {
			runGo(code[k:k+1], at, n)
			continue
		}
		var slope []float32
		if in.Slope != 0 {
			slope = unsafe.Slice(at[in.Slope], n)
		}
		kernel.Eval(in.Fn, 0, unsafe.Slice(x, n), unsafe.Slice(dst, n), slope)
	}
}
