package nn

import (
	"fmt"
	"math"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
)

// Piecewise embeds numbers so that one weighted sum can follow steps and thresholds
// (Gorishniy et al. 2022). Unit j stays, and for its edges e_0 < e_1 < … every interval
// becomes a feature,
//
//	clip((x − e_k)/(e_{k+1} − e_k), 0, 1) − ½ .
//
// Outputs are all units first, then the features of unit 0, of unit 1, and so on. A unit
// without edges has no features. A weighted sum of the features of a unit is a continuous
// function that is linear between the edges. The moments of a feature of a Normal x are
// exact; see piecewise_moments.go.
type Piecewise struct {
	Edges [][]float64 `json:"edges"` // for each unit; empty, or at least 2 that rise
}

// Kind is "piecewise", as model files and the names of parameters have it.
func (Piecewise) Kind() string { return "piecewise" }

// Bind32 checks the edges of each input; it declares nothing.
func (l Piecewise) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindPiecewise(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Piecewise) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindPiecewise(l, b) }

type piecewise[T gauss.Float] struct {
	Stateless
	sense bool
	out   int
	edges [][]T
	inv   [][]T // 1/(e_{k+1} − e_k)
}

func bindPiecewise[T gauss.Float](l Piecewise, b *Binder[T]) (Unit[T], error) {
	n := b.In.Size()
	if len(l.Edges) != n {
		return nil, fmt.Errorf("edges for %d units; the input has %d", len(l.Edges), n)
	}
	u := &piecewise[T]{Stateless: Stateless(b.Form.apart()), sense: b.Sense, out: n}
	for j, edges := range l.Edges {
		if len(edges) == 1 {
			return nil, fmt.Errorf("unit %d has 1 edge; give it none, or at least 2", j)
		}
		e, inv := make([]T, len(edges)), make([]T, max(0, len(edges)-1))
		compute.Convert(e, edges)
		for k := range inv {
			inv[k] = 1 / (e[k+1] - e[k])
			if !(e[k+1] > e[k]) || !compute.Finite(inv[k]) || !compute.Finite(e[k]) || !compute.Finite(e[k+1]) {
				return nil, fmt.Errorf("the edges %v and %v of unit %d; edges must be finite and rise", edges[k], edges[k+1], j)
			}
		}
		u.edges = append(u.edges, e)
		u.inv = append(u.inv, inv)
		u.out = u.out + len(inv)
	}
	if u.out > maxWeights {
		return nil, fmt.Errorf("%d features; a layer may have at most %d", u.out, maxWeights)
	}
	return u, nil
}

func (u *piecewise[T]) Out() Shape { return Vec(u.out) }

