package affine

import (
	"utvi/internal/compute/kernel"
)

// This file carries correlations through a Transposed, as conv_apart.go does through a Conv.
// With a the sensitivities of a quantity to the outputs under the kernel at place p, and m_p
// the inputs there, a quantity sees Σ_p a_p ⊗ m_p of the weights.

// ForwardApart is Forward that also leaves j = v·s, where v is not nil.
func (c *Transposed[T]) ForwardApart(x *ConvSense[T], tape, m, v, mo, vo, j []T) {
	squares := x.sum[:c.inputs()]
	kernel.Square(squares, m)
	c.packInputs(tape, m, squares, v)
	c.addUp(mo, c.biasMean, x.scratch, term[T]{m, c.meanT}, term[T]{})
	clear(vo)
	if c.Random {
		c.addUp(vo, c.biasVar, x.scratch, term[T]{squares, c.variT}, term[T]{})
	}
	if v == nil {
		return
	}
	c.transposed(x, vo, v, c.secondT)
	clear(j)
	if c.Random {
		c.transposed(x, j, v, c.variT)
		kernel.Add(vo, j)
	}
}

// Seen writes q of one quantity: what it sees of each weight, and sums, of each bias.
// tape is what ForwardApart left. The laid sensitivities stay in kept, if it is not nil.
func (c *Transposed[T]) Seen(x *ConvSense[T], tape, a, q, sums, kept []T) {
	clear(q)
	c.sumChannels(sums, a)
	laid := kept
	if kept == nil {
		laid = x.scratch[:c.laid()]
	}
	layOut(&c.layout, laid, a)
	for ky := range c.win.KH {
		c.outer(q[ky*c.rowWeights()*c.Out:], ky, 0, c.rowWeights(), laid, c.seen(tape, 0))
	}
}

// SenseBack takes sensitivities from the outputs to the inputs.
func (c *Transposed[T]) SenseBack(x *ConvSense[T], a, in []T) {
	laid := x.scratch[:c.laid()]
	layOut(&c.layout, laid, a)
	clear(in)
	slide(&c.win, c.Out, in, nil, laid, c.mean)
}

// SharedBack is the reverse of Shared and Seen for one quantity, with e and eb the
// gradients by its q and sums: it adds those by its sensitivities to da. m are the inputs' means.
func (c *Transposed[T]) SharedBack(x *ConvSense[T], _, m, e, eb, da []T) {
	c.packWeights(nil, x.wT, e)
	c.transposed(x, da, m, x.wT)
	for at := 0; at < len(da); at += len(eb) {
		kernel.AddShort(da[at:][:len(eb)], eb)
	}
}

// MeansBack adds to dm the gradients by the inputs' means that come from e, those by what a
// quantity of sensitivities a sees of the weights.
func (c *Transposed[T]) MeansBack(x *ConvSense[T], a, e, dm []T) {
	c.packWeights(x.w, nil, e)
	laid := x.scratch[:c.laid()]
	layOut(&c.layout, laid, a)
	slide(&c.win, c.Out, dm, nil, laid, x.w)
}

// SenseForward adds to the gradients by the sensitivities of the outputs those that
// come from the inputs'. It leaves b on the tape, packed, for the weights' gradients.
func (c *Transposed[T]) SenseForward(x *ConvSense[T], packed, b, out []T) {
	c.packPlaces(packed, b)
	c.transposed(x, out, b, c.meanT)
}

// RecordApart leaves the gradients of an image's outputs on its tape.
func (c *Transposed[T]) RecordApart(tape, g, h, d []T) {
	c.Record(tape, g, h)
	layOut(&c.layout, c.told(tape, 2), d)
}

// BackwardApart is Backward with d, the gradients by j.
func (c *Transposed[T]) BackwardApart(x *ConvSense[T], tape, m, g, h, d, dm, dv []T) {
	c.Backward(tape, m, g, h, dm, dv, nil)
	if dv == nil || !c.Random {
		return
	}
	slide(&c.win, c.Out, dv, nil, c.told(tape, 1), c.vari)
	slide(&c.win, c.Out, dv, nil, c.told(tape, 2), c.vari)
}
