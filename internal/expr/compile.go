package expr

import (
	"math"

	"utvi/internal/compute/bytecode"
	"utvi/internal/compute/kernel"
)

// codes are the instructions of the plain operations.
var codes = map[Op]bytecode.Code{
	Add: bytecode.CodeAdd, Sub: bytecode.CodeSub, Mul: bytecode.CodeMul, Div: bytecode.CodeDiv,
	Neg: bytecode.CodeNeg, Abs: bytecode.CodeAbs, Sign: bytecode.CodeSign,
	Min: bytecode.CodeMin, Max: bytecode.CodeMax,
	Less: bytecode.CodeLess, AtMost: bytecode.CodeAtMost, Equal: bytecode.CodeEqual, NotEqual: bytecode.CodeNotEqual,
	Where: bytecode.CodeSelect, Sqrt: bytecode.CodeSqrt, Log: bytecode.CodeLog, Log1p: bytecode.CodeLog1p,
	Expm1: bytecode.CodeExpm1, Atan: bytecode.CodeAtan, NormalInverseBend: bytecode.CodeBend,
}

// kernels are the functions that have a kernel of value and slope, and which of
// the two a node is. Softplus has the sigmoid for its slope, the sine the cosine.
var kernels = map[Op]struct {
	fn    kernel.Op
	slope bool
}{
	Exp: {kernel.OpExp, false}, Sin: {kernel.OpSin, false}, Cos: {kernel.OpSin, true},
	Tanh: {kernel.OpTanh, false}, TanhSlope: {kernel.OpTanh, true},
	Sigmoid: {kernel.OpSigmoid, false}, SigmoidSlope: {kernel.OpSigmoid, true},
	Softplus: {kernel.OpSoftplus, false},
	Erf:      {kernel.OpErf, false}, ErfSlope: {kernel.OpErf, true},
	NormalCDF: {kernel.OpNormalCDF, false}, NormalPDF: {kernel.OpNormalCDF, true},
	NormalInverse: {kernel.OpNormalInverse, false}, NormalInverseSlope: {kernel.OpNormalInverse, true},
}

// A call is one run of a kernel: its function and argument.
type call struct {
	fn  kernel.Op
	arg *Expr
}

// A compiler turns nodes into instructions over places; places become slots when
// all instructions and the last use of each are known.
type compiler struct {
	params []string
	place  map[*Expr]int     // where a node's value lies
	calls  map[call][2]*Expr // the nodes that a kernel's value and slope serve
	uses   map[*Expr]int
	consts map[uint64]int // by their bits
	order  []float64      // constants as they were met
	code   []draft
	places int
}

// A draft is an instruction over places; −1 is none.
type draft struct {
	code       bytecode.Code
	fn         kernel.Op
	in         []int
	out, slope int
}

// compile makes a program that computes outs from x and params.
func compile(outs []*Expr, params []string) *bytecode.Program {
	c := &compiler{params: params, place: map[*Expr]int{}, calls: map[call][2]*Expr{},
		uses: map[*Expr]int{}, consts: map[uint64]int{}}
	for _, e := range outs {
		c.uses[e] += 2 // and not folded into another instruction
	}
	walk(func(e *Expr) {
		for _, a := range e.args {
			c.uses[a]++
		}
		k, ok := kernels[e.op]
		if !ok {
			return
		}
		at := call{k.fn, e.args[0]}
		pair := c.calls[at]
		if k.slope {
			pair[1] = e
		} else {
			pair[0] = e
		}
		c.calls[at] = pair
	}, outs...)
	for at, pair := range c.calls { // softplus and sigmoid of one argument: one kernel
		if at.fn != kernel.OpSoftplus {
			continue
		}
		s, ok := c.calls[call{kernel.OpSigmoid, at.arg}]
		if ok && s[1] == nil {
			c.calls[at] = [2]*Expr{pair[0], s[0]}
			c.calls[call{kernel.OpSigmoid, at.arg}] = c.calls[at]
		}
	}
	for _, e := range outs {
		c.visit(e)
	}
	return c.assemble(outs)
}

func (c *compiler) fresh() int { c.places++; return c.places - 1 }

// visit emits what computes e, once, and returns its place.
func (c *compiler) visit(e *Expr) int {
	if at, ok := c.place[e]; ok {
		return at
	}
	at := c.emit(e)
	c.place[e] = at
	return at
}

func (c *compiler) emit(e *Expr) int {
	switch e.op {
	case X, Parameter:
		return c.fresh()
	case Num:
		c.order = append(c.order, e.value)
		c.consts[math.Float64bits(e.value)] = c.fresh()
		return c.places - 1
	case Pow:
		log := c.put(bytecode.CodeLog, c.visit(e.args[0]))
		product := c.put(bytecode.CodeMul, c.visit(e.args[1]), log)
		at := c.fresh()
		c.code = append(c.code, draft{bytecode.CodeEval, kernel.OpExp, []int{product}, at, -1})
		return at
	case NormalInverseBend:
		at := c.put(bytecode.CodeBend, c.visit(e.args[0]))
		c.code[len(c.code)-1].fn = kernel.OpNormalInverse
		return at
	}
	if k, ok := kernels[e.op]; ok {
		return c.eval(e, k.fn)
	}
	if e.op == Add || e.op == Sub {
		if at, ok := c.fused(e); ok {
			return at
		}
	}
	var in []int
	for _, a := range e.args {
		in = append(in, c.visit(a))
	}
	return c.put(codes[e.op], in...)
}

func (c *compiler) put(code bytecode.Code, in ...int) int {
	at := c.fresh()
	c.code = append(c.code, draft{code, 0, in, at, -1})
	return at
}

// fused joins a product, which nothing else needs, with its sum.
func (c *compiler) fused(e *Expr) (int, bool) {
	p, q := e.args[0], e.args[1]
	code := bytecode.CodeMulAdd
	switch {
	case q.op == Mul && c.uses[q] == 1 && e.op == Sub:
		p, q = q, p
		code = bytecode.CodeSubMul
	case q.op == Mul && c.uses[q] == 1:
		p, q = q, p
	case p.op == Mul && c.uses[p] == 1 && e.op == Sub:
		code = bytecode.CodeMulSub
	case p.op == Mul && c.uses[p] == 1:
	default:
		return 0, false
	}
	return c.put(code, c.visit(p.args[0]), c.visit(p.args[1]), c.visit(q)), true
}

// eval runs a kernel for all the nodes that it serves.
func (c *compiler) eval(e *Expr, fn kernel.Op) int {
	pair := c.calls[call{fn, e.args[0]}]
	if pair[0] != nil && pair[0].op == Softplus {
		fn = kernel.OpSoftplus
	}
	x := c.visit(e.args[0])
	d := draft{bytecode.CodeEval, fn, []int{x}, c.fresh(), -1}
	if pair[0] != nil {
		c.place[pair[0]] = d.out
	}
	if pair[1] != nil {
		d.slope = c.fresh()
		c.place[pair[1]] = d.slope
	}
	c.code = append(c.code, d)
	return c.place[e]
}
