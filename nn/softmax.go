package nn

import (
	"fmt"

	"utvi/fn"
	"utvi/gauss"
	"utvi/moment"
)

// Softmax applies a softmax along one axis: for each pixel or token over its channels, or for each
// channel over the places along the height or the width. Moments are those of the closed form of
// fn.Softmax, which takes the logits of one softmax as independent.
//
// Joint applies a map to all units of a row together instead. Inside Correlated a Softmax has the
// slopes p∘(a − ⟨p, a⟩) at its mean outputs p.
type Softmax struct {
	Axis Axis `json:"axis,omitempty"` // empty: the channels
	// Causal lets the place w along the width see the channels up to w only, or up to
	// w + channels − width if there are more channels than places; the others get 0.
	Causal bool `json:"causal,omitempty"`
}

// Kind is "softmax", as model files and the names of parameters have it.
func (Softmax) Kind() string { return "softmax" }

// Bind32 checks the axis; it declares nothing.
func (l Softmax) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindSoftmax(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Softmax) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindSoftmax(l, b) }

type softmax[T gauss.Float] struct {
	Stateless
	shape  Shape
	along  int // units of one softmax
	stride int // between them
	causal bool
	logits *moment.Map
	rule   moment.JointRule
	k      int // quantities that are followed
}

func bindSoftmax[T gauss.Float](l Softmax, b *Binder[T]) (Unit[T], error) {
	axis, err := l.Axis.side()
	if err != nil {
		return nil, err
	}
	u := &softmax[T]{Stateless: Stateless(b.Form.apart()), shape: b.In, along: b.In.sides()[axis], causal: l.Causal, logits: fn.Softmax()}
	u.stride = [3]int{b.In.W * b.In.C, b.In.C, 1}[axis]
	u.rule = moment.DefaultJoint(u.logits, u.along)
	if l.Causal && (axis != 2 || b.In.C < b.In.W) {
		return nil, fmt.Errorf("a causal softmax runs along the channels, and needs at least as many as places along the width; the input is %v and the axis %q", b.In, l.Axis)
	}
	return u, nil
}

func (u *softmax[T]) Out() Shape { return u.shape }

// A line is the units of one softmax within a row.
type line struct{ at, n int }

// line returns softmax i of a row.
func (u *softmax[T]) line(i int) line {
	at := i/u.stride*u.stride*u.along + i%u.stride
	if u.causal {
		return line{at, i%u.shape.W + 1 + u.shape.C - u.shape.W}
	}
	return line{at, u.along}
}

func (u *softmax[T]) lines() int { return u.shape.Size() / u.along }

func (u *softmax[T]) NewRunner(maxRows int, train bool) Runner[T] {
	n := u.along
	r := &softmaxRunner[T]{softmax: u, tiles: make([]*moment.JointTile, n+1), x: newRow(n), y: newRow(n), dx: newRow(n), dy: newRow(n)}
	for i := range u.lines() {
		d := u.line(i).n
		if r.tiles[d] == nil {
			r.tiles[d] = moment.NewJointTile(u.logits, u.rule, d)
		}
	}
	if u.k > 0 {
		return newSoftmaxSenser(r, maxRows, train)
	}
	return r
}

type softmaxRunner[T gauss.Float] struct {
	*softmax[T]
	Weightless[T]
	tiles        []*moment.JointTile // by the number of units
	x, y, dx, dy row
}

// load copies the units of a line in row i of b; without variances they are zero.
func (r *softmaxRunner[T]) load(to row, l line, b gauss.Batch[T], i int) {
	for k := range l.n {
		at := i*b.Width + l.at + k*r.stride
		to.m[k] = float64(b.Mean[at])
		to.v[k] = 0
		if b.Var != nil {
			to.v[k] = float64(b.Var[at])
		}
	}
}

// store is the reverse of load; units beyond the line are zero.
func (r *softmaxRunner[T]) store(from row, l line, b gauss.Batch[T], i int) {
	for k := range r.along {
		at := i*b.Width + l.at + k*r.stride
		if k >= l.n {
			from.m[k] = 0
			from.v[k] = 0
		}
		b.Mean[at] = T(from.m[k])
		if b.Var != nil {
			b.Var[at] = T(from.v[k])
		}
	}
}

func (r *softmaxRunner[T]) Forward(p *Pass[T]) {
	for i := range p.In.Rows {
		for k := range r.lines() {
			l := r.line(k)
			r.load(r.x, l, p.In, i)
			if r.Form() == Fixed {
				r.tiles[l.n].Fixed(r.x.m[:l.n], r.y.m[:l.n], nil, nil)
			} else {
				r.tiles[l.n].Push(r.x.m[:l.n], r.x.v[:l.n], r.y.m[:l.n], r.y.v[:l.n])
			}
			r.store(r.y, l, p.Out, i)
		}
	}
}

func (r *softmaxRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	for i := range p.In.Rows {
		for k := range r.lines() {
			l := r.line(k)
			r.load(r.dy, l, p.DOut, i)
			r.pull(l, p, i)
			r.store(r.dx, l, p.DIn, i)
		}
	}
}

// pull writes the gradients by the units of a line to dx, given dy.
func (r *softmaxRunner[T]) pull(l line, p *Pass[T], i int) {
	n := l.n
	r.load(r.x, l, p.In, i)
	if r.Form() == Fixed {
		r.tiles[n].Fixed(r.x.m[:n], r.y.m[:n], r.dy.m[:n], r.dx.m[:n])
		return
	}
	r.tiles[n].Pull(r.x.m[:n], r.x.v[:n], r.dy.m[:n], r.dy.v[:n], r.dx.m[:n], r.dx.v[:n])
}
