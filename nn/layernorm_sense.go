package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
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
	inv    []float64 // 1/τ of the rows Forward saw last
	at     []float64 // their û
	t, w   []float64 // of one quantity of one row
	dat    []float64 // of one row: the gradient by û
	xm, xv []T       // gradients that Backward adds to those by the input
	xgain  []T       // and to those by γ
}

func newLayerNormSenser[T gauss.Float](r *layerNormRunner[T], maxRows int, train bool) *layerNormSenser[T] {
	n := len(r.x.m)
	s := &layerNormSenser[T]{layerNormRunner: r, inv: make([]float64, maxRows), at: make([]float64, maxRows*n), t: make([]float64, n)}
	if train {
		s.w, s.dat = make([]float64, n), make([]float64, n)
		s.xm = make([]T, maxRows*n)
		s.xv = make([]T, maxRows*n)
		s.xgain = make([]T, maxRows*n)
	}
	return s
}

func (r *layerNormSenser[T]) Forward(p *Pass[T]) {
	r.layerNormRunner.Forward(p)
	for row := range p.In.Rows {
		load(r.x, p.In, row)
		mu, inv := r.statistics()
		r.inv[row] = inv
		at := r.at[row*len(r.x.m):]
		for i, m := range r.x.m {
			at[i] = (m - mu) * inv
		}
	}
}

// project takes from t its average and its part along û, and returns avg(û·t).
func project(t, at []float64) (along float64) {
	var avg float64
	n := float64(len(t))
	for i, t := range t {
		avg += t / n
		along += at[i] * t / n
	}
	for i := range t {
		t[i] -= avg + at[i]*along
	}
	return along
}

func (r *layerNormSenser[T]) Sense(s *Sense[T]) {
	n := len(r.t)
	for i := range s.Rows * s.K {
		row := i / s.K
		for u, a := range s.Out[i*n:][:n] {
			r.t[u] = float64(a) * float64(r.gain.Mean[u]) * r.inv[row]
		}
		project(r.t, r.at[row*n:][:n])
		compute.Convert(s.In[i*n:][:n], r.t)
	}
}

// SenseBack: for the gradient b of a sensitivity to the inputs, with w = b/τ,
//
//	∂t = w − avg w − û·avg(û·w)    ∂û = −w·avg(û·t) − t·avg(û·w)    ∂(1/τ) = τ·Σ t·∂t
//
// and û and τ go back to the moments of the row.
func (r *layerNormSenser[T]) SenseBack(s *Sense[T]) {
	n := len(r.t)
	for row := range s.Rows {
		at, xgain := r.at[row*n:][:n], r.xgain[row*n:][:n]
		clear(r.dat)
		clear(xgain)
		var dinv float64
		for k := range s.K {
			from := (row*s.K + k) * n
			dinv += r.back(s.Out[from:][:n], s.BIn[from:][:n], s.BOut[from:][:n], at, xgain, r.inv[row])
		}
		r.toMoments(row, at, dinv)
	}
}

// back is SenseBack of one quantity of one row; it returns ∂(1/τ).
func (r *layerNormSenser[T]) back(a, bin, bout []T, at []float64, xgain []T, inv float64) (dinv float64) {
	n := float64(len(a))
	var alongT float64
	for u := range a {
		r.t[u] = float64(a[u]) * float64(r.gain.Mean[u])
		alongT += at[u] * r.t[u] / n
		r.w[u] = float64(bin[u]) * inv
	}
	for u, w := range r.w {
		r.dat[u] -= w * alongT
	}
	alongW := project(r.w, at)
	for u, dt := range r.w {
		r.dat[u] -= r.t[u] * alongW
		dinv += r.t[u] * dt / inv
		bout[u] = T(dt * float64(r.gain.Mean[u]))
		xgain[u] += T(dt * float64(a[u]))
	}
	return dinv
}

// toMoments turns the gradients by û, in dat, and by 1/τ into those by the moments.
func (r *layerNormSenser[T]) toMoments(row int, at []float64, dinv float64) {
	n, inv := len(at), r.inv[row]
	var avg float64
	for u, d := range r.dat {
		avg += d / float64(n)
		dinv += d * at[u] / inv
	}
	by := -dinv * inv * inv * inv / 2 // ∂/∂τ²
	for u, d := range r.dat {
		dm, dv := r.byTau(by, at[u]/inv)
		r.xm[row*n+u], r.xv[row*n+u] = T((d-avg)*inv+dm), T(dv)
	}
}

func (r *layerNormSenser[T]) Backward(p *Pass[T]) {
	r.layerNormRunner.Backward(p)
	n := len(r.t)
	for row := range p.DOut.Rows {
		kernel.Add(p.Tape[row*2*n:][:n], r.xgain[row*n:][:n])
	}
	if p.DIn.Mean != nil {
		kernel.Add(p.DIn.Mean, r.xm[:len(p.DIn.Mean)])
		kernel.Add(p.DIn.Var, r.xv[:len(p.DIn.Var)])
	}
}
