package nn

import (
	"cmp"
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
)

// MatMul multiplies the two signals that a step of a Graph reads as matrices, one for each height:
// width × channels each, transposed on demand. It is what attention is made of: the scores
// Q·Kᵀ and the mixture A·V. With means A and B, variances V and W,
//
//	mean = A·B          var = (A∘A + V)·W + V·(B∘B)
//
// The two signals and all of their units are taken as independent. Inside Correlated the slopes
// carry their covariances, to first order.
type MatMul struct {
	TransposeA bool    `json:"transpose_a,omitempty"`
	TransposeB bool    `json:"transpose_b,omitempty"`
	Scale      float64 `json:"scale,omitempty"` // of the product; 0 means 1
}

// Kind is "matmul", as model files and the names of parameters have it.
func (MatMul) Kind() string { return "matmul" }

// Bind32 checks that the shapes meet; it declares nothing.
func (l MatMul) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindMatMul(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l MatMul) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindMatMul(l, b) }

// AssumesIndependence reports that the covariances of the two signals are dropped.
func (MatMul) AssumesIndependence() bool { return true }

// matmul has n × p and p × q matrices, heads of them in a row.
type matmul[T gauss.Float] struct {
	Stateless
	parts   []part
	random  [2]bool // which of them have variances
	turned  [2]bool // which of them lie transposed
	heads   int
	n, p, q int
	scale   T
	k       int // quantities that are followed
}

func bindMatMul[T gauss.Float](l MatMul, b *Binder[T]) (Unit[T], error) {
	parts, err := partsOf(b, "a product of matrices")
	if err != nil {
		return nil, err
	}
	if len(parts) != 2 {
		return nil, fmt.Errorf("it reads %d signals; a product of matrices has two", len(parts))
	}
	if b.Parts[0].Name == b.Parts[1].Name && b.Form != Fixed {
		return nil, fmt.Errorf("it multiplies %s by itself, as if two independent signals had the same values; give each factor a layer of its own", b.Parts[0].Name)
	}
	sides := func(s Shape, turn bool) (rows, columns int) {
		if turn {
			return s.C, s.W
		}
		return s.W, s.C
	}
	u := &matmul[T]{Stateless: Stateless(b.Form), parts: parts, turned: [2]bool{l.TransposeA, l.TransposeB}, heads: parts[0].shape.H}
	var inner int
	u.n, u.p = sides(parts[0].shape, l.TransposeA)
	inner, u.q = sides(parts[1].shape, l.TransposeB)
	if u.heads != parts[1].shape.H || u.p != inner {
		return nil, fmt.Errorf("the matrices %s do not meet: %d of %d×%d times %d of %d×%d; heights must be the same, and the columns of the first the rows of the second (TransposeA and TransposeB exchange them)",
			list(b), u.heads, u.n, u.p, parts[1].shape.H, inner, u.q)
	}
	if u.n*u.q > maxWidth/u.heads {
		return nil, fmt.Errorf("the product has %d × %d × %d units; at most %d are allowed", u.heads, u.n, u.q, maxWidth)
	}
	scale := cmp.Or(l.Scale, 1)
	if !compute.Finite(scale) {
		return nil, fmt.Errorf("the scale is %v; it must be a finite number", l.Scale)
	}
	u.scale = T(scale)
	for i, p := range parts {
		u.random[i] = p.form != Fixed
	}
	return u, nil
}

func (u *matmul[T]) Out() Shape { return Shape{u.heads, u.n, u.q} }

