package nn

import "utvi/gauss"

// Follow implements Sensitive.
func (u *stochastic[T]) Follow(k int) { u.k = k }

// stochasticSenser is a stochastic nonlinearity that carries correlations. With its
// slopes g by x and h by θ, a unit adds V − g²v. Where all units share θ, that part of
// what they add is the same random number: they add V − g²v − h²s each, and s·(Σ a·h)²
// together.
type stochasticSenser[T gauss.Float] struct {
	*stochasticRunner[T]
	shared bool
	slopes []float64 // g and h of each unit of the block Forward saw last
	e      []T       // what each unit adds
	a, da  []float64 // of a row: Σ a·h of each quantity, and its gradient
	more   *stochasticMore[T]
}

// stochasticMore is what Backward adds to the gradients of units and rows.
type stochasticMore[T gauss.Float] struct {
	slopes, dslopes []float64 // the slopes and the gradients by them
	de              []T       // by what each unit adds, of which V is a part
	v               []float64 // by the variances of x
	s               []float64 // by the variance of a shared θ, of each row
}

func newStochasticSenser[T gauss.Float](r *stochasticRunner[T], maxRows int, train bool) *stochasticSenser[T] {
	n := maxRows * r.shape.Size()
	s := &stochasticSenser[T]{stochasticRunner: r, shared: !r.perUnit, slopes: make([]float64, 2*n), e: make([]T, n), a: make([]float64, r.k)}
	if train {
		s.da = make([]float64, r.k)
		s.more = &stochasticMore[T]{s.slopes, make([]float64, 2*n), make([]T, n), make([]float64, n), make([]float64, maxRows)}
	}
	return s
}

func (r *stochasticSenser[T]) Forward(p *Pass[T]) {
	r.stochasticRunner.Forward(p)
	for i, v := range p.Out.Var {
		r.place(p, i)
		g := r.slopes[2*i:][:2]
		r.tile.Slopes(r.x.m, r.x.v, g)
		e := float64(v) - g[0]*g[0]*r.x.v[0]
		if r.shared {
			e -= g[1] * g[1] * r.x.v[1]
		}
		r.e[i] = T(max(0, e)) // below 0 by rounding alone
	}
}

func (r *stochasticSenser[T]) Sense(s *Sense[T]) {
	w := r.shape.Size()
	s.AddVariances(r.e, w)
	if s.Weigher != nil && r.theta.Random {
		r.weigh(s)
	}
	for row := range s.Rows {
		if r.shared {
			r.gather(s, row)
			for i, a := range r.a {
				for j := s.from(i); j <= i; j++ {
					s.add(row, i, j, float64(r.s[0])*a*r.a[j])
				}
			}
		}
		if r.in == Fixed {
			continue
		}
		for i := row * s.K * w; i < (row+1)*s.K*w; i++ {
			s.In[i] = s.Out[i] * T(r.slopes[2*(row*w+i%w)])
		}
	}
}

// weigh tells how quantities vary with θ.
func (r *stochasticSenser[T]) weigh(s *Sense[T]) {
	w := r.shape.Size()
	j := make([]T, len(r.s))
	for i := range s.Rows * s.K {
		clear(j)
		for u, a := range s.Out[i*w:][:w] {
			j[u%len(j)] += T(float64(a) * r.slopes[2*(i/s.K*w+u)+1])
		}
		s.Weigher.Direct(s, r.theta, i/s.K, i%s.K, j)
	}
}

// gather sums what the units of a row make of the shared θ.
func (r *stochasticSenser[T]) gather(s *Sense[T], row int) {
	w := r.shape.Size()
	for k := range r.a {
		r.a[k] = 0
		for u, a := range s.Out[(row*s.K+k)*w:][:w] {
			r.a[k] += float64(a) * r.slopes[2*(row*w+u)+1]
		}
	}
}

func (r *stochasticSenser[T]) SenseBack(s *Sense[T]) {
	w, more := r.shape.Size(), r.more
	clear(s.BOut)
	clear(more.dslopes)
	if r.in != Fixed {
		for i, b := range s.BIn {
			at := 2 * (i/(s.K*w)*w + i%w)
			s.BOut[i] = b * T(r.slopes[at])
			more.dslopes[at] += float64(s.Out[i]) * float64(b)
		}
	}
	s.AddVariancesBack(r.e, more.de, w)
	for row := range s.Rows {
		more.s[row] = 0
		if r.shared {
			r.scatter(s, row)
		}
	}
	for i := range s.Rows * w {
		g := r.slopes[2*i:][:2]
		dg := more.dslopes[2*i:][:2]
		de := float64(more.de[i])
		if r.shared {
			dg[1] -= 2 * g[1] * float64(r.s[0]) * de
			more.s[i/w] -= g[1] * g[1] * de
		}
		if r.in != Fixed {
			dg[0] -= 2 * g[0] * float64(s.Pass.In.Var[i]) * de
			more.v[i] = -g[0] * g[0] * de
		}
	}
}

// scatter is the reverse of what Sense makes of gather.
func (r *stochasticSenser[T]) scatter(s *Sense[T], row int) {
	w, theta := r.shape.Size(), float64(r.s[0])
	r.gather(s, row)
	for i := range s.K {
		r.da[i] = 0
		for j := range s.K {
			if s.Diagonal && i != j {
				continue
			}
			h := s.DCov[(row*s.K+i)*s.K+j]
			r.da[i] += 2 * theta * h * r.a[j]
			r.more.s[row] += h * r.a[i] * r.a[j]
		}
		for u := range w {
			at, unit := (row*s.K+i)*w+u, row*w+u
			s.BOut[at] += T(r.da[i] * r.slopes[2*unit+1])
			r.more.dslopes[2*unit+1] += r.da[i] * float64(s.Out[at])
		}
	}
}

func (r *stochasticSenser[T]) Backward(p *Pass[T]) { r.back(p, r.more) }