func (u *piecewise[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &piecewiseRunner[T]{piecewise: u}
	if u.Form() == Fixed {
		return r
	}
	n := maxRows * (u.out - len(u.edges))
	if train {
		r.jac = newJacobian[T](n)
	}
	if !u.sense {
		return r
	}
	s := &piecewiseSenser[T]{piecewiseRunner: r, e: make([]T, maxRows*u.out)}
	r.slope = make([]T, n)
	if train {
		r.slopeM, r.slopeV = make([]T, n), make([]T, n)
		s.de = make([]T, maxRows*u.out)
		s.xm, s.xv = make([]T, maxRows*len(u.edges)), make([]T, maxRows*len(u.edges))
	}
	return s
}

// A piecewiseRunner keeps what Backward needs of the features of the block Forward saw
// last, rows × features; the units themselves have slope 1.
type piecewiseRunner[T gauss.Float] struct {
	*piecewise[T]
	Weightless[T]
	jac                   kernel.Moments[T]
	slope, slopeM, slopeV []T // where correlations are carried
}

func (r *piecewiseRunner[T]) Forward(p *Pass[T]) {
	in, features := len(r.edges), r.out-len(r.edges)
	for row := range p.In.Rows {
		x, out := p.In.Mean[row*in:][:in], p.Out.Mean[row*r.out:][:r.out]
		copy(out, x)
		if r.Form() == Fixed {
			r.encode(x, out[in:])
			continue
		}
		v := p.In.Var[row*in:][:in]
		copy(p.Out.Var[row*r.out:], v)
		r.push(x, v, out[in:], p.Out.Var[row*r.out+in:], row*features)
	}
}

// encode writes the features of one row of numbers.
func (u *piecewise[T]) encode(x, out []T) {
	for j, e := range u.edges {
		inv := u.inv[j]
		for k := range inv {
			out[k] = min(max((x[j]-e[k])*inv[k], 0), 1) - 0.5
		}
		out = out[len(inv):]
	}
}

// push writes the moments of the features of one row, whose first one has number at in
// what is kept.
func (r *piecewiseRunner[T]) push(x, variance, mean, v []T, at int) {
	i := 0
	for j, e := range r.edges {
		for k := range r.inv[j] {
			f := clipMoments(float64(x[j]), float64(variance[j]), float64(e[k]), float64(e[k+1]))
			mean[i], v[i] = T(f.mean-0.5), T(f.v)
			if r.jac.MM != nil {
				r.jac.MM[at+i] = T(f.slope)
				r.jac.MV[at+i] = T(f.mv)
				r.jac.VM[at+i] = T(f.vm)
				r.jac.VV[at+i] = T(f.vv)
			}
			if r.slope != nil {
				r.slope[at+i] = T(f.slope)
			}
			if r.slopeM != nil {
				r.slopeM[at+i], r.slopeV[at+i] = T(f.slopeM), T(f.slopeV)
			}
			i++
		}
	}
}

func (r *piecewiseRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean == nil {
		return
	}
	in, features := len(r.edges), r.out-len(r.edges)
	for row := range p.DOut.Rows {
		g, dx := p.DOut.Mean[row*r.out:][:r.out], p.DIn.Mean[row*in:][:in]
		copy(dx, g)
		if r.Form() == Fixed {
			r.backFixed(p.In.Mean[row*in:][:in], g[in:], dx)
			continue
		}
		h, dv := p.DOut.Var[row*r.out:][:r.out], p.DIn.Var[row*in:][:in]
		copy(dv, h)
		i, at := in, row*features
		for j, inv := range r.inv {
			for range inv {
				dx[j] += T(g[i]*r.jac.MM[at]) + T(h[i]*r.jac.VM[at])
				dv[j] += T(g[i]*r.jac.MV[at]) + T(h[i]*r.jac.VV[at])
				i, at = i+1, at+1
			}
		}
	}
}

// backFixed adds the gradients of one row through the intervals that its numbers are in.
func (u *piecewise[T]) backFixed(x, g, dx []T) {
	for j, e := range u.edges {
		inv := u.inv[j]
		for k := range inv {
			if x[j] > e[k] && x[j] < e[k+1] {
				dx[j] += T(g[k] * inv[k])
			}
		}
		g = g[len(inv):]
	}
}

// clipped are the moments of clip((x − a)/(b − a), 0, 1) for x ~ N(m, v), and their
// derivatives by m and v.
type clipped struct {
	mean, v                float64
	slope, mv              float64 // ∂mean: by m, which is Cov(f, x)/v, and by v
	vm, vv, slopeM, slopeV float64
}

// clipMoments are exact: with α = (a−m)/σ, β = (b−m)/σ, w = b−a, and P = Φ(β) − Φ(α),
//
//	E f  = [ (m−a)·P + σ(φ(α)−φ(β)) ]/w + 1 − Φ(β)
//	E f² = [ (m−a)·((m−a)·P + σ(φ(α)−φ(β))) + v·P − σw·φ(β) ]/w² + 1 − Φ(β)
//
// and the derivatives follow from ∂/∂m E g = E g′, ∂/∂v E g = ½ E g″.
func clipMoments(m, v, a, b float64) clipped {
	w := b - a
	if !(v > 1e-12*w*w) { // a number, or as good as one
		f := clipped{mean: min(max((m-a)/w, 0), 1)}
		if m > a && m < b {
			f.slope = 1 / w
			f.v = v / (w * w)
			f.vv = 1 / (w * w)
		}
		return f
	}
	s := math.Sqrt(v)
	al, be := (a-m)/s, (b-m)/s
	switch { // most intervals are far away, where Φ(−9) = 10⁻¹⁹ is nothing
	case al > 9:
		return clipped{}
	case be < -9:
		return clipped{mean: 1}
	}
	pa, pb := special.PDF(al), special.PDF(be)
	in, above := between(al, be), special.CDF(-be)
	// First and second moment of x − a over the interval.
	first := (m-a)*in + s*(pa-pb)
	second := (m-a)*first + v*in - s*w*pb
	var f clipped
	f.mean = first/w + above
	square := second/(w*w) + above
	f.v = max(0, square-f.mean*f.mean)
	f.slope, f.mv = in/w, 0.5*(pa-pb)/(s*w)
	f.vm = 2*first/(w*w) - 2*f.mean*f.slope
	f.vv = in/(w*w) - pb/(s*w) - 2*f.mean*f.mv
	f.slopeM, f.slopeV = (pa-pb)/(s*w), 0.5*(al*pa-be*pb)/(v*w)
	return f
}

// between is Φ(β) − Φ(α), from the nearer tail.
func between(al, be float64) float64 {
	if al > 0 {
		return special.CDF(-al) - special.CDF(-be)
	}
	return special.CDF(be) - special.CDF(al)
}
