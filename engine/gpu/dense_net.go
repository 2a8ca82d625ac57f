package gpu

import (
	"unsafe"

	"utvi/internal/compute/kernel"
	"utvi/internal/cuda"
	"utvi/nn"
)

// A dense net is a plain small network: dense layers with leaky ReLUs between them, perhaps a
// learned noise at its end. Its kernels know that it is one (kernels/chain.h), so a step
// waits for fewer things than with the kernel fused. Training it needs the Normal
// likelihood.

// denseNetPath runs dense nets: the pass is one launch, and the gradients are part of the update.
type denseNetPath struct{ small }

// mostDenseLayers bounds the dense layers of a dense net.
const mostDenseLayers = 6

// denseNetOverhead is what the kernel of a dense net declares of shared memory itself, in bytes.
const denseNetOverhead = 4 << 10

// withDenseNets says whether dense nets have kernels of their own; tests compare both ways.
var withDenseNets = true

// denseNetKernels are those of dense nets, for compute capability 9.0 and later.
type denseNetKernels struct {
	three, exact      cuda.Kernel // functions by three points, and in closed form
	gradients, update cuda.Kernel
}

// The structures of kernels/chain.cu, field by field.
type denseNetLayer struct {
	W, S, B, BS, M, V, G, H   cuda.Ptr
	In, Out, Pitch            int32
	AtW, AtS, AtB, AtBS       int32
	InAt, OutAt, DifferenceAt int32
	A                         float32
	Three                     [6]float32
	_                         int32
}

type denseNetArgs struct {
	Layers                   [mostDenseLayers]denseNetLayer
	Count, Rows, Per, Turns  int32
	Back, Room, Targets, AtY int32
	Control, Results, Turn   cuda.Ptr
	Index, X, V, Y           cuda.Ptr
	Raw, Tape, OM, OV        cuda.Ptr
	NLL, Floored             cuda.Ptr
	P, Scale                 float64
	Thin, Scratch, Broad     int32
	Groups, Signals, Span    int32
}

const sizeDenseNet, sizeTurn = 136*mostDenseLayers + 176, 8

var _ = [1]struct{}{}[unsafe.Sizeof(denseNetArgs{})-sizeDenseNet]

// accepts implements path.
func (denseNetPath) accepts(w *weights, u use) bool {
	if u.train && !u.normal || !w.isSmall(u.train) || !w.isDenseNet() {
		return false
	}
	_, ok := w.denseNetLayout(u.targets)
	return ok
}

// isDenseNet reports whether the layers of a small network are a dense net.
func (w *weights) isDenseNet() bool {
	p := w.plan
	n := len(p.layers)
	if n > 0 && p.layers[n-1].kind == opNoise {
		n--
	}
	if w.kernels.denseNets == nil || !withDenseNets || n%2 == 0 || n < 3 || n/2+1 > mostDenseLayers {
		return false
	}
	for i := range p.layers {
		if !p.layers[i].plain(i) {
			return false
		}
	}
	for i := range n {
		l := &p.layers[i]
		fits := w.inDenseNet(l, i == 0, i == n-1)
		if i%2 == 1 {
			fits = l.leaky() && l.f.Rule == p.layers[1].f.Rule
		}
		if !fits {
			return false
		}
	}
	return true
}

// plain reports whether layer i reads the one before it, alone, and passes on moments without
// correlations.
func (l *layer) plain(i int) bool {
	return l.input == i && !l.sense && !l.cov && l.to != nn.Fixed
}

// leaky reports whether a layer is a leaky ReLU by three points, the first of them at the
// mean, or in closed form.
func (l *layer) leaky() bool {
	if l.kind != opApply || l.formula != nil || l.f.Op != int32(kernel.OpLeakyReLU) || l.from == nn.Fixed {
		return false
	}
	return l.f.Rule == closedForm && l.f.Points == 0 || l.f.Rule == byPoints && len(l.nodes) == 6 && l.nodes[0] == 0
}

// inDenseNet reports whether a dense layer can be part of a dense net: all its weights are
// random, the last one has few outputs, the first one may have few inputs, and the rows of the
// others are multiples of 16 bytes long.
func (w *weights) inDenseNet(l *layer, first, last bool) bool {
	if l.kind != opDense || !w.random(l) {
		return false
	}
	if last {
		return l.out <= mostThin && l.in > mostThin
	}
	return l.out > mostThin && l.out%4 == 0 && (first && l.in <= mostThin || l.in > mostThin && l.in%4 == 0 && w.mean[l.tensors[0]]%4 == 0)
}

// random reports whether a layer has weights and a bias, and all are random.
func (w *weights) random(l *layer) bool {
	if len(l.tensors) != 2 {
		return false
	}
	for _, t := range l.tensors {
		if !w.plan.params.Tensors[t].Random {
			return false
		}
	}
	return true
}

// denseNetScratch is how many numbers the warps of a block tell one another in a product.
const denseNetScratch = rowThreads / 32 * 3 * 64

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

