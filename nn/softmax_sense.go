package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// Follow implements Sensitive.
func (u *softmax[T]) Follow(k int) { u.k = k }

// softmaxSenser is a softmax that carries correlations, by the slopes G = diag p − p·pᵀ at its
// mean outputs p. Beyond them it adds what is left of its variance,
//
//	e = V − p²·((1−2p)·v + Σ p²v)
//
// which is taken as independent and at least 0.
type softmaxSenser[T gauss.Float] struct {
	*softmaxRunner[T]
	softmaxMore[T]
	e, de []T
}

// softmaxMore are gradients that Backward adds: by the mean outputs, by their variances, by those of the
// logits.
type softmaxMore[T gauss.Float] struct{ xp, xe, xv []T }

// toOutputs adds those by the outputs of softmaxes of n units; nil adds nothing.
func (x *softmaxMore[T]) toOutputs(dy []kernel.Normals16[T], r *softmaxRunner[T], places []place, n int) {
	if x == nil {
		return
	}
	for i, c := range places {
		at := c.row*r.shape.Size() + c.at
		for k := range n {
			dy[k].M[i] += x.xp[at]
			dy[k].V[i] += x.xe[at]
			at += r.stride
		}
	}
}

// byVariance is that by the variance of a logit.
func (x *softmaxMore[T]) byVariance(at int) T {
	if x == nil {
		return 0
	}
	return x.xv[at]
}

func newSoftmaxSenser[T gauss.Float](r *softmaxRunner[T], maxRows int, train bool) *softmaxSenser[T] {
	n := maxRows * r.shape.Size()
	s := &softmaxSenser[T]{softmaxRunner: r, e: make([]T, n)}
	if train {
		s.de = make([]T, n)
		s.xp = make([]T, n)
		s.xe = make([]T, n)
		s.xv = make([]T, n)
		r.more = &s.softmaxMore
	}
	return s
}

func (r *softmaxSenser[T]) Forward(p *Pass[T]) {
	r.softmaxRunner.Forward(p)
	if r.Form() == Fixed {
		return
	}
	clear(r.e)
	for i := range p.In.Rows {
		for k := range r.lines() {
			l := r.line(k)
			r.load(r.x, l, p.In, i)
			r.load(r.y, l, p.Out, i)
			all := spreadOf(r.y.m[:l.n], r.x.v)
			for j, q := range r.y.m[:l.n] {
				rest := r.y.v[j] - q*q*((1-2*q)*r.x.v[j]+all)
				r.e[i*r.shape.Size()+l.at+j*r.stride] = T(max(0, rest))
			}
		}
	}
}

// spreadOf is Σ p²v.
func spreadOf(p, v []float64) (sum float64) {
	for i, p := range p {
		sum += p * p * v[i]
	}
	return sum
}

// project writes p∘(a − ⟨p, a⟩) for the units of a line, and returns ⟨p, a⟩.
func (r *softmaxSenser[T]) project(dst, a, p []T, l line) (along float64) {
	for k := range l.n {
		at := l.at + k*r.stride
		along += float64(p[at]) * float64(a[at])
	}
	for k := range r.along {
		at := l.at + k*r.stride
		dst[at] = 0
		if k < l.n {
			dst[at] = T(float64(p[at]) * (float64(a[at]) - along))
		}
	}
	return along
}

func (r *softmaxSenser[T]) Sense(s *Sense[T]) {
	n := r.shape.Size()
	s.AddVariances(r.e, n)
	for i := range s.Rows * s.K {
		p := s.Pass.Out.Mean[i/s.K*n:][:n]
		for k := range r.lines() {
			r.project(s.In[i*n:][:n], s.Out[i*n:][:n], p, r.line(k))
		}
	}
}

func (r *softmaxSenser[T]) SenseBack(s *Sense[T]) {
	n := r.shape.Size()
	clear(r.xp)
	clear(r.xe)
	clear(r.xv)
	for i := range s.Rows * s.K {
		row := i / s.K
		p, xp := s.Pass.Out.Mean[row*n:][:n], r.xp[row*n:][:n]
		a, b := s.Out[i*n:][:n], s.BIn[i*n:][:n]
		for k := range r.lines() {
			l := r.line(k)
			alongB := r.project(s.BOut[i*n:][:n], b, p, l)
			var alongA float64
			for j := range l.n {
				at := l.at + j*r.stride
				alongA += float64(p[at]) * float64(a[at])
			}
			for j := range l.n {
				at := l.at + j*r.stride
				x, y := float64(a[at]), float64(b[at])
				xp[at] += T(x*y - x*alongB - y*alongA)
			}
		}
	}
	s.AddVariancesBack(r.e, r.de, n)
	for row := range s.Rows {
		for k := range r.lines() {
			r.backRest(s.Pass, row, r.line(k))
		}
	}
}

// backRest takes the gradient by e back to the variances and the mean outputs.
func (r *softmaxSenser[T]) backRest(p *Pass[T], row int, l line) {
	first := row*r.shape.Size() + l.at
	r.load(r.x, l, p.In, row)
	r.load(r.y, l, p.Out, row)
	all := spreadOf(r.y.m[:l.n], r.x.v)
	var dall float64
	for j, q := range r.y.m[:l.n] {
		at := first + j*r.stride
		if r.e[at] == 0 { // at its bound
			continue
		}
		d, v := float64(r.de[at]), r.x.v[j]
		r.xe[at] = T(d)
		r.xp[at] -= T(d * 2 * q * ((1-3*q)*v + all))
		r.xv[at] -= T(d * q * q * (1 - 2*q))
		dall -= d * q * q
	}
	for j, q := range r.y.m[:l.n] {
		at := first + j*r.stride
		r.xp[at] += T(dall * 2 * q * r.x.v[j])
		r.xv[at] += T(dall * q * q)
	}
}
