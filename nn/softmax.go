package nn

import (
	"fmt"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute/kernel"
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
	k      int // quantities that are followed
}

func bindSoftmax[T gauss.Float](l Softmax, b *Binder[T]) (Unit[T], error) {
	axis, err := l.Axis.side()
	if err != nil {
		return nil, err
	}
	u := &softmax[T]{Stateless: Stateless(b.Form.apart()), shape: b.In, along: b.In.sides()[axis], causal: l.Causal, logits: fn.Softmax()}
	u.stride = [3]int{b.In.W * b.In.C, b.In.C, 1}[axis]
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
	r := &softmaxRunner[T]{softmax: u, x: newRow(n), y: newRow(n), dx: newRow(n), dy: newRow(n), many: newSoftmaxes[T](n, train), alike: make([][]int, n+1)}
	for i := range u.lines() {
		d := u.line(i).n
		r.alike[d] = append(r.alike[d], u.line(i).at)
	}
	if u.k > 0 {
		return newSoftmaxSenser(r, maxRows, train)
	}
	return r
}

type softmaxRunner[T gauss.Float] struct {
	*softmax[T]
	Weightless[T]
	x, y, dx, dy row
	many         *softmaxes[T]
	alike        [][]int // where the softmaxes of so many units begin in a row
	places       [sixteen]place
	more         *softmaxMore[T] // of one that carries correlations
}

// A place is a softmax of a block of rows.
type place struct{ row, at int }

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
	if r.Form() != Fixed {
		r.together(p.In.Rows, func(places []place, n int) { r.push(p, places, n) })
		return
	}
	for i := range p.In.Rows {
		for k := range r.lines() {
			l := r.line(k)
			r.load(r.x, l, p.In, i)
			r.logits.F(r.x.m[:l.n], r.y.m[:l.n])
			r.store(r.y, l, p.Out, i)
		}
	}
}

// together calls f with at most sixteen softmaxes of n units at a time.
func (r *softmaxRunner[T]) together(rows int, f func(places []place, n int)) {
	for n, starts := range r.alike {
		for i := 0; i < rows*len(starts); i += sixteen {
			places := r.places[:min(sixteen, rows*len(starts)-i)]
			for j := range places {
				places[j] = place{(i + j) / len(starts), starts[(i+j)%len(starts)]}
			}
			f(places, n)
		}
	}
}

// gather takes the moments of n units of softmaxes side by side; where there are less than sixteen,
// the first is repeated.
func (r *softmaxRunner[T]) gather(to []kernel.Normals16[T], from gauss.Batch[T], places []place, n int) {
	for i := range sixteen {
		c := places[0]
		if i < len(places) {
			c = places[i]
		}
		at := c.row*from.Width + c.at
		for k := range n {
			to[k].M[i] = from.Mean[at]
			to[k].V[i] = from.Var[at]
			at += r.stride
		}
	}
}

// push computes softmaxes of n units.
func (r *softmaxRunner[T]) push(p *Pass[T], places []place, n int) {
	e := r.many
	r.gather(e.x, p.In, places, n)
	e.forward(n, false)
	for i, c := range places {
		at := c.row*p.Out.Width + c.at
		part := 1 / e.sum[i]
		for k := range r.along {
			p.Out.Mean[at], p.Out.Var[at] = 0, 0
			if k < n {
				p.Out.Mean[at] = e.y[k].M[i] * part
				p.Out.Var[at] = e.y[k].V[i]
			}
			at += r.stride
		}
	}
}

func (r *softmaxRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	if r.Form() != Fixed {
		r.together(p.In.Rows, func(places []place, n int) { r.pull(p, places, n) })
		return
	}
	for i := range p.In.Rows {
		for k := range r.lines() {
			l := r.line(k)
			r.load(r.dy, l, p.DOut, i)
			r.load(r.x, l, p.In, i)
			r.logits.VJP(r.x.m[:l.n], r.dy.m[:l.n], r.dx.m[:l.n])
			r.store(r.dx, l, p.DIn, i)
		}
	}
}

// pull writes the gradients by softmaxes of n units.
func (r *softmaxRunner[T]) pull(p *Pass[T], places []place, n int) {
	e := r.many
	r.gather(e.x, p.In, places, n)
	r.gather(e.dy, p.DOut, places, n)
	r.more.toOutputs(e.dy, r, places, n)
	e.back(n)
	for i, c := range places {
		at := c.row*p.DIn.Width + c.at
		for k := range r.along {
			p.DIn.Mean[at], p.DIn.Var[at] = 0, 0
			if k < n {
				p.DIn.Mean[at] = e.dx[k].M[i]
				p.DIn.Var[at] = e.dx[k].V[i] + r.more.byVariance(at)
			}
			at += r.stride
		}
	}
}
