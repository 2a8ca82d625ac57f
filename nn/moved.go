package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// moved is a layer that leaves each unit as it is and gives it another place: nothing is assumed, and
// covariances pass.
type moved[T gauss.Float] struct {
	Stateless
	out   Shape
	width int       // of the input
	moves []stretch // nil: all units keep their places
}

// A stretch is units that keep their order.
type stretch struct{ dst, src, n int }

// newMoved returns a layer whose unit i is unit source[i] of its input, each at most once; nil:
// all units in their order.
func newMoved[T gauss.Float](b *Binder[T], out Shape, source []int) Unit[T] {
	u := &moved[T]{Stateless: Stateless(b.Form.apart()), out: out, width: b.In.Size()}
	for i, at := range source {
		if n := len(u.moves); n > 0 && u.moves[n-1].src+u.moves[n-1].n == at {
			u.moves[n-1].n++
			continue
		}
		u.moves = append(u.moves, stretch{i, at, 1})
	}
	if len(u.moves) == 1 && u.moves[0].n == u.width {
		u.moves = nil
	}
	return u
}

func (u *moved[T]) Out() Shape                    { return u.out }
func (u *moved[T]) NewRunner(int, bool) Runner[T] { return movedRunner[T]{moved: u} }

type movedRunner[T gauss.Float] struct {
	*moved[T]
	Weightless[T]
}

// there moves rows of units to their places.
func (u *moved[T]) there(dst, src []T, rows int) {
	n := u.out.Size()
	if u.moves == nil {
		copy(dst[:rows*n], src)
		return
	}
	for row := range rows {
		x, y := src[row*u.width:][:u.width], dst[row*n:][:n]
		for _, m := range u.moves {
			if m.n == 1 {
				y[m.dst] = x[m.src]
				continue
			}
			kernel.CopyShort(y[m.dst:m.dst+m.n], x[m.src:m.src+m.n])
		}
	}
}

// back is the reverse of there; units that were left out get 0.
func (u *moved[T]) back(dst, src []T, rows int) {
	n := u.out.Size()
	if u.moves == nil {
		copy(dst, src[:rows*n])
		return
	}
	for row := range rows {
		x, y := dst[row*u.width:][:u.width], src[row*n:][:n]
		if n < u.width {
			clear(x)
		}
		for _, m := range u.moves {
			if m.n == 1 {
				x[m.src] = y[m.dst]
				continue
			}
			kernel.CopyShort(x[m.src:m.src+m.n], y[m.dst:m.dst+m.n])
		}
	}
}

func (r movedRunner[T]) Forward(p *Pass[T]) {
	r.there(p.Out.Mean, p.In.Mean, p.In.Rows)
	if r.Form() != Fixed {
		r.there(p.Out.Var, p.In.Var, p.In.Rows)
	}
}

func (r movedRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	r.back(p.DIn.Mean, p.DOut.Mean, p.DOut.Rows)
	if r.Form() != Fixed {
		r.back(p.DIn.Var, p.DOut.Var, p.DOut.Rows)
	}
}

func (u *moved[T]) Follow(int) {}

func (r movedRunner[T]) Sense(s *Sense[T]) {
	if s.In != nil {
		r.back(s.In, s.Out, s.Rows*s.K)
	}
}

func (r movedRunner[T]) SenseBack(s *Sense[T]) {
	if s.BIn == nil {
		clear(s.BOut)
		return
	}
	r.there(s.BOut, s.BIn, s.Rows*s.K)
}
