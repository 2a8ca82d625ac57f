package expr

import "math"

// An Expr is a node of an expression. It is immutable. Equal parts of a formula,
// and of its derivatives, are one and the same node, so a walker that remembers
// nodes by their address computes common parts once.
type Expr struct {
	op    Op
	value float64 // of Num
	name  string  // of Parameter
	args  []*Expr
	id    int // in order of creation: after its args
}

// An Op says what a node computes from its arguments.
type Op uint8

// The operations. Comparisons give 1 or 0. Operations whose names end in Slope, and
// NormalInverseBend, occur only in derivatives: a kernel computes them together with
// the value of the function.
const (
	Num           Op = iota // a number
	X                       // the variable
	Parameter               // a parameter, by its name
	Add                     // a + b
	Sub                     // a − b
	Mul                     // a·b
	Div                     // a / b
	Neg                     // −a
	Pow                     // aᵇ, b a Num: exp(b·ln a)
	Abs                     // |a|
	Sign                    // −1, 0 or 1
	Min                     // the lesser
	Max                     // the greater
	Less                    // a < b
	AtMost                  // a ≤ b
	Equal                   // a = b
	NotEqual                // a ≠ b
	Where                   // b where a ≠ 0, else c
	Sqrt                    // √a
	Log                     // ln a
	Log1p                   // ln(1+a)
	Exp                     // eᵃ
	Expm1                   // eᵃ−1
	Sin                     // sin a
	Cos                     // cos a
	Atan                    // arctan a
	Tanh                    // tanh a
	TanhSlope               // 1/cosh² a
	Sigmoid                 // 1/(1+e⁻ᵃ)
	SigmoidSlope            // sigmoid(a)·sigmoid(−a)
	Softplus                // ln(1+eᵃ)
	Erf                     // erf a
	ErfSlope                // 2·exp(−a²)/√π
	NormalCDF               // Φ(a)
	NormalPDF               // φ(a)
	NormalInverse           // Φ⁻¹(sigmoid(a))
	NormalInverseSlope
	NormalInverseBend // its second derivative
	numOps
)

// Op returns the node's operation.
func (e *Expr) Op() Op { return e.op }

// Value returns the number of a Num.
func (e *Expr) Value() float64 { return e.value }

// Name returns the name of a Parameter.
func (e *Expr) Name() string { return e.name }

// Args returns the node's arguments. The caller must not change them.
func (e *Expr) Args() []*Expr { return e.args }

// Walk calls visit once for every node, arguments before the nodes that use them.
func (e *Expr) Walk(visit func(*Expr)) { walk(visit, e) }

func walk(visit func(*Expr), roots ...*Expr) {
	seen := map[*Expr]bool{}
	var down func(e *Expr)
	down = func(e *Expr) {
		if seen[e] {
			return
		}
		seen[e] = true
		for _, a := range e.args {
			down(a)
		}
		visit(e)
	}
	for _, e := range roots {
		down(e)
	}
}

// is reports whether e is the number v.
func (e *Expr) is(v float64) bool { return e.op == Num && e.value == v }

// A builder makes nodes. It simplifies as it goes and makes no node twice.
type builder struct {
	nodes map[key]*Expr
	full  bool // more nodes than maxNodes: what was built means nothing
}

// maxNodes bounds the nodes of a formula with all its derivatives.
const maxNodes = 20_000

type key struct {
	op      Op
	bits    uint64
	name    string
	a, b, c int
}

func newBuilder() *builder { return &builder{nodes: map[key]*Expr{}} }

// node returns the node of an operation as it is, without simplifying.
func (b *builder) node(op Op, args ...*Expr) *Expr {
	k := key{op: op, a: -1, b: -1, c: -1}
	for i, a := range args {
		*[]*int{&k.a, &k.b, &k.c}[i] = a.id
	}
	return b.intern(k, func() *Expr { return &Expr{op: op, args: args} })
}

func (b *builder) num(v float64) *Expr {
	if v == 0 {
		v = 0 // not −0
	}
	return b.intern(key{op: Num, bits: math.Float64bits(v)}, func() *Expr { return &Expr{op: Num, value: v} })
}

func (b *builder) x() *Expr { return b.node(X) }

func (b *builder) param(name string) *Expr {
	return b.intern(key{op: Parameter, name: name}, func() *Expr { return &Expr{op: Parameter, name: name} })
}

func (b *builder) intern(k key, make func() *Expr) *Expr {
	if e, ok := b.nodes[k]; ok {
		return e
	}
	e := make()
	if len(b.nodes) >= maxNodes {
		b.full = true
		return b.nodes[key{op: X, a: -1, b: -1, c: -1}]
	}
	e.id = len(b.nodes)
	b.nodes[k] = e
	return e
}
