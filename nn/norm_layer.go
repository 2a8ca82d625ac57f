package nn

import (
	"math"

	"utvi/gauss"
	"utvi/vi"
)

// LayerNorm normalises each row over all its units, with a learned gain γ and
// offset β per unit. The row's own statistics are random; they are taken for
// fixed numbers, what is expected of them given the moments:
//
//	μ = avg m,  τ² = avg((m−μ)² + v) + ε
//	mean (m−μ)/τ·γ + β,  variance v/τ²·γ²
//
// Gradients go through μ and τ. Within Correlated the units' share in μ and τ is
// carried on, too.
type LayerNorm struct {
	Eps float64 `json:"eps,omitempty"` // 0 stands for 1e-5
}

func (LayerNorm) Kind() string { return "layernorm" }

func (l LayerNorm) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindLayerNorm(l, b) }
func (l LayerNorm) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindLayerNorm(l, b) }

type layerNorm[T gauss.Float] struct {
	stateless
	shape        Shape
	eps          float64
	gain, offset *vi.Tensor[T]
	k            int // quantities that are followed; see norm_sense.go
}

func bindLayerNorm[T gauss.Float](l LayerNorm, b *Binder[T]) (Unit[T], error) {
	eps, err := orEps(l.Eps)
	if err != nil {
		return nil, err
	}
	n := b.In.Size()
	u := &layerNorm[T]{stateless: stateless{b.Form}, shape: b.In, eps: eps}
	if u.gain, err = b.Point("gain", 1, n); err != nil {
		return nil, err
	}
	u.offset, err = b.Point("offset", 0, n)
	return u, err
}

func (u *layerNorm[T]) Out() Shape     { return u.shape }
func (u *layerNorm[T]) TapeWidth() int { return 2 * u.shape.Size() }
func (u *layerNorm[T]) GradTiles() int { return 1 }

func (u *layerNorm[T]) NewRunner(maxRows int, train bool) Runner[T] {
	n := u.shape.Size()
	r := &layerNormRunner[T]{layerNorm: u, x: newRow(n), y: newRow(n)}
	if u.k > 0 {
		return newLayerNormSenser(r, maxRows, train)
	}
	return r
}

type layerNormRunner[T gauss.Float] struct {
	*layerNorm[T]
	x, y row
}

func (r *layerNormRunner[T]) Prepare(int) {}

// statistics returns μ and 1/τ of the row in x.
func (r *layerNormRunner[T]) statistics() (mu, inv float64) {
	n := float64(len(r.x.m))
	for _, m := range r.x.m {
		mu += m / n
	}
	t := r.eps
	for i, m := range r.x.m {
		t += ((m-mu)*(m-mu) + r.x.v[i]) / n
	}
	return mu, 1 / math.Sqrt(t)
}

// byTau returns the gradients by the mean and the variance of a unit, centred = m−μ,
// of a loss whose gradient by τ² is d.
func (r *layerNormRunner[T]) byTau(d, centred float64) (dm, dv float64) {
	n := float64(len(r.x.m))
	return 2 * d * centred / n, d / n
}

func (r *layerNormRunner[T]) Forward(p *Pass[T]) {
	for row := range p.In.Rows {
		load(r.x, p.In, row)
		mu, inv := r.statistics()
		for i, m := range r.x.m {
			a := inv * float64(r.gain.Mean[i])
			r.y.m[i], r.y.v[i] = (m-mu)*a+float64(r.offset.Mean[i]), a*a*r.x.v[i]
		}
		store(r.y, p.Out, row)
	}
}

// Backward leaves ∂γ and ∂β of each row on the tape. With g and h the gradients
// by the normalised mean u and variance s (γ and γ² taken in), and
// D = ∂/∂τ² = −(Σ g·u + 2Σ h·s)/(2τ²),
//
//	∂m = (g − avg g)/τ + 2D(m−μ)/n,  ∂v = h/τ² + D/n.
func (r *layerNormRunner[T]) Backward(p *Pass[T]) {
	size := len(r.x.m)
	n := float64(size)
	for row := range p.In.Rows {
		load(r.x, p.In, row)
		load(r.y, p.DOut, row)
		mu, inv := r.statistics()
		tape := p.Tape[row*2*size:][:2*size]
		var avg, d float64
		for i, m := range r.x.m {
			gain := float64(r.gain.Mean[i])
			u, s := (m-mu)*inv, r.x.v[i]*inv*inv
			g, h := r.y.m[i], r.y.v[i]
			tape[i], tape[size+i] = T(g*u+2*h*gain*s), T(g)
			g, h = g*gain, h*gain*gain
			r.y.m[i], r.y.v[i] = g, h
			avg += g / n
			d -= g*u + 2*h*s
		}
		if p.DIn.Mean == nil {
			continue
		}
		d *= inv * inv / 2
		for i, m := range r.x.m {
			dm, dv := r.byTau(d, m-mu)
			r.y.m[i] = (r.y.m[i]-avg)*inv + dm
			r.y.v[i] = r.y.v[i]*inv*inv + dv
		}
		store(r.y, p.DIn, row)
	}
}

func (r *layerNormRunner[T]) Gradient(_ int, blocks []Block[T]) {
	n := r.shape.Size()
	columns(blocks, 2*n, func(i int, sum float64) {
		if i < n {
			r.gain.GMean[i] = T(sum)
			return
		}
		r.offset.GMean[i-n] = T(sum)
	})
}
