package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// Follow implements Sensitive.
func (u *layerNorm[T]) Follow(k int) { u.k = k }

// layerNormSenser is a LayerNorm that carries correlations. It adds nothing, and its
// slopes are those of a row at its means, with the τ of the forward pass: with
// û = (m−μ)/τ and t = a·γ, a sensitivity a to the outputs becomes
//
//	(t − avg t − û·avg(û·t))/τ
//
// to the inputs. The last term is there because τ moves with the units of the row.
type layerNormSenser[T gauss.Float] struct {
	*layerNormRunner[T]
	inv    []float64 // 1/τ of the groups of the rows Forward saw last
	at     []float64 // their û
	t, w   []float64 // of one quantity of one group
	dat    []float64 // of one group: the gradient by û
	xm, xv []T       // gradients that Backward adds to those by the input
	xgain  []T       // and to those by γ
}

func newLayerNormSenser[T gauss.Float](r *layerNormRunner[T], maxRows int, train bool) *layerNormSenser[T] {
	n, all := r.size, maxRows*r.count*r.size
	s := &layerNormSenser[T]{layerNormRunner: r, inv: make([]float64, maxRows*r.count), at: make([]float64, all), t: make([]float64, n)}
	if train {
		s.w, s.dat = make([]float64, n), make([]float64, n)
		s.xm = make([]T, all)
		s.xv = make([]T, all)
		s.xgain = make([]T, maxRows*len(r.gain.Mean))
	}
	return s
}

func (r *layerNormSenser[T]) Forward(p *Pass[T]) {
	r.layerNormRunner.Forward(p)
	for i := range p.In.Rows * r.count {
		loadGroup(r.x, r.groups, p.In, i/r.count, i%r.count)
		mu, inv := r.statistics()
		r.inv[i] = inv
		at := r.at[i*r.size:]
		for i, m := range r.x.m {
			at[i] = (m - mu) * inv
		}
	}
}

// project takes from t its average, where means are taken off, and its part along û. It
// returns avg(û·t).
func (r *layerNormSenser[T]) project(t, at []float64) (along float64) {
	var avg float64
	n := float64(len(t))
	for i, t := range t {
		if r.centred {
			avg += t / n
		}
		along += at[i] * t / n
	}
	for i := range t {
		t[i] -= avg + at[i]*along
	}
	return along
}

func (r *layerNormSenser[T]) Sense(s *Sense[T]) {
	width := r.shape.Size()
	for i := range s.Rows * s.K {
		in, out := s.In[i*width:][:width], s.Out[i*width:][:width]
		for g := range r.count {
			group := i/s.K*r.count + g
			for j := range r.t {
				u := r.unit(g, j)
				r.t[j] = float64(out[u]) * float64(r.gain.Mean[u%len(r.gain.Mean)]) * r.inv[group]
			}
			r.project(r.t, r.at[group*r.size:][:r.size])
			for j, t := range r.t {
				in[r.unit(g, j)] = T(t)
			}
		}
	}
}

// SenseBack: for the gradient b of a sensitivity to the inputs, with w = b/τ,
//
//	∂t = w − avg w − û·avg(û·w)    ∂û = −w·avg(û·t) − t·avg(û·w)    ∂(1/τ) = τ·Σ t·∂t
//
// and û and τ go back to the moments of the group.
func (r *layerNormSenser[T]) SenseBack(s *Sense[T]) {
	width := r.shape.Size()
	for row := range s.Rows {
		clear(r.xgain[row*len(r.gain.Mean):][:len(r.gain.Mean)])
		for g := range r.count {
			clear(r.dat)
			var dinv float64
			for k := range s.K {
				from := (row*s.K + k) * width
				dinv += r.back(s.Out[from:][:width], s.BIn[from:][:width], s.BOut[from:][:width], row, g)
			}
			r.toMoments(row, g, dinv)
		}
	}
}

// back is SenseBack of one quantity of one group; it returns ∂(1/τ).
func (r *layerNormSenser[T]) back(a, bin, bout []T, row, g int) (dinv float64) {
	n, gains := float64(r.size), len(r.gain.Mean)
	group := row*r.count + g
	inv, at := r.inv[group], r.at[group*r.size:][:r.size]
	xgain := r.xgain[row*gains:][:gains]
	var alongT float64
	for j := range r.t {
		u := r.unit(g, j)
		r.t[j] = float64(a[u]) * float64(r.gain.Mean[u%gains])
		alongT += at[j] * r.t[j] / n
		r.w[j] = float64(bin[u]) * inv
	}
	for j, w := range r.w {
		r.dat[j] -= w * alongT
	}
	alongW := r.project(r.w, at)
	for j, dt := range r.w {
		u := r.unit(g, j)
		r.dat[j] -= r.t[j] * alongW
		dinv += r.t[j] * dt / inv
		bout[u] = T(dt * float64(r.gain.Mean[u%gains]))
		xgain[u%gains] += T(dt * float64(a[u]))
	}
	return dinv
}

// toMoments turns the gradients by û, in dat, and by 1/τ into those by the moments.
func (r *layerNormSenser[T]) toMoments(row, g int, dinv float64) {
	group := row*r.count + g
	inv, at := r.inv[group], r.at[group*r.size:][:r.size]
	var avg float64
	for u, d := range r.dat {
		if r.centred {
			avg += d / float64(r.size)
		}
		dinv += d * at[u] / inv
	}
	by := -dinv * inv * inv * inv / 2 // ∂/∂τ²
	for j, d := range r.dat {
		dm, dv := r.byTau(by, at[j]/inv)
		u := row*r.shape.Size() + r.unit(g, j)
		r.xm[u], r.xv[u] = T((d-avg)*inv+dm), T(dv)
	}
}

func (r *layerNormSenser[T]) Backward(p *Pass[T]) {
	r.layerNormRunner.Backward(p)
	n := len(r.gain.Mean)
	for row := range p.DOut.Rows {
		kernel.Add(p.Tape[row*2*n:][:n], r.xgain[row*n:][:n])
	}
	if p.DIn.Mean != nil {
		kernel.Add(p.DIn.Mean, r.xm[:len(p.DIn.Mean)])
		kernel.Add(p.DIn.Var, r.xv[:len(p.DIn.Var)])
	}
}