func (u *matmul[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &matmulRunner[T]{matmul: u, mulRoom: newMulRoom[T](u.n, u.p, u.q)}
	r.g = make([]T, u.n*u.q)
	r.h = make([]T, u.n*u.q)
	if u.k > 0 {
		return newMatmulSenser(r, maxRows, train)
	}
	return r
}

type matmulRunner[T gauss.Float] struct {
	*matmul[T]
	Weightless[T]
	mulRoom[T]
	g, h []T // gradients by the moments of a product without its scale
}

// factor is factor i of a head in one row of numbers as wide as the input; nil without them.
func (u *matmul[T]) factor(i, head int, row []T) matrix[T] {
	size := u.parts[i].size() / u.heads
	data := row[u.parts[i].at+head*size:][:size]
	m := rowMajor(data, [2]int{u.n, u.p}[i], [2]int{u.p, u.q}[i])
	if u.turned[i] {
		m = rowMajor(data, m.columns, m.rows).t()
	}
	return m
}

func (u *matmul[T]) width() int { return u.parts[1].at + u.parts[1].size() }

func (r *matmulRunner[T]) Forward(p *Pass[T]) {
	for row := range p.In.Rows {
		mean := p.In.Mean[row*p.In.Width:][:p.In.Width]
		out := p.Out.Slice(row, row+1)
		for head := range r.heads {
			a, b := r.factor(0, head, mean), r.factor(1, head, mean)
			y := rowMajor(out.Mean[head*r.n*r.q:], r.n, r.q)
			r.mul(y, a, b, false)
			scaleBy(y.data, r.scale)
			if r.Form() == Fixed {
				continue
			}
			v := rowMajor(out.Var[head*r.n*r.q:], r.n, r.q)
			r.variance(v, a, b, p.In.Var[row*p.In.Width:][:p.In.Width], head)
			scaleBy(v.data, r.scale*r.scale)
		}
	}
}

// variance writes (A∘A + V)·W + V·(B∘B).
func (r *matmulRunner[T]) variance(y, a, b matrix[T], variance []T, head int) {
	v, w := r.factor(0, head, variance), r.factor(1, head, variance)
	if r.random[1] {
		r.mul(y, r.second(a, v, r.random[0]), w, false)
	}
	if r.random[0] {
		r.mul(y, v, r.second(b, w, false), r.random[1])
	}
}

func (r *matmulRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	width, size := p.In.Width, r.n*r.q
	for row := range p.DOut.Rows {
		mean := p.In.Mean[row*width:][:width]
		dout := p.DOut.Slice(row, row+1)
		for head := range r.heads {
			scaleTo(r.g, dout.Mean[head*size:], r.scale)
			g := rowMajor(r.g, r.n, r.q)
			dmean := p.DIn.Mean[row*width:][:width]
			r.mul(r.factor(0, head, dmean), g, r.factor(1, head, mean).t(), false)
			r.mul(r.factor(1, head, dmean), r.factor(0, head, mean).t(), g, false)
			if r.Form() == Fixed {
				continue
			}
			scaleTo(r.h, dout.Var[head*size:], r.scale*r.scale)
			r.backVariance(p.In.Slice(row, row+1), p.DIn.Slice(row, row+1), head)
		}
	}
}

// backVariance takes the gradient h by the variance of a product back: with means A and B,
// variances V and W,
//
//	∂A += 2A∘(h·Wᵀ)   ∂V = h·(B∘B + W)ᵀ   ∂B += 2B∘(Vᵀ·h)   ∂W = (A∘A + V)ᵀ·h
func (r *matmulRunner[T]) backVariance(in, din gauss.Batch[T], head int) {
	h := rowMajor(r.h, r.n, r.q)
	a, b := r.factor(0, head, in.Mean), r.factor(1, head, in.Mean)
	v, w := r.factor(0, head, in.Var), r.factor(1, head, in.Var)
	r.mul(r.factor(0, head, din.Var), h, r.second(b, w, r.random[1]).t(), false)
	r.mul(r.factor(1, head, din.Var), r.second(a, v, r.random[0]).t(), h, false)
	if r.random[1] {
		r.mul(r.like(a), h, w.t(), false)
		kernel.AddTwiceMul(r.factor(0, head, din.Mean).data, a.data, r.like(a).data)
	}
	if r.random[0] {
		r.mul(r.like(b), v.t(), h, false)
		kernel.AddTwiceMul(r.factor(1, head, din.Mean).data, b.data, r.like(b).data)
	}
}
