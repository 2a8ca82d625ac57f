package gpu

import (
	"unsafe"
	"utvi/internal/compute/kernel"
	"utvi/internal/cuda"
	"utvi/nn"
)

// A chain is a plain small network: dense layers with leaky ReLUs between them, perhaps a
// learned noise at its end. Its kernels know that it is one (kernels/chain.h), so a step
// waits for fewer things than with the kernel fused. Training it needs the Normal
// likelihood.

// mostLinks bounds the dense layers of a chain.
const mostLinks = 6

// chainOverhead is what the kernel of a chain declares of shared memory itself, in bytes.
const chainOverhead = 4 << 10

// withChains says whether chains have kernels of their own; tests compare both ways.
var withChains = true

// chainKernels are those of chains, for compute capability 9.0 and later.
type chainKernels struct {
	three, exact      cuda.Kernel // functions by three points, and in closed form
	gradients, update cuda.Kernel
}

// The structures of kernels/chain.cu, field by field.
type link struct {
	W, S, B, BS, M, V, G, H   cuda.Ptr
	In, Out, Pitch            int32
	AtW, AtS, AtB, AtBS       int32
	InAt, OutAt, DifferenceAt int32
	A                         float32
	Three                     [6]float32
	_                         int32
}

type chainArgs struct {
	Links                    [mostLinks]link
	Count, Rows, Per, Turns  int32
	Back, Room, Targets, AtY int32
	Control, Results, Turn   cuda.Ptr
	Index, TM, TV, TY        cuda.Ptr
	Raw, Tape, OM, OV        cuda.Ptr
	NLL, Floored             cuda.Ptr
	P, Scale                 float64
	Thin, Scratch, Broad     int32
	Groups, Signals, Span    int32
}

const sizeChain, sizeTurn = 136*mostLinks + 176, 8

// chainScratch is how many numbers the warps of a block tell one another in a product.
const chainScratch = rowThreads / 32 * 3 * 64

// inputPitch and outputPitch say how far rows lie apart in shared memory: those of a layer's
// inputs, and those of its outputs and of the gradients by them.
func inputPitch(n int) int {
	if n <= mostThin {
		return n
	}
	return (n+23)/32*32 + 8
}

func outputPitch(n int) int {
	if n <= mostThin {
		return n
	}
	return (n+27)/32*32 + 4
}

var _ = [1]struct{}{}[unsafe.Sizeof(chainArgs{})-sizeChain]

// A chain is one launch: forward, or forward, score and backward.
type chain struct {
	kernel cuda.Kernel
	args   many[chainArgs]
	score  int             // number of the operation behind which a launch goes back
	slopes *chainGradients // in training

	planes, scales, pieces cuda.Ptr // of a network that is one of many: see layPlanes
	broad                  int      // the tensor of its broad layer's weights
	paired                 bool     // the signals of two groups of rows fit into shared memory
}

// leaky reports whether a layer is a leaky ReLU by three points, the first of them at the
// mean, or in closed form.
func (l *layer) leaky() bool {
	if l.kind != opApply || l.formula != nil || l.f.Op != int32(kernel.OpLeakyReLU) || l.from == nn.Fixed {
		return false
	}
	return l.f.Rule == closedForm && l.f.Points == 0 || l.f.Rule == byPoints && len(l.nodes) == 6 && l.nodes[0] == 0
}

// chainable reports whether the layers of a small network are a chain.
func (w *weights) chainable() bool {
	p := w.plan
	n := len(p.layers)
	if n > 0 && p.layers[n-1].kind == opNoise {
		n--
	}
	if w.kernels.chains == nil || !withChains || n%2 == 0 || n < 3 || n/2+1 > mostLinks {
		return false
	}
	for i := range p.layers {
		l := &p.layers[i]
		if l.input != i || l.sense || l.cov || l.to == nn.Fixed {
			return false
		}
		switch {
		case i == n:
		case i%2 == 1:
			if !l.leaky() || l.f.Rule != p.layers[1].f.Rule {
				return false
			}
		case !w.links(l, i == 0, i == n-1):
			return false
		}
	}
	return true
}

