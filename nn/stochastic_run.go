package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

func (u *stochastic[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &stochasticRunner[T]{stochastic: u, tile: moment.NewJointTile(u.m, u.rule, 2),
		x: newRow(2), dx: newRow(2), y: newRow(1), dy: newRow(1), sum: newRow(len(u.s))}
	if u.k > 0 {
		return newStochasticSenser(r, maxRows, train)
	}
	return r
}

type stochasticRunner[T gauss.Float] struct {
	*stochastic[T]
	tile         *moment.JointTile
	x, dx, y, dy row
	sum          row // of θ's gradients in a row
}

func (r *stochasticRunner[T]) Prepare(int) {
	if r.theta.Random {
		kernel.Variance(r.s, r.theta.Rho)
	}
}

// place prepares the tile for a unit, and returns the number of its θ.
func (r *stochasticRunner[T]) place(p *Pass[T], i int) int {
	unit := i % p.In.Width
	k := unit % len(r.s)
	r.tile.Row, r.tile.Unit = p.Row+uint64(i/p.In.Width), 2*unit
	r.x.m[0], r.x.m[1] = float64(p.In.Mean[i]), float64(r.theta.Mean[k])
	r.x.v[0], r.x.v[1] = 0, float64(r.s[k])
	if r.in != Fixed {
		r.x.v[0] = float64(p.In.Var[i])
	}
	return k
}

func (r *stochasticRunner[T]) Forward(p *Pass[T]) {
	r.tile.Key = p.Seed.Sub(p.Step, r.index)
	for i := range p.In.Mean {
		r.place(p, i)
		if r.Form() == Fixed {
			r.tile.Fixed(r.x.m, r.y.m, nil, nil)
		} else {
			r.tile.Push(r.x.m, r.x.v, r.y.m, r.y.v)
			p.Out.Var[i] = T(r.y.v[0])
		}
		p.Out.Mean[i] = T(r.y.m[0])
	}
}

// Backward stores the gradients with respect to the means and variances of θ on the tape.
func (r *stochasticRunner[T]) Backward(p *Pass[T]) { r.back(p, nil) }

// back is Backward, with additional gradients.
func (r *stochasticRunner[T]) back(p *Pass[T], more *stochasticMore[T]) {
	n, w := len(r.s), p.In.Width
	for row := range p.In.Rows {
		clear(r.sum.m)
		clear(r.sum.v)
		for i := row * w; i < (row+1)*w; i++ {
			k := r.place(p, i)
			r.dy.m[0] = float64(p.DOut.Mean[i])
			if r.Form() == Fixed {
				r.tile.Fixed(r.x.m, r.y.m, r.dy.m, r.dx.m)
			} else {
				r.dy.v[0] = float64(p.DOut.Var[i])
				if more != nil {
					r.dy.v[0] += float64(more.de[i])
				}
				r.tile.Pull(r.x.m, r.x.v, r.dy.m, r.dy.v, r.dx.m, r.dx.v)
				if more != nil {
					r.tile.PullSlopes(r.x.m, r.x.v, more.slopes[2*i:][:2], more.dslopes[2*i:][:2], r.dx.m, r.dx.v)
					r.dx.v[0] += more.v[i]
				}
				r.sum.v[k] += r.dx.v[1]
			}
			r.sum.m[k] += r.dx.m[1]
			if p.DIn.Mean != nil {
				p.DIn.Mean[i] = T(r.dx.m[0])
			}
			if p.DIn.Mean != nil && r.in != Fixed {
				p.DIn.Var[i] = T(r.dx.v[0])
			}
		}
		if more != nil {
			r.sum.v[0] += more.s[row]
		}
		tape := p.Tape[row*2*n:][:2*n]
		compute.Convert(tape[:n], r.sum.m)
		compute.Convert(tape[n:], r.sum.v)
	}
}

func (r *stochasticRunner[T]) Gradient(_ int, blocks []Block[T]) {
	n := len(r.s)
	columns(blocks, 2*n, func(i int, sum float64) {
		switch {
		case i < n:
			r.theta.GMean[i] = T(sum)
		case r.theta.Random:
			r.theta.GVar[i-n] = T(sum)
		}
	})
}
