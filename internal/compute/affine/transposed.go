package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// Transposed is the moment product of a transposed convolution: every place of a window
// over the image that it makes gets an input times the kernel, and places that overlap add up.
// It is a [Conv] with the image and its places in each other's part: what that adds up going
// back is the way forward here, and the sums of its windows are the way back. So the window
// is that over the outputs, Out is the number of input channels, and weights are
// KH·KW·C/Groups × Out, with C the channels of the outputs.
//
// The tape of an image holds m, m² and v packed, then the laid g and h, and at last their
// sums for the biases: places may leave cells of the outputs out.
type Transposed[T compute.Float] struct{ Conv[T] }

// NewTransposed returns the product that adds in channels of the places of a window up.
func NewTransposed[T compute.Float](w Window, in int, random bool) *Transposed[T] {
	c := NewConv[T](w, in, random, true)
	c.flipped = true
	c.biasMean, c.biasVar = make([]T, w.C), make([]T, w.C)
	return &Transposed[T]{*c}
}

// NewTransposedApart is NewTransposed for a network that carries correlations.
func NewTransposedApart[T compute.Float](w Window, in int, random bool) *Transposed[T] {
	c := NewTransposed[T](w, in, random)
	c.setApart()
	return c
}

// PredictTape is 0: in prediction Forward leaves nothing.
func (c *Transposed[T]) PredictTape() int { return 0 }

// inputs is the number of inputs.
func (c *Transposed[T]) inputs() int { return c.win.OH * c.win.OW * c.Out }

// Scratch is the length of the scratch Forward and Backward need.
func (c *Transposed[T]) Scratch() int { return c.Conv.Scratch() + c.inputs() }

// sums are those of g or h on the tape of an image.
func (c *Conv[T]) sums(tape []T, i int) []T {
	n := c.image.C
	return tape[c.TapeWidth()-(2-i)*n:][:n]
}

// Forward computes the moments mo, vo of one image with moments m, v. A nil v is
// a deterministic input; a nil vo is not wanted. On a tape it leaves m, m² and v, packed.
func (c *Transposed[T]) Forward(tape, m, v, mo, vo, scratch []T) {
	squares, scratch := scratch[:c.inputs()], scratch[c.inputs():]
	if c.Random && vo != nil {
		kernel.Square(squares, m)
	}
	if len(tape) > 0 {
		c.packInputs(tape, m, squares, v)
	}
	c.addUp(mo, c.biasMean, scratch, term[T]{m, c.meanT}, term[T]{})
	switch {
	case vo == nil:
	case c.Random && v != nil:
		c.addUp(vo, c.biasVar, scratch, term[T]{squares, c.variT}, term[T]{v, c.secondT})
	case c.Random:
		c.addUp(vo, c.biasVar, scratch, term[T]{squares, c.variT}, term[T]{})
	default:
		c.addUp(vo, c.biasVar, scratch, term[T]{v, c.secondT}, term[T]{})
	}
}

func (c *Transposed[T]) packInputs(tape, m, squares, v []T) {
	c.packPlaces(c.seen(tape, 0), m)
	if c.Random {
		c.packPlaces(c.seen(tape, 1), squares)
	}
	if v != nil {
		c.packPlaces(c.seen(tape, 2), v)
	}
}

// A term is what an addUp adds: inputs times weights.
type term[T compute.Float] struct {
	x []T
	w []product.Right[T]
}

// addUp writes a bias for each channel, plus one term or two, to an image.
func (c *Transposed[T]) addUp(image, bias, scratch []T, terms ...term[T]) {
	if c.mirrors() {
		laid := scratch[:c.back.H*c.back.W*c.back.C]
		for _, t := range terms {
			if t.x != nil {
				layOut(&c.backLayout, laid, t.x)
				slide(&c.back, c.image.C, image, bias, laid, t.w)
				bias = nil
			}
		}
		return
	}
	d := scratch[:c.laid()]
	clear(d)
	for _, t := range terms {
		if t.x != nil {
			c.spread(d, t.x, t.w)
		}
	}
	layBack(&c.layout, image, d)
	for n := len(bias); len(image) > 0; image = image[n:] {
		kernel.Add(image[:n], bias)
	}
}

// Record leaves the gradients of an image's outputs on its tape.
func (c *Transposed[T]) Record(tape, g, h []T) {
	for i, src := range [2][]T{g, h} {
		if src != nil {
			layOut(&c.layout, c.told(tape, i), src)
			c.sumChannels(c.sums(tape, i), src)
		}
	}
}

// sumChannels writes the sums of each channel of an image of outputs.
func (c *Transposed[T]) sumChannels(sums, image []T) {
	clear(sums)
	for n := len(sums); len(image) > 0; image = image[n:] {
		kernel.Add(sums, image[:n])
	}
}

// Backward computes the gradients dm, dv of one image with means m from the gradients g, h
// of its outputs, which Record left on the tape. A nil h is the gradient of a deterministic
// output; a nil dv is not wanted.
func (c *Transposed[T]) Backward(tape, m, _, h, dm, dv, _ []T) {
	clear(dm)
	if h != nil {
		laid := c.told(tape, 1)
		if c.Random {
			slide(&c.win, c.Out, dm, nil, laid, c.vari)
			kernel.TwiceMul(dm, m)
		}
		if dv != nil {
			clear(dv)
			slide(&c.win, c.Out, dv, nil, laid, c.second)
		}
	}
	slide(&c.win, c.Out, dm, nil, c.told(tape, 0), c.mean)
}
