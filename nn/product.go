package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// Product multiplies the two signals that a step of a Graph reads, unit by unit: a gate. A side of
// length 1 stands for all places along it, so that a vector of C channels gates each place of
// an image of C channels. With means m and n, variances v and w,
//
//	mean = m·n          var = m²·w + n²·v + v·w
//
// The two signals are taken as independent. Inside Correlated the slopes n and m carry their
// covariance c into the variance, to first order; the mean stays m·n, without c. A function of one
// signal such as x·sigmoid(x) is best written as one (fn.SiLU), which keeps all of it.
type Product struct{}

// Kind is "product", as model files and the names of parameters have it.
func (Product) Kind() string { return "product" }

// Bind32 checks that the shapes meet; it declares nothing.
func (Product) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindProduct(b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (Product) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindProduct(b) }

// AssumesIndependence reports that the covariance of the two signals is dropped.
func (Product) AssumesIndependence() bool { return true }

type times[T gauss.Float] struct {
	Stateless
	parts  []part
	spread [2]spreading
	out    Shape
	k      int // quantities that are followed
}

func bindProduct[T gauss.Float](b *Binder[T]) (Unit[T], error) {
	parts, err := partsOf(b, "a product")
	if err != nil {
		return nil, err
	}
	if len(parts) != 2 {
		return nil, fmt.Errorf("it reads %d signals; a product has two", len(parts))
	}
	if b.Parts[0].Name == b.Parts[1].Name && b.Form != Fixed {
		return nil, fmt.Errorf("it multiplies %s by itself, as if two independent signals had the same value; use nn.Apply with the function fn.Square()", b.Parts[0].Name)
	}
	out, err := spread(b, parts)
	if err != nil {
		return nil, err
	}
	u := &times[T]{Stateless: Stateless(b.Form), parts: parts, out: out}
	for i, p := range parts {
		u.spread[i] = newSpreading(p, out)
	}
	return u, nil
}

func (u *times[T]) Out() Shape { return u.out }

func (u *times[T]) NewRunner(maxRows int, train bool) Runner[T] {
	n := u.out.Size()
	r := &timesRunner[T]{times: u}
	for i := range 2 {
		r.m[i] = make([]T, n)
		r.v[i] = make([]T, n)
	}
	r.dm = make([]T, n)
	r.dv = make([]T, n)
	if u.k > 0 {
		return newTimesSenser(r, maxRows, train)
	}
	return r
}

type timesRunner[T gauss.Float] struct {
	*times[T]
	Weightless[T]
	m, v   [2][]T // room for the factors of a row, spread
	dm, dv []T    // and for the gradients by one of them
}

// factors returns the moments of both factors of a row; the variances are nil if the inputs
// are fixed.
func (r *timesRunner[T]) factors(in gauss.Batch[T], row int) (m, v [2][]T) {
	for k, p := range r.parts {
		at := row*in.Width + p.at
		m[k] = to(r.spread[k], r.m[k], in.Mean[at:][:p.size()])
		if in.Var != nil {
			v[k] = to(r.spread[k], r.v[k], in.Var[at:][:p.size()])
		}
	}
	return m, v
}

func (r *timesRunner[T]) Forward(p *Pass[T]) {
	n := r.out.Size()
	for row := range p.In.Rows {
		m, v := r.factors(p.In, row)
		kernel.MulTo(p.Out.Mean[row*n:][:n], m[0], m[1])
		if r.Form() == Fixed {
			continue
		}
		y := p.Out.Var[row*n:][:n]
		for i := range y {
			m0, v0 := m[0][i], v[0][i]
			m1, v1 := m[1][i], v[1][i]
			y[i] = T((T(m0*m0)+v0)*v1) + T(T(m1*m1)*v0)
		}
	}
}

// Backward of one factor: ∂m = g·n + 2h·m·w and ∂v = h·(n² + w), with n and w of the other.
func (r *timesRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	n := r.out.Size()
	for row := range p.DOut.Rows {
		m, v := r.factors(p.In, row)
		g := p.DOut.Mean[row*n:][:n]
		for k, part := range r.parts {
			at := row*p.DIn.Width + part.at
			kernel.MulTo(r.dm, g, m[1-k])
			if r.Form() != Fixed {
				r.byVariance(p.DOut.Var[row*n:][:n], m[k], m[1-k], v[1-k])
				from(r.spread[k], p.DIn.Var[at:][:part.size()], r.dv)
			}
			from(r.spread[k], p.DIn.Mean[at:][:part.size()], r.dm)
		}
	}
}

// byVariance adds what the variance of the product says of one factor of mean m.
func (r *timesRunner[T]) byVariance(h, m, other, v []T) {
	for i, h := range h {
		n := other[i]
		r.dm[i] += T(2 * h * m[i] * v[i])
		r.dv[i] = T(h * (T(n*n) + v[i]))
	}
}
