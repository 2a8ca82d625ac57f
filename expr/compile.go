package expr

import (
	"math"

	"utvi/internal/compute"
)

// codes are the instructions of the plain operations.
var codes = map[Op]compute.Code{
	Add: compute.CodeAdd, Sub: compute.CodeSub, Mul: compute.CodeMul, Div: compute.CodeDiv,
	Neg: compute.CodeNeg, Abs: compute.CodeAbs, Sign: compute.CodeSign,
	Min: compute.CodeMin, Max: compute.CodeMax,
	Less: compute.CodeLess, AtMost: compute.CodeAtMost, Equal: compute.CodeEqual, NotEqual: compute.CodeNotEqual,
	Where: compute.CodeSelect, Sqrt: compute.CodeSqrt, Log: compute.CodeLog, Log1p: compute.CodeLog1p,
	Expm1: compute.CodeExpm1, Atan: compute.CodeAtan, NormalInverseBend: compute.CodeBend,
}

// kernels are the functions that have a kernel of value and slope, and which of
// the two a node is. Softplus has the sigmoid for its slope, the sine the cosine.
var kernels = map[Op]struct {
	fn    compute.Op
	slope bool
}{
	Exp: {compute.OpExp, false}, Sin: {compute.OpSin, false}, Cos: {compute.OpSin, true},
	Tanh: {compute.OpTanh, false}, TanhSlope: {compute.OpTanh, true},
	Sigmoid: {compute.OpSigmoid, false}, SigmoidSlope: {compute.OpSigmoid, true},
	Softplus: {compute.OpSoftplus, false},
	Erf:      {compute.OpErf, false}, ErfSlope: {compute.OpErf, true},
	NormalCDF: {compute.OpNormalCDF, false}, NormalPDF: {compute.OpNormalCDF, true},
	NormalInverse: {compute.OpNormalInverse, false}, NormalInverseSlope: {compute.OpNormalInverse, true},
}

// A call is one run of a kernel: its function and argument.
type call struct {
	fn  compute.Op
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
	code       compute.Code
	fn         compute.Op
	in         []int
	out, slope int
}

// compile makes a program that computes outs from x and params.
func compile(outs []*Expr, params []string) *compute.Prog {
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
		if at.fn != compute.OpSoftplus {
			continue
		}
		s, ok := c.calls[call{compute.OpSigmoid, at.arg}]
		if ok && s[1] == nil {
			c.calls[at] = [2]*Expr{pair[0], s[0]}
			c.calls[call{compute.OpSigmoid, at.arg}] = c.calls[at]
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
		log := c.put(compute.CodeLog, c.visit(e.args[0]))
		product := c.put(compute.CodeMul, c.visit(e.args[1]), log)
		at := c.fresh()
		c.code = append(c.code, draft{compute.CodeEval, compute.OpExp, []int{product}, at, -1})
		return at
	case NormalInverseBend:
		at := c.put(compute.CodeBend, c.visit(e.args[0]))
		c.code[len(c.code)-1].fn = compute.OpNormalInverse
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

func (c *compiler) put(code compute.Code, in ...int) int {
	at := c.fresh()
	c.code = append(c.code, draft{code, 0, in, at, -1})
	return at
}

// fused joins a product, which nothing else needs, with its sum.
func (c *compiler) fused(e *Expr) (int, bool) {
	p, q := e.args[0], e.args[1]
	code := compute.CodeMulAdd
	switch {
	case q.op == Mul && c.uses[q] == 1 && e.op == Sub:
		p, q = q, p
		code = compute.CodeSubMul
	case q.op == Mul && c.uses[q] == 1:
		p, q = q, p
	case p.op == Mul && c.uses[p] == 1 && e.op == Sub:
		code = compute.CodeMulSub
	case p.op == Mul && c.uses[p] == 1:
	default:
		return 0, false
	}
	return c.put(code, c.visit(p.args[0]), c.visit(p.args[1]), c.visit(q)), true
}

// eval runs a kernel for all the nodes that it serves.
func (c *compiler) eval(e *Expr, fn compute.Op) int {
	pair := c.calls[call{fn, e.args[0]}]
	if pair[0] != nil && pair[0].op == Softplus {
		fn = compute.OpSoftplus
	}
	x := c.visit(e.args[0])
	d := draft{compute.CodeEval, fn, []int{x}, c.fresh(), -1}
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
