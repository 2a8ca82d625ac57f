package expr

import (
	"strconv"
	"strings"
)

// names are how nodes with arguments in parentheses are written.
var names = map[Op]string{
	Abs: "abs", Sign: "sign", Min: "min", Max: "max", Where: "where", Sqrt: "sqrt", Log: "log", Log1p: "log1p",
	Exp: "exp", Expm1: "expm1", Sin: "sin", Cos: "cos", Atan: "atan", Tanh: "tanh", TanhSlope: "tanh'",
	Sigmoid: "sigmoid", SigmoidSlope: "sigmoid'", Softplus: "softplus", Erf: "erf", ErfSlope: "erf'",
	NormalCDF: "normal_cdf", NormalPDF: "normal_pdf", NormalInverse: "normal_inverse",
	NormalInverseSlope: "normal_inverse'", NormalInverseBend: "normal_inverse''",
}

var symbols = map[Op]string{Add: "+", Sub: "-", Mul: "*", Div: "/", Pow: "^",
	Less: "<", AtMost: "<=", Equal: "==", NotEqual: "!="}

// String writes the expression as a formula. If it is nested too deep to be read back,
// as a derivative may be, the text is cut short.
func (e *Expr) String() string {
	var s strings.Builder
	e.write(&s, 0)
	return s.String()
}

// write leaves out the parentheses that binding gives. A node that occurs twice is
// written twice, so the length is bounded.
func (e *Expr) write(s *strings.Builder, least int) {
	const most = 1 << 14
	if s.Len() > most {
		s.WriteString("…")
		return
	}
	open := func(tight int) func() {
		if tight > least {
			return func() {}
		}
		s.WriteByte('(')
		return func() { s.WriteByte(')') }
	}
	switch {
	case e.op == Num && e.value < 0:
		defer open(unaryBinding)()
		s.WriteString(strconv.FormatFloat(e.value, 'g', -1, 64))
	case e.op == Num:
		s.WriteString(strconv.FormatFloat(e.value, 'g', -1, 64))
	case e.op == X:
		s.WriteByte('x')
	case e.op == Parameter:
		s.WriteString(e.name)
	case e.op == Neg:
		defer open(unaryBinding)()
		s.WriteByte('-')
		e.args[0].write(s, unaryBinding)
	case symbols[e.op] != "":
		tight := binding[symbols[e.op]]
		defer open(tight)()
		left := tight - 1
		if tight == 1 || e.op == Pow { // neither goes on to the right
			left = tight
		}
		e.args[0].write(s, left)
		s.WriteString(" " + symbols[e.op] + " ")
		e.args[1].write(s, tight)
	default:
		s.WriteString(names[e.op] + "(")
		for i, a := range e.args {
			if i > 0 {
				s.WriteString(", ")
			}
			a.write(s, 0)
		}
		s.WriteByte(')')
	}
}
