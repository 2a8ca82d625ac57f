package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The limits of a formula; nothing that a person writes comes near.
const (
	maxText  = 4096 // bytes
	maxDepth = 64   // operations within operations
	maxOwn   = 512  // nodes, before derivatives
)

// An Error says what is wrong with a formula, and at which character, counted
// from 1.
type Error struct {
	Character int
	Problem   string // what was found, and what would be right

	undefined string // the name that has no meaning, if that is the problem
}

// Error is one sentence, with the place first.
func (e *Error) Error() string { return fmt.Sprintf("character %d: %s", e.Character, e.Problem) }

// A parser reads one formula by precedence climbing (Pratt 1973).
type parser struct {
	b      *builder
	text   string
	tok    token
	next   int // byte after tok
	depth  int
	params []Param
}

// parse reads a formula; names other than x must be among params. Parameters that
// never change become numbers.
func (b *builder) parse(text string, params []Param) (e *Expr, err error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the formula has %d characters; at most %d are allowed", len(text), maxText)
	}
	p := &parser{b: b, text: text, params: params}
	defer func() {
		if r := recover(); r != nil {
			found, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			e, err = nil, found
		}
	}()
	p.advance()
	e = p.expression(0)
	if p.tok.kind != end {
		p.wrong("an operator or the end")
	}
	return e, nil
}

// fail ends the parse with an error at a byte of the text.
func (p *parser) fail(at int, format string, args ...any) {
	panic(&Error{Character: 1 + len([]rune(p.text[:at])), Problem: fmt.Sprintf(format, args...)})
}

// wrong says what was found where something else would be right.
func (p *parser) wrong(right string) { p.fail(p.tok.at, "found %v; expected %s", p.tok, right) }

func (p *parser) take(text string) {
	if p.tok.text != text {
		p.wrong(strconv.Quote(text))
	}
	p.advance()
}

// binary operators by how tightly they bind; ^ binds to the right.
var binding = map[string]int{
	"<": 1, "<=": 1, ">": 1, ">=": 1, "==": 1, "!=": 1,
	"+": 2, "-": 2, "*": 3, "/": 3, "^": 5,
}

const unaryBinding = 4 // −x^2 is −(x^2), −x*y is (−x)*y

// expression reads operators that bind tighter than least.
func (p *parser) expression(least int) *Expr {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.tok.at, "the formula is nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	e := p.operand()
	for p.tok.kind == operator {
		op, tight := p.tok.text, binding[p.tok.text]
		if tight <= least {
			break
		}
		if tight == 1 && least == 0 && isComparison(e) {
			p.fail(p.tok.at, "found a second comparison; write (a < b)*(b < c) for both")
		}
		p.advance()
		right := tight
		if op == "^" {
			right--
		}
		e = p.apply(op, e, p.expression(right))
		if len(p.b.nodes) > maxOwn {
			p.fail(p.tok.at, "the formula has more than %d parts", maxOwn)
		}
	}
	return e
}

func isComparison(e *Expr) bool { return e.op >= Less && e.op <= NotEqual }

func (p *parser) apply(op string, u, v *Expr) *Expr {
	b := p.b
	switch op {
	case "+":
		return b.add(u, v)
	case "-":
		return b.sub(u, v)
	case "*":
		return b.mul(u, v)
	case "/":
		return b.div(u, v)
	case "^":
		return b.pow(u, v)
	case "<":
		return b.compare(Less, u, v)
	case ">":
		return b.compare(Less, v, u)
	case "<=":
		return b.compare(AtMost, u, v)
	case ">=":
		return b.compare(AtMost, v, u)
	case "==":
		return b.compare(Equal, u, v)
	}
	return b.compare(NotEqual, u, v)
}

// operand reads a number, a name, a call, a sign or parentheses.
func (p *parser) operand() *Expr {
	t := p.tok
	switch {
	case t.kind == number:
		p.advance()
		if p.tok.kind == name || p.tok.text == "(" {
			p.fail(p.tok.at, "found %v after a number; write * between factors", p.tok)
		}
		return p.b.num(t.value)
	case t.text == "-" || t.text == "+":
		p.advance()
		e := p.expression(unaryBinding)
		if t.text == "-" {
			e = p.b.neg(e)
		}
		return e
	case t.text == "(":
		p.advance()
		e := p.expression(0)
		p.take(")")
		return e
	case t.kind == name:
		p.advance()
		return p.named(t)
	}
	p.wrong("a number, x, a function or (")
	return nil
}

// named returns the node of a name.
func (p *parser) named(t token) *Expr {
	f, known := functions[t.text]
	switch {
	case known && p.tok.text == "(":
		return p.call(t, f)
	case known:
		p.fail(t.at, "%s is a function; write %s(x)", t.text, t.text)
	case p.tok.text == "(":
		p.fail(t.at, "unknown function %s; the functions are %s", t.text, strings.Join(functionNames(), ", "))
	case t.text == "x":
		return p.b.x()
	case t.text == "pi":
		return p.b.num(math.Pi)
	case t.text == "e":
		return p.b.num(math.E)
	}
	for _, q := range p.params {
		if q.Name == t.text && q.varies() {
			return p.b.param(q.Name)
		}
		if q.Name == t.text {
			return p.b.num(q.Value)
		}
	}
	panic(&Error{1 + len([]rune(p.text[:t.at])), fmt.Sprintf("%s is not defined; write x, or make %s a parameter", t.text, t.text), t.text})
}

// call reads the arguments of a function.
func (p *parser) call(t token, f function) *Expr {
	p.advance()
	var args []*Expr
	for {
		args = append(args, p.expression(0))
		if p.tok.text != "," || len(args) > f.most {
			break
		}
		p.advance()
	}
	if len(args) < f.least || len(args) > f.most {
		usage := f.usage
		if usage == "" {
			usage = t.text + "(a)"
		}
		p.fail(t.at, "%s has the wrong number of arguments; write %s", t.text, usage)
	}
	p.take(")")
	return f.make(p.b, args)
}
