package model

import (
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/nn"
	"utvi/rng"
)

// A walk runs a network layer by layer and keeps what each gave.
type walk[T gauss.Float] struct {
	net     *Net[T]
	parts   []nn.Part[T]
	runners []nn.Runner[T]
	outs    []gauss.Batch[T]
	pass    nn.Pass[T]
}

func newWalk[T gauss.Float](n *Net[T], x gauss.Batch[T]) *walk[T] {
	w := &walk[T]{net: n, parts: nn.Parts(n.Config.Layers, n.unit)}
	det := x.Var == nil
	for _, p := range w.parts {
		w.runners = append(w.runners, p.Unit.NewRunner(x.Rows, false))
		out := gauss.New[T](x.Rows, p.Unit.Out().Size())
		if det = det && !p.Unit.Random(); det {
			out.Var = nil
		}
		w.outs = append(w.outs, out)
	}
	return w
}

func (w *walk[T]) run(x gauss.Batch[T]) {
	w.net.prepare()
	w.pass.Seed = rng.New(w.net.Config.Seed)
	for i, r := range w.runners {
		w.pass.In, w.pass.Out = x, w.outs[i]
		r.Forward(&w.pass)
		x = w.outs[i]
	}
}

// A sampler draws networks one after the other and sums up what they give.
type sampler[T gauss.Float] struct {
	net  *Net[T]
	want *walk[T]
	walk *walk[T] // of the drawn network
	x    gauss.Batch[T]
	in   gauss.Batch[T] // drawn from x
	sums []sums         // of each layer

	sigma [][]T     // of each tensor
	z     []float32 // standard Normals for the largest
}

// sums are over the drawn networks, of each element: of its distance to the
// propagated mean, so that nothing cancels, of that squared, and of the variance
// the drawn networks carry themselves.
type sums struct{ d, d2, v []float64 }

func newSampler[T gauss.Float](n *Net[T], want *walk[T], x gauss.Batch[T], sigma [][]T) *sampler[T] {
	s := &sampler[T]{net: n, want: want, x: x, in: x, sigma: sigma}
	for _, t := range sigma {
		s.z = slices.Grow(s.z, len(t)+3)
	}
	s.in.Var = nil
	if x.Var != nil {
		s.in.Mean = make([]T, len(x.Mean))
	}
	s.walk = newWalk(n.Draw(rng.Key{}), s.in)
	for _, o := range want.outs {
		size := len(o.Mean)
		s.sums = append(s.sums, sums{make([]float64, size), make([]float64, size), make([]float64, size)})
	}
	return s
}

// deviations returns the σ of every random tensor of a network.
func deviations[T gauss.Float](n *Net[T]) [][]T {
	all := make([][]T, len(n.Params.Tensors))
	for i, t := range n.Params.Tensors {
		all[i] = make([]T, len(t.Rho))
		for j, rho := range t.Rho {
			all[i][j] = T(special.Softplus(float64(rho)))
		}
	}
	return all
}

// redraw is Redraw with σ at hand and Normals by the vector kernel, four to a
// counter: drawing is most of the work.
func (s *sampler[T]) redraw(key rng.Key) {
	for i, t := range s.net.Params.Tensors {
		dst, sigma := s.walk.net.Params.Tensors[i].Mean, s.sigma[i]
		copy(dst, t.Mean)
		quads := (len(sigma) + 3) / 4
		z := s.z[:4*quads]
		compute.Normals(z, key.Sub(uint64(i), 1), 0, 0, quads, 4)
		for j, d := range sigma {
			dst[j] += d * T(z[j])
		}
	}
	s.walk.net.Changed()
}

func (s *sampler[T]) draw(key rng.Key) {
	s.redraw(key)
	for i, v := range s.x.Var {
		s.in.Mean[i] = s.x.Mean[i] + T(math.Sqrt(float64(v))*rng.Normal(key, uint64(i)))
	}
	s.walk.run(s.in)
	for i, out := range s.walk.outs {
		sum, want := s.sums[i], s.want.outs[i].Mean
		for j, y := range out.Mean {
			d := float64(y) - float64(want[j])
			sum.d[j] += d
			sum.d2[j] += d * d
		}
		for j, v := range out.Var {
			sum.v[j] += float64(v)
		}
	}
}

func (s *sampler[T]) merge(o *sampler[T]) {
	for i, a := range s.sums {
		b := o.sums[i]
		for j := range a.d {
			a.d[j] += b.d[j]
			a.d2[j] += b.d2[j]
			a.v[j] += b.v[j]
		}
	}
}
