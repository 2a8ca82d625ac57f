package nn

import (
	"iter"

	"utvi/gauss"
	"utvi/vi"
)

// A Node is one layer of a bound network, for code that walks the network: an
// exporter, another engine, a listing.
type Node[T gauss.Float] struct {
	Name     string // the prefix of its parameters
	Layer    Layer
	In, Out  Shape
	From, To Form // of its input and its output
	Tensors  []*vi.Tensor[T]
	Children []*Node[T] // the layers it binds, in that order
}

// All yields the node and all nodes below it, parents first.
func (n *Node[T]) All() iter.Seq[*Node[T]] {
	return func(yield func(*Node[T]) bool) { n.walk(yield) }
}

func (n *Node[T]) walk(yield func(*Node[T]) bool) bool {
	if !yield(n) {
		return false
	}
	for _, c := range n.Children {
		if !c.walk(yield) {
			return false
		}
	}
	return true
}

// Steps returns the layers that run one after the other: the node itself or, if it is
// a Chain, the steps of its children.
func (n *Node[T]) Steps() []*Node[T] {
	if _, ok := n.Layer.(Chain); !ok {
		return []*Node[T]{n}
	}
	var steps []*Node[T]
	for _, c := range n.Children {
		steps = append(steps, c.Steps()...)
	}
	return steps
}

// Graph returns the node of the layer that was bound first, with all others below it.
func (b *Binder[T]) Graph() *Node[T] { return b.root }

// Bind binds a layer to b and adds its node to the graph.
func Bind[T gauss.Float](l Layer, b *Binder[T]) (Unit[T], error) {
	form := b.Form
	defer func() { b.Form = form }()
	if form == Covariant && !takesCovariances(l) {
		b.Form = Independent
	}
	n := &Node[T]{Name: b.Name, Layer: l, In: b.In, From: b.Form}
	parent, first := b.parent, len(b.Params.Tensors)
	owned := b.owned
	b.parent, b.owned = n, nil
	u, err := bindAs(l, b)
	own := b.owned
	b.parent, b.owned = parent, owned
	if err != nil {
		return nil, err
	}
	n.Out, n.To = u.Out(), u.Form()
	for i, t := range b.Params.Tensors[first:] {
		if !own.has(first + i) {
			n.Tensors = append(n.Tensors, t)
		}
	}
	if parent == nil {
		b.root = n
	} else {
		parent.Children = append(parent.Children, n)
		b.owned = append(b.owned, span{first, len(b.Params.Tensors)})
	}
	if b.Observe == nil {
		return u, nil
	}
	o := observed[T]{u, n, b.Observe}
	if s, ok := u.(Sensitive[T]); ok {
		return observedSensitive[T]{o, s}, nil
	}
	return o, nil
}

// BindChild binds a layer inside another one. The names of its parameters start with
// the name of the outer layer and name. Changes that the inner layer makes to b are
// undone.
func BindChild[T gauss.Float](l Layer, b *Binder[T], name string) (Unit[T], error) {
	return bindReader(l, b, name, nil)
}

// bindReader is BindChild for a layer whose input is made of parts; nil: of one.
func bindReader[T gauss.Float](l Layer, b *Binder[T], name string, parts []Part) (Unit[T], error) {
	outer := b.Name
	in := b.In
	form := b.Form
	outerParts := b.Parts
	defer func() {
		b.Name = outer
		b.In = in
		b.Form = form
		b.Parts = outerParts
	}()
	b.Parts = parts
	b.Name = name
	if outer != "" {
		b.Name = outer + "." + name
	}
	return Bind(l, b)
}

func bindAs[T gauss.Float](l Layer, b *Binder[T]) (Unit[T], error) {
	switch b := any(b).(type) {
	case *Binder[float32]:
		u, err := l.Bind32(b)
		if err != nil {
			return nil, err
		}
		return any(u).(Unit[T]), nil
	case *Binder[float64]:
		u, err := l.Bind64(b)
		if err != nil {
			return nil, err
		}
		return any(u).(Unit[T]), nil
	}
	panic("nn: unreachable")
}

// spans are stretches of the list of tensors.
type (
	span  struct{ lo, hi int }
	spans []span
)

func (s spans) has(i int) bool {
	for _, x := range s {
		if i >= x.lo && i < x.hi {
			return true
		}
	}
	return false
}

// observed is a unit whose outputs are shown to an observer.
type observed[T gauss.Float] struct {
	Unit[T]
	node *Node[T]
	show func(n *Node[T], out gauss.Batch[T])
}

func (u observed[T]) NewRunner(maxRows int, train bool) Runner[T] {
	return observedRunner[T]{u.Unit.NewRunner(maxRows, train), u}
}

// observedSensitive and observedSenser are the same for units that carry correlations.
type observedSensitive[T gauss.Float] struct {
	observed[T]
	sensitive Sensitive[T]
}

func (u observedSensitive[T]) Follow(k int) { u.sensitive.Follow(k) }

func (u observedSensitive[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := u.Unit.NewRunner(maxRows, train)
	if s, ok := r.(Senser[T]); ok {
		return observedSenser[T]{s, u.observed}
	}
	return observedRunner[T]{r, u.observed}
}

type observedSenser[T gauss.Float] struct {
	Senser[T]
	observed observed[T]
}

func (r observedSenser[T]) Forward(p *Pass[T]) {
	r.Senser.Forward(p)
	r.observed.show(r.observed.node, p.Out)
}

type observedRunner[T gauss.Float] struct {
	Runner[T]
	observed observed[T]
}

func (r observedRunner[T]) Forward(p *Pass[T]) {
	r.Runner.Forward(p)
	r.observed.show(r.observed.node, p.Out)
}
