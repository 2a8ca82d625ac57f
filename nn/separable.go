package nn

import "utvi/gauss"

// A separable unit makes each cell of its output from a few cells of the input, channel by
// channel, with known weights: those of a row times those of a column. Cells that several
// outputs read make these correlated, which only Correlated carries.
type separable[T gauss.Float] struct {
	Stateless
	Weightless[T]
	in, out       Shape
	rows, columns side[T]
}

// A side says which cells of the input each cell of the output has along one direction, and
// how much of each: taps a cell. A weight of 0 stands for no cell.
type side[T gauss.Float] struct {
	taps   int
	cells  []int
	weight []T
}

// sideOf reads a side from its matrix, outputs × inputs.
func sideOf[T gauss.Float](matrix [][]float64) side[T] {
	s := side[T]{taps: 1}
	for _, row := range matrix {
		n := 0
		for _, w := range row {
			if w != 0 {
				n++
			}
		}
		s.taps = max(s.taps, n)
	}
	for i, row := range matrix {
		for j, w := range row {
			if w != 0 {
				s.cells = append(s.cells, j)
				s.weight = append(s.weight, T(w))
			}
		}
		for len(s.cells) < (i+1)*s.taps {
			s.cells = append(s.cells, 0)
			s.weight = append(s.weight, 0)
		}
	}
	return s
}

func newSeparable[T gauss.Float](b *Binder[T], rows, columns [][]float64) *separable[T] {
	return &separable[T]{Stateless: Stateless(b.Form), in: b.In, out: Shape{len(rows), len(columns), b.In.C},
		rows: sideOf[T](rows), columns: sideOf[T](columns)}
}

func (u *separable[T]) Out() Shape                    { return u.out }
func (u *separable[T]) NewRunner(int, bool) Runner[T] { return u }

// each calls do for every cell of the output and every cell of the input that it has, with
// where their channels begin and the weight.
func (u *separable[T]) each(do func(out, in int, weight T)) {
	y, x := &u.rows, &u.columns
	for at := range u.out.H * u.out.W {
		oy, ox := at/u.out.W, at%u.out.W
		for i := oy * y.taps; i < (oy+1)*y.taps; i++ {
			for j := ox * x.taps; j < (ox+1)*x.taps; j++ {
				if w := y.weight[i] * x.weight[j]; w != 0 {
					do(at*u.out.C, (y.cells[i]*u.in.W+x.cells[j])*u.in.C, w)
				}
			}
		}
	}
}

// gather sets an output to the weighted sums of an image, with squares of the weights for
// variances.
func (u *separable[T]) gather(out, in []T, squares bool) {
	clear(out)
	u.each(func(o, i int, w T) {
		if squares {
			w *= w
		}
		to := out[o:][:u.out.C]
		for c, x := range in[i:][:u.out.C] {
			to[c] += T(w * x)
		}
	})
}

// spread is the reverse of gather.
func (u *separable[T]) spread(in, out []T, squares bool) {
	clear(in)
	u.each(func(o, i int, w T) {
		if squares {
			w *= w
		}
		to := in[i:][:u.out.C]
		for c, x := range out[o:][:u.out.C] {
			to[c] += T(w * x)
		}
	})
}

func (u *separable[T]) Forward(p *Pass[T]) {
	for i := range p.In.Rows {
		in, out := p.In.Slice(i, i+1), p.Out.Slice(i, i+1)
		u.gather(out.Mean, in.Mean, false)
		if u.Form() != Fixed {
			u.gather(out.Var, in.Var, true)
		}
	}
}

func (u *separable[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	for i := range p.DOut.Rows {
		in, out := p.DIn.Slice(i, i+1), p.DOut.Slice(i, i+1)
		u.spread(in.Mean, out.Mean, false)
		if u.Form() != Fixed {
			u.spread(in.Var, out.Var, true)
		}
	}
}

func (u *separable[T]) Follow(int) {}

func (u *separable[T]) Sense(s *Sense[T]) {
	in, out := u.in.Size(), u.out.Size()
	for i := range s.Rows * s.K {
		u.spread(s.In[i*in:][:in], s.Out[i*out:][:out], false)
	}
}

func (u *separable[T]) SenseBack(s *Sense[T]) {
	in, out := u.in.Size(), u.out.Size()
	for i := range s.Rows * s.K {
		u.gather(s.BOut[i*out:][:out], s.BIn[i*in:][:in], false)
	}
}
