package nn

import (
	"errors"
	"fmt"

	"utvi/gauss"
	"utvi/vi"
)

// PerPlace applies a layer to each place of an image, or to each token of a sequence, alone and
// with the same weights: a dense layer per token, a normalisation over the channels of each place.
// A sequence of n tokens with c features has the shape 1×n×c.
//
// A Dense is bound as a convolution with a window of one cell, and a Chain layer by layer. The
// outputs of all places share weights, so they are correlated; the next layer takes them as
// independent, unless the layers are inside Correlated. There, a layer with Normal weights must be
// a Dense.
type PerPlace struct {
	Layer Layer `json:"-"`
}

// Kind is "perplace", as model files and the names of parameters have it.
func (PerPlace) Kind() string { return "perplace" }

// Bind32 binds the layer to the channels of a place.
func (l PerPlace) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindPerPlace(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l PerPlace) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindPerPlace(l, b) }

// Children returns the layer.
func (l PerPlace) Children() []Layer { return []Layer{l.Layer} }

// WithChildren returns a PerPlace of another layer.
func (l PerPlace) WithChildren(layers []Layer) Layer { return PerPlace{layers[0]} }

type perPlace[T gauss.Float] struct {
	Unit[T]
	in  Shape
	out Shape
	k   int // quantities that are followed
}

func bindPerPlace[T gauss.Float](l PerPlace, b *Binder[T]) (Unit[T], error) {
	switch of := l.Layer.(type) {
	case nil:
		return nil, errors.New("no layer; set nn.PerPlace.Layer")
	case Dense:
		return bindConv(Conv2D{Out: of.Out, Kernel: [2]int{1, 1}, Fixed: of.Fixed, NoBias: of.NoBias}, b)
	case Chain:
		each := make(Chain, len(of))
		for i, layer := range of {
			each[i] = PerPlace{layer}
		}
		return BindChild(each, b, "each")
	case PerPlace:
		return bindPerPlace(of, b)
	}
	in, form := b.In, b.Form
	before := len(b.Params.Tensors)
	defer func() { b.In, b.Form = in, form }()
	b.In, b.Form = Vec(in.C), form.apart()
	u, err := BindChild(l.Layer, b, l.Layer.Kind())
	if err != nil {
		return nil, err
	}
	for _, t := range b.Params.Tensors[before:] {
		if b.Sense && t.Random {
			return nil, fmt.Errorf("a %s layer has Normal weights, which all places share; inside nn.Correlated only nn.Dense can be applied to each place", l.Layer.Kind())
		}
	}
	if err := carries(u, b, "layer of each place"); err != nil {
		return nil, err
	}
	out := u.Out()
	if out.H != 1 || out.W != 1 {
		return nil, fmt.Errorf("the layer turns the %d channels of a place into %v; its output must be a vector", in.C, out)
	}
	return &perPlace[T]{Unit: u, in: in, out: Shape{in.H, in.W, out.C}}, nil
}

func (u *perPlace[T]) places() int    { return u.in.H * u.in.W }
func (u *perPlace[T]) Out() Shape     { return u.out }
func (u *perPlace[T]) Form() Form     { return u.Unit.Form().apart() }
func (u *perPlace[T]) TapeWidth() int { return u.places() * u.Unit.TapeWidth() }

func (u *perPlace[T]) prepareReads(tile int) (t *vi.Tensor[T], lo, hi int) {
	return PrepareReads(u.Unit, tile)
}

func (u *perPlace[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &perPlaceRunner[T]{Runner: u.Unit.NewRunner(maxRows*u.places(), train), perPlace: u}
	if u.k == 0 || u.Form() == Fixed {
		return r
	}
	return newPerPlaceSenser(r, maxRows)
}

// perPlaceRunner shows its layer a batch whose rows are the places of all images.
type perPlaceRunner[T gauss.Float] struct {
	Runner[T]
	*perPlace[T]
	pass   Pass[T]
	blocks []Block[T]
}

// cut is a batch of images as a batch of places.
func (u *perPlace[T]) cut(b gauss.Batch[T]) gauss.Batch[T] {
	b.Rows *= u.places()
	b.Width /= u.places()
	return b
}

func (r *perPlaceRunner[T]) Forward(p *Pass[T]) {
	q := &r.pass
	q.Seed = p.Seed
	q.Step = p.Step
	q.Row = p.Row * uint64(r.places())
	q.Tape = p.Tape
	q.In = r.cut(p.In)
	q.Out = r.cut(p.Out)
	r.Runner.Forward(q)
}

func (r *perPlaceRunner[T]) Backward(p *Pass[T]) {
	q := &r.pass
	q.DOut = r.cut(p.DOut)
	q.DIn = p.DIn
	if p.DIn.Mean != nil {
		q.DIn = r.cut(p.DIn)
	}
	r.Runner.Backward(q)
}

func (r *perPlaceRunner[T]) Gradient(tile int, blocks []Block[T]) {
	r.blocks = r.blocks[:0]
	for _, b := range blocks {
		r.blocks = append(r.blocks, Block[T]{Rows: b.Rows * r.places(), Tape: b.Tape})
	}
	r.Runner.Gradient(tile, r.blocks)
}
