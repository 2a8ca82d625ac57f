package model

import (
	"fmt"
	"math"
	"slices"

	"utvi/gauss"
	"utvi/internal/special"
	"utvi/nn"
	"utvi/vi"
)

// An Around says how Around makes a network of Normals from one of numbers.
type Around struct {
	// Scale is the standard deviation of the priors, beside the root mean square of each
	// tensor; 0 means DefaultScale. The weights start at a tenth of that.
	Scale float64
	// Last is how many of the last layers with weights get Normals; 0 means all.
	Last int
	// Correlated carries correlations between units (nn.Correlate).
	Correlated bool
	// Finish, if set, changes the layers at the end, which then start as new ones. Layers
	// with trained weights must stay.
	Finish func(layers nn.Chain) nn.Chain
}

// DefaultScale is the standard deviation of priors beside the root mean square of the
// trained weights of a tensor.
const DefaultScale = 0.4

// Around returns a network of Normals around the weights of n, with priors that are centred
// there. Normalisations by fixed statistics become part of the layers beside them, where that is
// the same network; so the priors of weights and biases have the size of what they do. Layers
// that cannot have Normals stay as they are.
func (n *Net[T]) Around(a Around) (*Net[T], error) {
	if a.Scale == 0 {
		a.Scale = DefaultScale
	}
	if !(a.Scale > 0) || math.IsInf(a.Scale, 0) {
		return nil, fmt.Errorf("the scale of the priors is %v; it must be a number > 0", a.Scale)
	}
	top := taken(n.Graph())
	top.fold()
	top.release(a.Last)
	layers := top.layer.(nn.Chain)
	if a.Finish != nil {
		layers = a.Finish(layers)
	}
	if a.Correlated {
		first := top.firstReleased()
		layers = append(layers[:first:first], nn.Correlate(layers[first:])...)
	}
	c := n.Config
	c.Layers = layers
	around, err := Build[T](c)
	if err != nil {
		return nil, err
	}
	around.Facts = n.Facts
	if err := top.fill(around, a.Scale); err != nil {
		return nil, err
	}
	around.Changed()
	return around, nil
}

// A piece is a layer of a built network with the numbers of its tensors, and the pieces within.
// Its layer is up to date only at the top, after release.
type piece[T gauss.Float] struct {
	layer   nn.Layer
	numbers [][]T
	inside  []*piece[T]
	random  bool // its weights become Normals
}

// taken takes a built network to pieces.
func taken[T gauss.Float](n *nn.Node[T]) *piece[T] {
	p := &piece[T]{layer: n.Layer}
	for _, t := range n.Tensors {
		p.numbers = append(p.numbers, slices.Clone(t.Mean))
	}
	for _, c := range n.Children {
		p.inside = append(p.inside, taken(c))
	}
	return p
}

// release makes the weights of the last layers that have any Normals, 0: of all, and puts the
// layers together again.
func (p *piece[T]) release(last int) {
	with := p.releasable()
	if last > 0 {
		with = with[max(0, len(with)-last):]
	}
	for _, q := range with {
		q.layer, q.random = released(q.layer)
	}
	p.assemble()
}

// releasable are the pieces whose weights can become Normals. An attention is one, with the layers
// that it is made of.
func (p *piece[T]) releasable() (all []*piece[T]) {
	if _, ok := released(p.layer); ok {
		return []*piece[T]{p}
	}
	for _, q := range p.inside {
		all = append(all, q.releasable()...)
	}
	return all
}

// firstReleased is the first layer of a chain with Normals; signals before it are numbers.
func (p *piece[T]) firstReleased() int {
	for i, q := range p.inside {
		found := false
		q.each(func(q *piece[T]) { found = found || q.random })
		if found {
			return i
		}
	}
	return 0
}

// each calls f with the piece and all pieces within, in the order of their tensors.
func (p *piece[T]) each(f func(*piece[T])) {
	f(p)
	for _, q := range p.inside {
		q.each(f)
	}
}

func (p *piece[T]) assemble() {
	c, ok := p.layer.(nn.Composite)
	if !ok || len(p.inside) == 0 {
		return
	}
	children := make([]nn.Layer, len(p.inside))
	for i, q := range p.inside {
		q.assemble()
		children[i] = q.layer
	}
	p.layer = c.WithChildren(children)
}

// released is the layer with Normals as weights. ok is false if it has no weights that can be.
func released(l nn.Layer) (random nn.Layer, ok bool) {
	switch l := l.(type) {
	case nn.Dense:
		l.Fixed = false
		return l, true
	case nn.Conv2D:
		l.Fixed = false
		return l, true
	case nn.Conv1D:
		l.Fixed = false
		return l, true
	case nn.ConvTranspose2D:
		l.Fixed = false
		return l, true
	case nn.ConvTranspose1D:
		l.Fixed = false
		return l, true
	case nn.LSTM:
		l.Fixed = false
		return l, true
	case nn.GRU:
		l.Fixed = false
		return l, true
	case nn.RNN:
		l.Fixed = false
		return l, true
	case nn.MultiHeadAttention:
		l.Fixed = false
		return l, true
	case nn.PerPlace:
		if d, is := l.Layer.(nn.Dense); is {
			d.Fixed = false
			return nn.PerPlace{Layer: d}, true
		}
	}
	return l, false
}

// fill sets the tensors of the network that the pieces make, in their order.
func (p *piece[T]) fill(n *Net[T], scale float64) error {
	at := 0
	var wrong error
	p.each(func(q *piece[T]) {
		for i, numbers := range q.numbers {
			if at == len(n.Params.Tensors) || n.Params.Tensors[at].Len() != len(numbers) {
				wrong = fmt.Errorf("the layers have other tensors than the network")
				return
			}
			t := n.Params.Tensors[at]
			at++
			copy(t.Mean, numbers)
			if !t.Random {
				continue
			}
			var weights []T
			if i > 0 {
				weights = q.numbers[0]
			}
			around(t, scale*max(size(numbers), leastSize(t, weights)))
		}
	})
	return wrong
}

// around centres the prior of a tensor on its means, and starts it at a tenth of the prior's
// standard deviation.
func around[T gauss.Float](t *vi.Tensor[T], std float64) {
	t.Prior = vi.Prior{Std: std}
	t.Center = slices.Clone(t.Mean)
	t.Spread = nil
	rho := T(special.SoftplusInverse(std / 10))
	for i := range t.Rho {
		t.Rho[i] = rho
	}
}

// size is the root mean square of numbers.
func size[T gauss.Float](numbers []T) float64 {
	var sum float64
	for _, x := range numbers {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum / float64(max(1, len(numbers))))
}

// leastSize is what a prior takes a tensor of a layer for at least; weights are those beside a
// bias, nil for the weights themselves. Numbers that are about zero,
// such as biases that weight decay had no use for, say nothing about how large they could be. So a
// bias counts as large as the layer's weights, but not larger than new biases are, ±1/√inputs;
// and weights count as a thousandth of new ones.
func leastSize[T gauss.Float](t *vi.Tensor[T], weights []T) float64 {
	start := 1 / math.Sqrt(float64(max(1, t.FanIn)))
	if weights == nil {
		return 1e-3 * start
	}
	return max(1e-3*start, min(size(weights), start))
}
