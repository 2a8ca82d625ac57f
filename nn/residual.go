package nn

import (
	"errors"
	"fmt"

	"utvi/gauss"
)

// Residual adds a branch f to its input: x + f(x). With a Skip s, the input takes a
// second road: s(x) + f(x), as where a block changes the size of an image.
//
// If there is no Skip and the branch is one elementwise nonlinearity, x ↦ x + f(x) is
// pushed as one function by the branch's rule, and the covariance of x and f(x) is kept.
// Otherwise the two roads are taken as independent: means add and variances add. On fixed
// inputs that is exact, because two roads share no weights. On inputs with variances it
// loses the covariance: a branch that is the identity would give 2v for a true 4v.
// Inside Correlated the covariance that both roads have from x is kept, to first order.
type Residual struct {
	Branch Layer `json:"-"`
	Skip   Layer `json:"-"` // nil means x itself
}

// Kind is "residual", as model files and the names of parameters have it.
func (Residual) Kind() string { return "residual" }

// Bind32 binds the branch and the skip to the same input; one elementwise branch is bound as one function.
func (l Residual) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindResidual(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Residual) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindResidual(l, b) }

// Children returns the branch and, if there is one, the skip.
func (l Residual) Children() []Layer {
	if l.Skip == nil {
		return []Layer{l.Branch}
	}
	return []Layer{l.Branch, l.Skip}
}

// WithChildren returns a residual of another branch and, if this one has a skip, another skip.
func (l Residual) WithChildren(layers []Layer) Layer {
	l.Branch = layers[0]
	if l.Skip != nil {
		l.Skip = layers[1]
	}
	return l
}

// AssumesIndependence reports whether the layer drops the covariance of its two roads.
func (l Residual) AssumesIndependence() bool { return l.Skip != nil || elementwise(l.Branch) == nil }

// Elementwise returns x + f(x) as one layer, and whether the branch is one elementwise
// nonlinearity and there is no Skip. The residual is bound as that layer.
func (l Residual) Elementwise() (Apply, bool) {
	a := elementwise(l.Branch)
	if l.Skip != nil || a == nil || a.F == nil || a.F.F == nil {
		return Apply{}, false
	}
	return Apply{F: fused(a.F), Rule: a.Rule}, true
}

// elementwise returns the Apply that a branch is; nil if it is anything else.
func elementwise(l Layer) *Apply {
	switch l := l.(type) {
	case Apply:
		return &l
	case Chain:
		if len(l) == 1 {
			return elementwise(l[0])
		}
	}
	return nil
}

type residual[T gauss.Float] struct {
	branch Unit[T]
	in     Form
	shape  Shape
	k      int // quantities that are followed
}

func bindResidual[T gauss.Float](l Residual, b *Binder[T]) (Unit[T], error) {
	if l.Branch == nil {
		return nil, errors.New("no branch; set nn.Residual.Branch")
	}
	if a, ok := l.Elementwise(); ok {
		return bindApply(a, b) // one function: the node has no children
	}
	if a := elementwise(l.Branch); a != nil && l.Skip == nil {
		return bindApply(*a, b) // which says what is missing
	}
	in := b.In
	branch, err := Bind(l.Branch, b)
	if err != nil {
		return nil, fmt.Errorf("branch: %w", err)
	}
	if err := carries(branch, b, "branch"); err != nil {
		return nil, err
	}
	if l.Skip != nil {
		return bindFork(l.Skip, branch, b)
	}
	if out := branch.Out(); out != in {
		return nil, fmt.Errorf("the branch turns %v into %v; its output must have the shape of its input", in, out)
	}
	return &residual[T]{branch: branch, in: b.Form, shape: in}, nil
}

// carries reports a road that cannot carry correlations where it must.
func carries[T gauss.Float](u Unit[T], b *Binder[T], road string) error {
	if _, ok := u.(Sensitive[T]); b.Sense && u.Form() != Fixed && !ok {
		return fmt.Errorf("the %s cannot carry correlations; a layer of your own carries them if its unit implements nn.Sensitive and its runner nn.Senser", road)
	}
	return nil
}

func (u *residual[T]) Out() Shape { return u.shape }

// Form: covariances of the branch alone are not those of the sum.
func (u *residual[T]) Form() Form        { return u.branch.Form().apart() }
func (u *residual[T]) TapeWidth() int    { return u.branch.TapeWidth() }
func (u *residual[T]) GradTiles() int    { return u.branch.GradTiles() }
func (u *residual[T]) PrepareTiles() int { return u.branch.PrepareTiles() }

func (u *residual[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &residualRunner[T]{Runner: u.branch.NewRunner(maxRows, train), residual: u,
		out: gauss.New[T](maxRows, u.shape.Size())}
	if u.k > 0 {
		r.a = make([]T, maxRows*u.k*u.shape.Size())
	}
	return r
}

type residualRunner[T gauss.Float] struct {
	Runner[T] // of the branch: Prepare and Gradient are its own
	*residual[T]
	pass Pass[T]        // of the branch
	out  gauss.Batch[T] // of the branch

	sense Sense[T] // of the branch
	a     []T      // sensitivities to its input
}

func (r *residualRunner[T]) Forward(p *Pass[T]) {
	q := &r.pass
	q.Seed = p.Seed
	q.Step = p.Step
	q.Row = p.Row
	q.Tape = p.Tape
	q.In = p.In
	q.Out = view(r.out, p.In.Rows, p.In.Width, r.branch.Form())
	r.Runner.Forward(q)
	sum(p.Out.Mean, p.In.Mean, q.Out.Mean)
	sum(p.Out.Var, p.In.Var, q.Out.Var)
}

func (r *residualRunner[T]) Backward(p *Pass[T]) {
	r.pass.DOut, r.pass.DIn = p.DOut, p.DIn
	r.Runner.Backward(&r.pass)
	sum(p.DIn.Mean, p.DIn.Mean, p.DOut.Mean)
	sum(p.DIn.Var, p.DIn.Var, p.DOut.Var)
}

func (u *residual[T]) Follow(k int) {
	u.k = k
	u.branch.(Sensitive[T]).Follow(k)
}

// Sense adds what the branch passes on to what the input passes on itself: their
// covariance is kept.
func (r *residualRunner[T]) Sense(s *Sense[T]) {
	q := &r.sense
	*q = *s
	q.Pass = &r.pass
	if r.in != Fixed {
		q.In = r.a[:len(s.In)]
	}
	r.Runner.(Senser[T]).Sense(q)
	sum(s.In, s.Out, q.In)
}

func (r *residualRunner[T]) SenseBack(s *Sense[T]) {
	q := &r.sense
	q.DCov = s.DCov
	q.BIn = s.BIn
	q.BOut = s.BOut
	r.Runner.(Senser[T]).SenseBack(q)
	if r.in != Fixed {
		sum(s.BOut, s.BOut, s.BIn)
	}
}

// sum writes x + y to dst, unless dst is nil; a nil x is zero, and so is y.
func sum[T gauss.Float](dst, x, y []T) {
	for i := range dst {
		var s T
		if x != nil {
			s = x[i]
		}
		if y != nil {
			s += y[i]
		}
		dst[i] = s
	}
}