// A sharedRoom hands out places in shared memory, in numbers, at multiples of sixteen bytes.
type sharedRoom int

func (r *sharedRoom) take(n int) int32 {
	at := *r
	*r += sharedRoom((n + 3) / 4 * 4)
	return int32(at)
}

// denseNetLayout lays out the shared memory of a block: weights, then the signals of a group
// of rows, with so many targets each. False: it has too little.
func (w *weights) denseNetLayout(targets int) (a denseNetArgs, fits bool) {
	var weights, signals sharedRoom
	a.AtY = signals.take(rowsPerBlock * targets)
	for i := range w.plan.layers {
		l := &w.plan.layers[i]
		if l.kind != opDense {
			continue
		}
		pitch := l.out
		if min(l.in, l.out) > mostThin {
			pitch = fusedPitch(l.in, l.out)
			a.Broad++
		}
		x := &a.Layers[a.Count]
		a.Count++
		x.In = int32(l.in)
		x.Out = int32(l.out)
		x.Pitch = int32(pitch)
		x.AtW = weights.take(l.in * pitch)
		x.AtS = weights.take(l.in * pitch)
		x.AtB = weights.take(l.out)
		x.AtBS = weights.take(l.out)
		x.InAt = signals.take(2 * rowsPerBlock * inputPitch(l.in))
		x.OutAt = signals.take(2 * rowsPerBlock * outputPitch(l.out))
		x.DifferenceAt = x.OutAt // a gradient replaces its output
		if l.out <= mostThin {
			x.DifferenceAt = signals.take(4 * rowsPerBlock * l.out)
		}
	}
	a.Scratch = weights.take(denseNetScratch)
	a.Signals = int32(weights)
	a.Span = int32(signals)
	if a.Layers[0].In <= mostThin {
		a.Thin = 1
	}
	return a, a.Span <= w.denseNetRoom(&a)
}

// denseNetRoom is how many numbers of shared memory are left for signals.
func (w *weights) denseNetRoom(a *denseNetArgs) int32 {
	return int32((w.device.Shared-denseNetOverhead)/4) - a.Signals
}

// A denseNetPass is one launch: forward, or forward, score and backward.
type denseNetPass struct {
	w      *weights
	kernel cuda.Kernel
	args   many[denseNetArgs]
	paired bool // the signals of two groups of rows fit into shared memory
}

// pass implements path.
func (denseNetPath) pass(w *weights, b *launches) pass { return newDenseNetPass(w, b.ops) }

// newDenseNetPass takes the addresses of a dense net's launch from its operations.
func newDenseNetPass(w *weights, ops []op) *denseNetPass {
	targets := 0
	if ops[0].Kind == opInput {
		targets = int(ops[0].Count)
	}
	c := &denseNetPass{w: w, kernel: w.kernels.denseNets.three}
	c.args.One, _ = w.denseNetLayout(targets)
	a := &c.args.One
	c.paired = 2*a.Span <= w.denseNetRoom(a)
	a.Control = w.control
	layers := a.Layers[:0] // those that were met
	for i := range ops {
		o := &ops[i]
		switch o.Kind {
		case opInput:
			a.Index = o.Index
			a.X, a.V, a.Y = o.gatheredFrom()
			a.Room = o.Room
			a.Targets = o.Count
		case opDense:
			if len(layers) == 0 && a.X == 0 { // no batch is gathered
				a.X = o.M
				a.V = o.V
			}
			layers = a.Layers[:len(layers)+1]
			layers[len(layers)-1].reads(o)
			a.writes(o)
		case opApply:
			l := &layers[len(layers)-1]
			l.A = o.F.A
			l.Three = o.F.Three
			if o.F.Rule == closedForm {
				c.kernel = w.kernels.denseNets.exact
			}
		case opNoise:
			a.Raw = o.Raw
			a.writes(o)
		case opScore:
			a.NLL = o.NLL
			a.Floored = o.Floored
			a.P = o.P
		}
	}
	return c
}

// reads takes the weights of a dense layer.
func (l *denseNetLayer) reads(o *op) {
	l.W = o.W
	l.S = o.S
	l.B = o.B
	l.BS = o.BS
}

// writes says that the outputs are those of an operation.
func (a *denseNetArgs) writes(o *op) {
	a.OM = o.OM
	a.OV = o.OV
}

func (c *denseNetPass) forward(rows int) error { return c.run(rows, 0) }

func (c *denseNetPass) whole(rows int) error { return c.run(rows, 1) }

// run queues the launch; back is 1 if it goes back from the score.
func (c *denseNetPass) run(rows int, back int32) error {
	a := &c.args.One
	a.Rows = int32(rows)
	a.Back = back
	a.Per, a.Turns = c.w.share(rows)
	a.Groups = 1
	if c.paired && a.Turns > 1 {
		a.Groups = 2
		a.Turns = (a.Turns + 1) / 2
	}
	return launchBehind(c.w, c.kernel, cuda.Grid{X: tiles(rows, int(a.Per*a.Turns*a.Groups))}, rowThreads, &c.args)
}
