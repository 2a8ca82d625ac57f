package nn

import (
	"errors"

	"utvi/gauss"
)

// Correlated runs layers one after the other, as Chain does, and computes the variance of
// its outputs with correlations, to first order. Units that share inputs or weights are
// correlated; Chain takes them as independent.
//
// Means and variances of the units go forward as usual. Then the sensitivities of each
// output to every unit go back, once for each output. The variance of an output is the
// sum of the variances that the layers add, times the squared sensitivity to each:
//
//	nonlinearity   V − g²v each, independent       a ← g·a, g the slope
//	dense          (m²+v)·S + s_b, independent     a ← W̄·a
//	convolution    as dense, with weights that all places share
//	inputs         v
//
// Two or more outputs also get their covariances. The cost is about one backward pass for
// each output.
//
// Higher orders are left out: the parts of two nonlinearities beyond their slopes are
// taken as independent of each other.
type Correlated struct {
	Layers Chain `json:"-"`
}

// Kind is "correlated", as model files and the names of parameters have it.
func (Correlated) Kind() string { return "correlated" }

// Bind32 binds the layers so that each carries correlations, and refuses those that cannot.
func (l Correlated) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindCorrelated(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Correlated) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindCorrelated(l, b) }

// Children returns the layers in the order in which they run.
func (l Correlated) Children() []Layer { return l.Layers }

// WithChildren returns a Correlated of other layers.
func (l Correlated) WithChildren(layers []Layer) Layer { return Correlated{Chain(layers)} }

// Correlate returns the network with all layers up to the last one with weights inside
// a Correlated, followed by the other layers. Those take the covariances if they can.
func Correlate(layers Chain) Chain {
	if Any(layers, func(l Layer) bool { _, ok := l.(Correlated); return ok }) {
		return layers
	}
	last := -1
	for i, l := range layers {
		if Any(l, func(l Layer) bool {
			switch l.(type) {
			case Dense, Conv2D, Conv1D, LSTM, GRU, RNN, ConvTranspose2D, ConvTranspose1D, Stochastic, MultiHeadAttention, Positions:
				return true
			}
			return false
		}) {
			last = i
		}
	}
	if last < 0 {
		return layers
	}
	return append(Chain{Correlated{layers[:last+1]}}, layers[last+1:]...)
}

type correlated[T gauss.Float] struct {
	Unit[T] // the layers, with independent units
	in      Shape
	form    Form // of the input
	k       int  // outputs
	weigher Weigher[T]
}

func bindCorrelated[T gauss.Float](l Correlated, b *Binder[T]) (Unit[T], error) {
	if b.Sense {
		return nil, errors.New("nn.Correlated inside nn.Correlated; use only the outer one")
	}
	b.Sense = true
	defer func() { b.Sense = false }()
	inner, err := bindChain(l.Layers, b)
	if err != nil || inner.Form() == Fixed {
		return inner, err
	}
	u := &correlated[T]{Unit: inner, in: b.In, form: b.Form, k: inner.Out().Size(), weigher: b.Weigher}
	inner.(Sensitive[T]).Follow(u.k)
	return u, nil
}

func (u *correlated[T]) Form() Form { return Covariant }

func (u *correlated[T]) NewRunner(maxRows int, train bool) Runner[T] {
	inner := u.Unit.NewRunner(maxRows, train)
	r := &correlatedRunner[T]{Runner: inner, correlated: u, senser: inner.(Senser[T])}
	n := maxRows * u.k
	r.cov, r.top = make([]float64, n*u.k), make([]T, n*u.k)
	if u.form != Fixed {
		r.bottom = make([]T, n*u.in.Size())
	}
	if train {
		r.dcov, r.btop = make([]float64, n*u.k), make([]T, n*u.k)
		r.zero = make([]T, n)
		if u.form != Fixed {
			r.bbottom, r.dvar = make([]T, len(r.bottom)), make([]T, maxRows*u.in.Size())
		}
	}
	return r
}

type correlatedRunner[T gauss.Float] struct {
	Runner[T] // of the layers: Prepare and Gradient are theirs
	*correlated[T]
	senser        Senser[T]
	sense         Sense[T] // of the block Forward saw last
	top, bottom   []T      // sensitivities to the outputs and to the inputs
	btop, bbottom []T      // their gradients
	cov, dcov     []float64
	zero          []T
	dvar          []T // gradients by the inputs' variances, beyond those of the layers
}

func (r *correlatedRunner[T]) Forward(p *Pass[T]) {
	r.Runner.Forward(p)
	rows, k := p.In.Rows, r.k
	s := &r.sense
	*s = Sense[T]{Rows: rows, K: k, Out: r.top[:rows*k*k], Cov: r.cov[:rows*k*k], Diagonal: p.Out.Cov == nil, Weigher: r.weigher}
	clear(s.Cov)
	clear(s.Out)
	for i := range rows {
		for j := range k {
			s.Out[(i*k+j)*k+j] = 1
		}
	}
	if r.form != Fixed {
		s.In = r.bottom[:rows*k*p.In.Width]
	}
	r.senser.Sense(s)
	if r.form != Fixed {
		in := r.atInputs()
		in.AddVariances(p.In.Var, p.In.Width)
	}
	for i := range rows * k {
		p.Out.Var[i] = T(s.Cov[i*k+i%k])
	}
	for i := range p.Out.Cov {
		p.Out.Cov[i] = T(s.Cov[i])
	}
}

// atInputs is the sense of the inputs, which add their own variances.
func (r *correlatedRunner[T]) atInputs() *Sense[T] {
	s := r.sense
	s.Out, s.BOut = s.In, s.BIn
	return &s
}

func (r *correlatedRunner[T]) Backward(p *Pass[T]) {
	rows, k := p.DOut.Rows, r.k
	s := &r.sense
	s.DCov = r.dcov[:rows*k*k]
	clear(s.DCov)
	for i, h := range p.DOut.Cov {
		s.DCov[i] = float64(h)
	}
	for i, h := range p.DOut.Var {
		s.DCov[i*k+i%k] = float64(h)
	}
	s.BOut = r.btop[:rows*k*k]
	if r.form != Fixed {
		s.BIn = r.bbottom[:rows*k*p.In.Width]
		clear(s.BIn)
		r.atInputs().AddVariancesBack(p.In.Var, r.dvar, p.In.Width)
	}
	r.senser.SenseBack(s)
	// The variances that the layers gave their outputs are not used.
	out, dout := p.DOut, p.DOut
	dout.Var, dout.Cov = r.zero[:rows*k], nil
	p.DOut = dout
	r.Runner.Backward(p)
	p.DOut = out
	if p.DIn.Var != nil {
		for i := range p.DIn.Var {
			p.DIn.Var[i] += r.dvar[i]
		}
	}
}
