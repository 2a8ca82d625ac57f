package expr

import (
	"strconv"
	"sync"

	"utvi/internal/compute/kernel"
)

// Spell returns the formula of a function that has a kernel, with its parameter a. It
// is "" for a user's function.
func Spell(op kernel.Op, a float64) string {
	number := strconv.FormatFloat(a, 'g', -1, 64)
	switch {
	case op == kernel.OpLeakyReLU && a == 0:
		return "relu(x)"
	case op == kernel.OpLeakyReLU && a == -1:
		return "abs(x)"
	case op == kernel.OpLeakyReLU:
		return "leaky_relu(x, " + number + ")"
	case op == kernel.OpELU:
		return "elu(x, " + number + ")"
	}
	return kernel.Formula(op)
}

// spelt are the expressions of the functions with a kernel.
var spelt = sync.OnceValue(func() map[string]kernel.Op {
	all := map[string]kernel.Op{}
	for op := range kernel.NumOps {
		text := kernel.Formula(op)
		if text == "" {
			continue
		}
		e, err := newBuilder().parse(text, nil)
		if err != nil {
			panic("expr: a spelling does not parse")
		}
		all[e.String()] = op
	}
	return all
})

// Named returns the kernel that computes the formula, after simplification, and the
// parameter of the kernel: x*sigmoid(x) is SiLU.
func (f *Formula) Named() (op kernel.Op, a float64, ok bool) {
	e := f.Expr
	if op, ok := spelt()[e.String()]; ok {
		return op, 0, true
	}
	switch {
	case e.op == Max && e.args[0].op == X && e.args[1].is(0):
		return kernel.OpLeakyReLU, 0, true
	case e.op == Abs && e.args[0].op == X:
		return kernel.OpLeakyReLU, -1, true
	}
	left, ok := leftOf(e)
	if !ok {
		return 0, 0, false
	}
	k, u := split(left)
	if left.op == Neg {
		k, u = -1, left.args[0]
	}
	switch {
	case u.op == X:
		return kernel.OpLeakyReLU, k, true
	case u.op == Expm1 && u.args[0].op == X:
		return kernel.OpELU, k, true
	}
	return 0, 0, false
}

// leftOf is what a function is left of 0, if it is x right of it.
func leftOf(e *Expr) (left *Expr, ok bool) {
	if e.op != Where || e.args[1].op != X {
		return nil, false
	}
	c := e.args[0]
	return e.args[2], c.op == Less && c.args[0].is(0) && c.args[1].op == X
}
