package model

import (
	"math"
	"slices"

	"utvi/engine"
	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// A walk runs a network and keeps the output of every layer, except chains, whose
// output is that of their last layer.
type walk[T gauss.Float] struct {
	root   *nn.Node[T]
	unit   nn.Unit[T]
	runner nn.Runner[T]
	pass   nn.Pass[T]
	nodes  []*nn.Node[T] // in the order in which they ran
	outs   []gauss.Batch[T]
	next   int
}

func newWalk[T gauss.Float](n *Net[T], x gauss.Batch[T]) *walk[T] {
	w := &walk[T]{}
	b := &nn.Binder[T]{Form: formOf(x), Observe: w.keep}
	var err error
	w.unit, err = engine.Bind(n.Network(), b)
	if err != nil {
		panic("model: a network that was built cannot be bound again")
	}
	w.root, w.runner = b.Graph(), w.unit.NewRunner(x.Rows, false)
	w.pass.Seed = rng.New(n.Config.Seed)
	w.pass.Out = gauss.New[T](x.Rows, n.Outputs())
	if w.unit.Form() == nn.Fixed {
		w.pass.Out.Var = nil
	}
	return w
}

func formOf[T gauss.Float](x gauss.Batch[T]) nn.Form {
	if x.Var == nil {
		return nn.Fixed
	}
	return nn.Independent
}

// keep copies the output of a layer.
func (w *walk[T]) keep(n *nn.Node[T], out gauss.Batch[T]) {
	if _, ok := n.Layer.(nn.Chain); ok {
		return
	}
	if w.next == len(w.outs) { // the first run
		w.nodes = append(w.nodes, n)
		w.outs = append(w.outs, gauss.Batch[T]{Rows: out.Rows, Width: out.Width, Mean: slices.Clone(out.Mean), Var: slices.Clone(out.Var)})
	} else {
		copy(w.outs[w.next].Mean, out.Mean)
		copy(w.outs[w.next].Var, out.Var)
	}
	w.next++
}

func (w *walk[T]) run(x gauss.Batch[T]) {
	engine.Prepare(w.unit)
	w.next, w.pass.In = 0, x
	w.runner.Forward(&w.pass)
}

// A sampler draws networks one after the other and sums their outputs.
type sampler[T gauss.Float] struct {
	want *walk[T]
	net  *Net[T]  // drawn
	walk *walk[T] // of that
	x    gauss.Batch[T]
	in   gauss.Batch[T] // drawn from x
	sums []sums         // of each layer

	draws *vi.Sampler[T]
}

func newSampler[T gauss.Float](n *Net[T], want *walk[T], x gauss.Batch[T]) *sampler[T] {
	s := &sampler[T]{want: want, x: x, in: x, draws: vi.NewSampler(n.Params), net: n.Draw(rng.Key{})}
	s.in.Var = nil
	if x.Var != nil {
		s.in.Mean = make([]T, len(x.Mean))
	}
	s.walk = newWalk(s.net, s.in)
	for _, o := range want.outs {
		s.sums = append(s.sums, newSums(len(o.Mean)))
	}
	return s
}

func (s *sampler[T]) draw(key rng.Key) {
	s.draws.Draw(key, s.net.Params)
	inputs := key.Sub(0, 3)
	for i, v := range s.x.Var {
		s.in.Mean[i] = s.x.Mean[i] + T(math.Sqrt(float64(v))*rng.Normal(inputs, uint64(i)))
	}
	s.walk.run(s.in)
	for i, out := range s.walk.outs {
		addTo(s.sums[i], out, s.want.outs[i].Mean)
	}
}
