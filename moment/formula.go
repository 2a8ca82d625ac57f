package moment

import (
	"utvi/gauss"
	"utvi/internal/compute/bytecode"
	"utvi/internal/compute/kernel"
	"utvi/internal/expr"
)

// Expr returns the function as a formula, whose tree an exporter can walk: the
// function's Formula, or the formula of its kernel. It is nil for a user's Go code.
func (f *Func) Expr() *expr.Formula {
	if f.Formula != nil {
		return f.Formula
	}
	text := expr.Spell(f.Op, f.A)
	if text == "" {
		return nil
	}
	g, err := expr.Parse(text)
	if err != nil {
		return nil // a parameter that is not finite
	}
	return g
}

// A formulaTile is what a tile needs to evaluate a formula.
type formulaTile[T gauss.Float] struct {
	value, pair, train *bytecode.Machine[T]
	inputs, outs       [][]T     // of one run
	byParam            [][]T     // ∂f/∂a at all points, of each learned parameter
	spare              [4][]T    // moments that combining parameters gives besides
	at, limit, left    []float64 // of one element
	standard           [][]T     // starting values, for inputs that the caller does not set
	sums               []*kernel.Samples[T]
}

func newFormulaTile[T gauss.Float](f *expr.Formula, rule Rule, n, size int) *formulaTile[T] {
	t := &formulaTile[T]{
		value: bytecode.NewMachine[T](f.Value), pair: bytecode.NewMachine[T](f.Pair),
		inputs: make([][]T, len(f.Inputs)), outs: make([][]T, f.Train.Outs),
		at: make([]float64, len(f.Inputs)), limit: make([]float64, f.Limit.Outs), left: make([]float64, f.Limit.Outs),
	}
	for _, p := range f.Inputs {
		s := make([]T, n)
		for i := range s {
			s[i] = T(p.Start(0))
		}
		t.standard = append(t.standard, s)
	}
	if f.Learned > 0 {
		t.train = bytecode.NewMachine[T](f.Train)
		for i := range t.spare {
			t.spare[i] = make([]T, n)
		}
	}
	for range f.Learned {
		t.byParam = append(t.byParam, make([]T, size))
		if Draws(rule) {
			t.sums = append(t.sums, kernel.NewSamples[T](n))
		}
	}
	return t
}

// Eval evaluates F at the planes x, and its slope if d is not nil.
func (t *Tile[T]) Eval(x, f, d []T) {
	if t.formula == nil {
		Eval(t.F, x, f, d)
		return
	}
	q := t.formula
	machine, outs := q.value, 1
	switch {
	case t.MP != nil && d != nil:
		machine, outs = q.train, len(q.outs)
	case d != nil:
		machine, outs = q.pair, 2
	}
	n := len(x)
	if len(q.inputs) > 0 { // which have one value an element, the same in every plane
		n = len(t.Mean)
	}
	for lo := 0; lo < len(x); lo += n {
		q.outs[0] = f[lo : lo+n]
		if d != nil {
			q.outs[1] = d[lo : lo+n]
		}
		for j := 2; j < outs; j++ {
			q.outs[j] = q.byParam[j-2][lo : lo+n]
		}
		for j := range q.inputs {
			q.inputs[j] = t.param(j)[:n]
		}
		machine.Run(x[lo:lo+n], q.inputs, q.outs[:outs])
	}
}

// param is an input of the formula, one value an element.
func (t *Tile[T]) param(j int) []T {
	if t.Params != nil {
		return t.Params[j]
	}
	return t.formula.standard[j]
}

// TakesParams reports whether a rule can push a formula with parameters: it fills MP and
// VP.
func TakesParams(r Rule) bool {
	switch r.(type) {
	case nodes, learnedUT, monteCarlo, linear:
		return true
	}
	return false
}

// EvalFixed evaluates F at the means alone, as numbers: values go to Out.Mean,
// slopes to Out.MM and ∂f/∂a to MP where those are not nil. At most Cap elements.
func (t *Tile[T]) EvalFixed() {
	if t.formula == nil {
		Eval(t.F, t.Mean, t.Out.Mean, t.Out.MM)
		return
	}
	t.Eval(t.Mean, t.Out.Mean, t.Out.MM)
	if t.Out.MM == nil {
		return
	}
	for j, p := range t.MP {
		copy(p, t.formula.byParam[j][:len(t.Mean)])
	}
}

// combineParams fills MP and VP: the sums for the mean, with ∂f/∂a in place of the
// slope.
func (t *Tile[T]) combineParams(xi, w []T) {
	if !t.jacobian() {
		return
	}
	n := len(t.Mean)
	for j := range t.MP {
		kernel.Combine(t.paramMoments(j), t.s[:n], t.f[:n*len(xi)], t.formula.byParam[j][:n*len(xi)], xi, w, 0, 1)
	}
}

// paramMoments returns where the derivatives with respect to a parameter go.
func (t *Tile[T]) paramMoments(j int) kernel.Moments[T] {
	n, q := len(t.Mean), t.formula
	return kernel.Moments[T]{Mean: q.spare[0][:n], Var: q.spare[1][:n],
		MM: t.MP[j][:n], MV: q.spare[2][:n], VM: t.VP[j][:n], VV: q.spare[3][:n]}
}

// A local is a function at one number: value, slope, curvature.
type local struct{ f, d, c float64 }

// local evaluates F at x with the parameters of element i. For a formula with
// parameters, it leaves the derivatives by those in t.formula.limit.
func (t *Tile[T]) local(i int, x float64, curvature bool) local {
	if t.formula == nil || len(t.formula.inputs) == 0 {
		l := local{f: t.F.F(x), d: t.F.Slope(x)}
		if curvature {
			l.c = t.F.Curvature(x)
		}
		return l
	}
	out := t.limitAt(i, x)
	return local{out[0], out[1], out[2]}
}

func (t *Tile[T]) limitAt(i int, x float64) []float64 {
	q := t.formula
	for j := range q.at {
		q.at[j] = float64(t.param(j)[i])
	}
	t.F.Formula.Limit.At(x, q.at, q.limit)
	return q.limit
}

// smooth reports whether no kink lies within r of x, for the parameters of
// element i.
func (t *Tile[T]) smooth(i int, x, r float64) bool {
	if t.formula == nil || len(t.formula.inputs) == 0 {
		return t.F.smoothWithin(x, r)
	}
	first := 3 + 2*t.F.Formula.Learned
	left := t.formula.left
	copy(left, t.limitAt(i, x-r)[first:])
	for k, s := range t.limitAt(i, x+r)[first:] {
		if !(s*left[k] > 0) {
			return false
		}
	}
	return true
}

// limitParams sets the derivatives by the parameters in the limit of vanishing
// variance: ∂mean/∂a → ∂f/∂a, ∂var/∂a → 2f′·∂f′/∂a·v. It needs what local left.
func (t *Tile[T]) limitParams(i int, v float64) {
	if !t.jacobian() {
		return
	}
	for j := range t.MP {
		out, learned := t.formula.limit, t.F.Formula.Learned
		t.MP[j][i] = T(out[3+j])
		t.VP[j][i] = T(2 * out[1] * out[3+learned+j] * v)
	}
}
