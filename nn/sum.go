package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
)

// Sum adds the signals that a step of a Graph reads, each times its factor By: mean Σ b·m,
// variance Σ b²·v. A side of length 1 stands for all places along it: a vector of C channels is
// added to each place of an image of C channels.
//
// The signals are taken as independent of each other; inside Correlated their covariance is
// kept, to first order.
type Sum struct {
	By []float64 `json:"by,omitempty"` // a factor for each signal; nil means 1, and {1, −1} is a difference
}

// Kind is "sum", as model files and the names of parameters have it.
func (Sum) Kind() string { return "sum" }

// Bind32 checks that the shapes meet; it declares nothing.
func (l Sum) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindSum(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Sum) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindSum(l, b) }

// AssumesIndependence reports that the covariance of the signals is dropped.
func (Sum) AssumesIndependence() bool { return true }

type added[T gauss.Float] struct {
	Stateless
	parts  []part
	spread []spreading
	by     []T
	out    Shape
}

func bindSum[T gauss.Float](l Sum, b *Binder[T]) (Unit[T], error) {
	parts, err := partsOf(b, "a sum")
	if err != nil {
		return nil, err
	}
	out, err := spread(b, parts)
	if err != nil {
		return nil, err
	}
	if l.By != nil && len(l.By) != len(parts) {
		return nil, fmt.Errorf("%d factors for %d signals; each needs one", len(l.By), len(parts))
	}
	u := &added[T]{Stateless: Stateless(b.Form), parts: parts, out: out, by: make([]T, len(parts))}
	for i, p := range parts {
		u.by[i] = 1
		if l.By != nil {
			u.by[i] = T(l.By[i])
			if l.By[i] == 0 || !compute.Finite(float64(u.by[i])) {
				return nil, fmt.Errorf("factor %d is %v; it must be a finite number other than 0", i, l.By[i])
			}
		}
		u.spread = append(u.spread, newSpreading(p, out))
	}
	return u, nil
}

func (u *added[T]) Out() Shape { return u.out }

func (u *added[T]) NewRunner(int, bool) Runner[T] {
	n := u.out.Size()
	return &addedRunner[T]{added: u, x: make([]T, n)}
}

type addedRunner[T gauss.Float] struct {
	*added[T]
	Weightless[T]
	x []T
}

func (r *addedRunner[T]) Forward(p *Pass[T]) {
	r.add(p.Out.Mean, p.In.Mean, p.In.Width, p.In.Rows, 1)
	if r.Form() != Fixed {
		r.add(p.Out.Var, p.In.Var, p.In.Width, p.In.Rows, 2)
	}
}

// add writes the sums of rows, each part times its factor to a power: 1 for means, 2 for
// variances.
func (r *addedRunner[T]) add(dst, src []T, width, rows, power int) {
	n := r.out.Size()
	for row := range rows {
		y := dst[row*n:][:n]
		for k, p := range r.parts {
			x := to(r.spread[k], r.x, src[row*width+p.at:][:p.size()])
			by := r.factor(k, power)
			for i, x := range x {
				x = T(x * by)
				if k > 0 {
					x += y[i]
				}
				y[i] = x
			}
		}
	}
}

func (r *addedRunner[T]) factor(k, power int) T {
	if power == 2 {
		return r.by[k] * r.by[k]
	}
	return r.by[k]
}

// apart is the reverse of add.
func (r *addedRunner[T]) apart(dst, src []T, width, rows, power int) {
	n := r.out.Size()
	for row := range rows {
		y := src[row*n:][:n]
		for k, p := range r.parts {
			x := dst[row*width+p.at:][:p.size()]
			from(r.spread[k], x, y)
			by := r.factor(k, power)
			for i := range x {
				x[i] *= by
			}
		}
	}
}

func (r *addedRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	r.apart(p.DIn.Mean, p.DOut.Mean, p.DIn.Width, p.DOut.Rows, 1)
	if r.Form() != Fixed {
		r.apart(p.DIn.Var, p.DOut.Var, p.DIn.Width, p.DOut.Rows, 2)
	}
}

func (u *added[T]) Follow(int) {}

func (r *addedRunner[T]) width() int {
	last := r.parts[len(r.parts)-1]
	return last.at + last.size()
}

func (r *addedRunner[T]) Sense(s *Sense[T]) {
	if s.In != nil {
		r.apart(s.In, s.Out, r.width(), s.Rows*s.K, 1)
	}
}

func (r *addedRunner[T]) SenseBack(s *Sense[T]) {
	if s.BIn == nil {
		clear(s.BOut)
		return
	}
	r.add(s.BOut, s.BIn, r.width(), s.Rows*s.K, 1)
}
