package bytecode

import (
	"math"
	"unsafe"

	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
)

// step computes one instruction for one element, in float64: the twin of the
// vector kernels, and how programs run at a single number.
func (in *Instr) step(x, y, z float64) (f, df float64) {
	switch in.Code {
	case CodeCopy:
		return x, 0
	case CodeAdd:
		return x + y, 0
	case CodeSub:
		return x - y, 0
	case CodeMul:
		return x * y, 0
	case CodeDiv:
		return x / y, 0
	case CodeMulAdd:
		return float64(x*y) + z, 0
	case CodeMulSub:
		return float64(x*y) - z, 0
	case CodeSubMul:
		return z - float64(x*y), 0
	case CodeNeg:
		return -x, 0
	case CodeAbs:
		return math.Abs(x), 0
	case CodeSign:
		return sign(x), 0
	case CodeMin:
		return min(x, y), 0
	case CodeMax:
		return max(x, y), 0
	case CodeLess:
		return truth(x < y), 0
	case CodeAtMost:
		return truth(x <= y), 0
	case CodeEqual:
		return truth(x == y), 0
	case CodeNotEqual:
		return truth(x < y || x > y), 0
	case CodeSelect:
		if x != 0 {
			return y, 0
		}
		return z, 0
	case CodeSqrt:
		return math.Sqrt(x), 0
	case CodeLog:
		return math.Log(x), 0
	case CodeLog1p:
		return math.Log1p(x), 0
	case CodeExpm1:
		return math.Expm1(x), 0
	case CodeAtan:
		return math.Atan(x), 0
	case CodeBend:
		return bend(in.Fn, x), 0
	case CodeEval:
		return kernel.Scalar(in.Fn, 0, x)
	}
	panic("compute: unknown instruction")
}

// bend is the second derivative that no arithmetic of values and slopes gives
// without loss.
func bend(op kernel.Op, x float64) float64 {
	if op != kernel.OpNormalInverse {
		panic("compute: no second derivative of this function")
	}
	_, _, d := special.NormalInverseJet(x)
	return d
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // 0 or NaN
}

// runGo runs a chunk, each instruction in float64 and rounded once.
func runGo[T compute.Float](code []Instr, at []*T, n int) {
	for k := range code {
		in := &code[k]
		x := unsafe.Slice(at[in.X], n)
		y := unsafe.Slice(at[in.Y], n)
		z := unsafe.Slice(at[in.Z], n)
		dst := unsafe.Slice(at[in.Dst], n)
		if in.Slope == 0 {
			for i := range dst {
				f, _ := in.step(float64(x[i]), float64(y[i]), float64(z[i]))
				dst[i] = T(f)
			}
			continue
		}
		slope := unsafe.Slice(at[in.Slope], n)
		for i := range dst {
			f, df := in.step(float64(x[i]), 0, 0)
			dst[i], slope[i] = T(f), T(df)
		}
	}
}

// MaxSlots is the most slots of a program that At runs.
const MaxSlots = 1024

// At computes the outputs at a single number, in float64.
func (p *Program) At(x float64, params, out []float64) {
	if p.Slots > 64 {
		p.atMany(x, params, out)
		return
	}
	var r [64]float64
	p.at(r[:], x, params, out)
}

func (p *Program) atMany(x float64, params, out []float64) {
	var r [MaxSlots]float64
	p.at(r[:], x, params, out)
}

func (p *Program) at(r []float64, x float64, params, out []float64) {
	r[0] = x
	copy(r[1:], params[:p.Params])
	copy(r[1+p.Params:], p.Consts)
	for k := range p.Code {
		in := &p.Code[k]
		f, df := in.step(r[in.X], r[in.Y], r[in.Z])
		r[in.Dst] = f
		if in.Slope != 0 {
			r[in.Slope] = df
		}
	}
	copy(out[:p.Outs], r[p.First():])
}