// links reports whether a dense layer can be part of a chain: all its weights are random,
// the last one has few outputs, the first one may have few inputs, and the rows of the
// others are multiples of 16 bytes long.
func (w *weights) links(l *layer, first, last bool) bool {
	if l.kind != opDense || len(l.tensors) != 2 {
		return false
	}
	for _, t := range l.tensors {
		if !w.plan.params.Tensors[t].Random {
			return false
		}
	}
	if last {
		return l.out <= mostThin && l.in > mostThin
	}
	return l.out > mostThin && l.out%4 == 0 && (first && l.in <= mostThin || l.in > mostThin && l.in%4 == 0 && w.mean[l.tensors[0]]%4 == 0)
}

// chain lays out the launch of a chain, given its operations; nil: it does not fit into
// shared memory, or the network is no chain.
func (w *weights) chain(ops []op) *chain {
	if !w.fused || !w.chainable() {
		return nil
	}
	c := &chain{kernel: w.kernels.chains.three, score: len(ops)}
	a := &c.args.One
	a.Control = w.control
	var next, signals int
	take := func(at *int, n int) int32 { *at += (n + 3) / 4 * 4; return int32(*at - (n+3)/4*4) }
	for i := range ops {
		o := &ops[i]
		in, out := int(o.In), int(o.Out)
		switch o.Kind {
		case opInput:
			a.Index = o.Index
			a.TM = o.TM
			a.TV = o.TV
			a.TY = o.TY
			a.Room = o.Room
			a.Targets = o.Targets
			a.AtY = take(&signals, rowsPerBlock*int(o.Targets))
		case opDense:
			if a.Count == 0 && a.TM == 0 { // no batch is gathered
				a.TM, a.TV = o.M, o.V
			}
			pitch := out
			if min(in, out) > mostThin {
				pitch = fusedPitch(in, out)
				a.Broad++
			}
			l := link{W: o.W, S: o.S, B: o.B, BS: o.BS, In: o.In, Out: o.Out, Pitch: int32(pitch),
				AtW: take(&next, in*pitch), AtS: take(&next, in*pitch), AtB: take(&next, out), AtBS: take(&next, out),
				InAt: take(&signals, 2*rowsPerBlock*inputPitch(in)), OutAt: take(&signals, 2*rowsPerBlock*outputPitch(out))}
			l.DifferenceAt = l.OutAt
			if out <= mostThin { // else a gradient replaces its output
				l.DifferenceAt = take(&signals, 4*rowsPerBlock*out)
			}
			a.Links[a.Count] = l
			a.Count++
			a.OM, a.OV = o.OM, o.OV
		case opApply:
			l := &a.Links[a.Count-1]
			l.A, l.Three = o.F.A, o.F.Three
			if o.F.Rule == closedForm {
				c.kernel = w.kernels.chains.exact
			}
		case opNoise:
			a.Raw = o.Raw
			a.OM = o.OM
			a.OV = o.OV
		case opScore:
			c.score = i
			a.NLL = o.NLL
			a.Floored = o.Floored
			a.P = o.P
		}
	}
	a.Scratch = take(&next, chainScratch)
	a.Signals, a.Span = int32(next), int32(signals)
	if a.Links[0].In <= mostThin {
		a.Thin = 1
	}
	room := (w.device.Shared-chainOverhead)/4 - next
	c.paired = 2*signals <= room
	if signals > room {
		return nil
	}
	return c
}

// runChain queues the launch of a chain up to an operation.
func (w *weights) runChain(c *chain, rows, last int) error {
	a := &c.args.One
	a.Rows, a.Back = int32(rows), 0
	if last > c.score {
		a.Back = 1
		if args, ok := w.crowd(c); ok {
			return w.runCrowd(c, args, rows)
		}
	}
	a.Per, a.Turns = w.share(rows)
	a.Groups = 1
	if c.paired && a.Turns > 1 {
		a.Groups, a.Turns = 2, (a.Turns+1)/2
	}
	return launchBehind(w, c.kernel, cuda.Grid{X: tiles(rows, int(a.Per*a.Turns*a.Groups))}, rowThreads, &c.args)
}
