package gpu

import "utvi/internal/cuda"

// Convolutions that carry correlations; see kernels/shared.h.

// seen is what each output of the network sees of the random weights and biases of a
// convolution; 0 if they are numbers.
type seen struct{ weights, biases cuda.Ptr }

// weights is the number of weights of a convolution.
func (l *layer) weights() int { return int(l.image.KH*l.image.KW*l.image.C) * l.features() }

func (l *layer) features() int { return l.out / int(l.image.OH*l.image.OW) }

func (c *correlated) see(m *memory, l *layer, o op) (s seen) {
	if o.S != 0 {
		s.weights = m.floats(c.outputs * c.rows * l.weights())
	}
	if o.BS != 0 {
		s.biases = m.floats(c.outputs * c.rows * l.features())
	}
	return s
}

// apart adds the operation that keeps apart what the weights of a convolution make of the
// variances of its inputs.
func (b *launches) apart(o op) {
	if o.Tape != 0 {
		o.Kind = opApart
		b.add(o)
	}
}

// apartBack adds what comes through that, and through what outputs see of the weights, to
// the gradients by the inputs.
func (b *launches) apartBack(o op) {
	if o.Extra0 != 0 || o.Extra1 != 0 {
		o.Kind = opApartBack
		b.add(o)
	}
}

type sharedGradient struct {
	Q, H, S        cuda.Ptr
	Grad           cuda.Ptr
	Rows, Width, K int32
	_              int32
	Results        cuda.Ptr
}

const sharedThreads = 128

// shareParts returns the parts of a convolution's gradients: where correlations are
// carried, as many again for products, and one for what weights share.
func (d *convGradient) shareParts() int {
	if d.outputs == 0 {
		return d.parts
	}
	return 2*d.parts + 1
}

// placeShared returns the products that correlations add to the gradients p of a
// convolution, ∂w += bᵀa and ∂s += vᵀ∂e, and adds the launches for what its weights and
// biases share.
func (g *convGradients) placeShared(w *weights, d *convGradient, p product, rows int) (more []product) {
	if d.outputs == 0 {
		return nil
	}
	further := func(at cuda.Ptr, parts int) cuda.Ptr { return at.Add(4 * parts * w.size) }
	plain := p
	plain.A1 = 0
	plain.B1 = 0
	plain.O1 = 0
	plain.X0 = 0
	plain.X1 = 0
	if d.sense.b != 0 {
		q := plain
		q.A0 = d.sense.b
		q.B0 = d.sense.a
		q.O0 = further(p.O0, d.parts)
		q.Depth, q.Split = int32(d.outputs)*p.Depth, int32(d.outputs)*p.Split
		more = append(more, q)
	}
	if d.sense.adds != 0 {
		q := plain
		q.A0 = d.o.V
		q.B0 = d.sense.adds
		q.O0 = further(p.O1, d.parts)
		more = append(more, q)
	}
	for _, x := range []struct {
		q, grad cuda.Ptr
		width   int
	}{{d.sense.seen.weights, p.O1, d.layer.weights()}, {d.sense.seen.biases, p.X1, d.layer.features()}} {
		if x.q != 0 {
			g.shared = append(g.shared, many[sharedGradient]{One: sharedGradient{Q: x.q, H: d.sense.h, S: d.sense.c, Grad: further(x.grad, 2*d.parts),
				Rows: int32(rows), Width: int32(x.width), K: int32(d.outputs), Results: w.results}})
		}
	}
	return more
}

func (g *convGradients) runShared(w *weights) error {
	for i := range g.shared {
		s := &g.shared[i]
		if err := launch(w, w.kernels.shared, cuda.Grid{X: tiles(int(s.One.Width), sharedThreads)}, sharedThreads, s); err != nil {
			return err
		}
	}
	return nil
}
