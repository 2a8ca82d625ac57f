package gpu

import (
	"math/bits"
	"unsafe"

	"utvi/internal/cuda"
	"utvi/nn"
)

// A conv net is a small network of images with one broad layer: a convolution, a function, a
// dense layer, a function, a dense layer with few outputs, and layers that act on these. The
// blocks of a cluster share the weights of the broad layer (kernels/quartet.h), which fit into
// the shared memory of none. Training it needs the Normal likelihood.

// convNetPath runs conv nets: the pass is one launch, and the gradients are part of the update.
type convNetPath struct{ small }

// A cluster has four blocks of convNetThreads threads, or two; each has convNetEach rows at a
// time. Two blocks of four fit into a multiprocessor, and hide one another's waiting; two fill
// a multiprocessor each, and leave none idle. Both give the same bits.
const convNetThreads, convNetEach, convNetBlocks, pairBlocks = 288, 2, 4, 2

// convNetOverhead is what the kernels declare of shared memory themselves, in bytes.
const convNetOverhead = 5 << 10

// mostUnits bounds the layers behind the last dense layer.
const mostUnits = 6

// withConvNets says whether conv nets have kernels of their own, withPairs whether clusters of
// two blocks run; tests compare both ways.
var withConvNets, withPairs = true, true

type convNetKernels struct {
	four, two convNetPasses // clusters of so many blocks
	gradients cuda.Kernel
}

type convNetPasses struct {
	three, exact, any cuda.Kernel // functions by three points, in closed form, by any rule
}

// The structures of kernels/quartet.h, field by field.
type unitArgs struct {
	Kind         int32
	At           [3]int32
	F            function
	Raw, B, Tape cuda.Ptr
	N            [3]float64
}

type sharedLayout struct {
	Team, All, Own, Bits int32
	W, S, Rows, Lines    int32
	Thin, Units          int32
	Sums, Back, G, H     int32
	ZM, ZV, Bias         int32
	Images, Y, Conv      int32
}

type convNetArgs struct {
	Units                       [mostUnits]unitArgs
	Shared                      sharedLayout
	Inner, Outer                function
	Image                       image
	CW, CS, CB, CBS             cuda.Ptr
	W, S, B, BS                 cuda.Ptr
	TW, TS, TB, TBS             cuda.Ptr
	M, V, G, H                  cuda.Ptr
	LM, LV, LG, LH              cuda.Ptr
	Pixels, In, Out, Last       int32
	Count, Rows, Back, _        int32
	Room, Targets, Width, _     int32
	Cells, Features, High, Wide int32
	Control, Results, Turn      cuda.Ptr
	Index, X, Y                 cuda.Ptr
	Parts, OM, OV, NLL, Floored cuda.Ptr
	P, Scale                    float64
}

const sizeConvNet = 128*mostUnits + 584

var _ = [1]struct{}{}[unsafe.Sizeof(convNetArgs{})-sizeConvNet]

// accepts implements path.
func (convNetPath) accepts(w *weights, u use) bool {
	return (!u.train || u.normal) && w.isSmall(u.train) && w.isConvNet()
}

// foldedRows implements folder.
func (convNetPath) foldedRows(*weights, int) int { return convNetEach }

// isConvNet reports whether the layers of a small network are a conv net.
func (w *weights) isConvNet() bool {
	all := w.plan.layers
	if w.kernels.convNets == nil || !withConvNets || len(all) < 5 || len(all) > 5+mostUnits || w.plan.form != nn.Fixed {
		return false
	}
	conditional := 0
	for i := range all {
		l := &all[i]
		if !l.plain(i) || l.needs || !w.inConvNet(l, i) {
			return false
		}
		if l.kind == opConditional {
			conditional++
		}
	}
	return conditional <= 1 && all[4].out <= mostThin && w.sharesWell(&all[2]) && w.clustered(convNetBlocks)
}

// sharesWell reports whether blocks can share a broad layer: its outputs are a power of two, and
// its rows lie at multiples of 16 bytes.
func (w *weights) sharesWell(l *layer) bool {
	return l.in%4 == 0 && l.out >= 32 && l.out <= 128 && bits.OnesCount(uint(l.out)) == 1 && w.mean[l.tensors[0]]%4 == 0
}

// inConvNet reports whether a layer can be number i of a conv net.
func (w *weights) inConvNet(l *layer, i int) bool {
	switch {
	case i == 0:
		return l.folds() && w.random(l) && l.features()%4 == 0
	case i == 2 || i == 4:
		return l.kind == opDense && w.random(l)
	case l.kind == opApply:
		return l.formula == nil && l.f.Rule != learned && (l.f.Rule != closedForm || l.leaky())
	case l.kind == opConditional:
		return l.count == 0
	}
	return i >= 5 && (l.kind == opScale || l.kind == opNoise || l.kind == opMultiply)
}

// bordered is the size of an image with all cells that a window covers, and no others.
func (g *image) bordered() (high, wide int) {
	return int((g.OH-1)*g.Down + g.KH), int((g.OW-1)*g.Across + g.KW)
}

// sharedLayout lays out the shared memory of a block in a cluster, and returns its bytes.
func (w *weights) sharedLayout(blocks int) (f sharedLayout, bytes int) {
	all := w.plan.layers
	in, out := all[2].in, all[2].out
	last := all[4].out
	image := &all[0].image
	rows := blocks * convNetEach
	own := out / blocks
	weights := all[0].weights() + all[0].features()
	high, wide := image.bordered()
	inputs := 2 * rows * in
	at := 0
	next := func(n int) int32 {
		here := at
		at += n
		return int32(here)
	}
	f = sharedLayout{Team: int32(blocks), All: int32(rows), Own: int32(own), Bits: int32(bits.TrailingZeros(uint(own)))}
	f.W = next(in * own)
	f.S = next(in * own)
	f.Rows = next(max(inputs+2*convNetEach*int(image.OH)*weights, 4*convNetEach*3*in, 16*256))
	f.Lines = f.Rows + int32(inputs)
	f.G = next(rows * own)
	f.H = next(rows * own)
	f.ZM = next(convNetEach * in)
	f.ZV = next(convNetEach * in)
	f.Bias = next(2 * own)
	f.Conv = next(2 * weights)
	f.Images = next(convNetEach * high * wide * int(image.C))
	f.Y = next(convNetEach * mostThin)
	f.Thin = next(2 * (own + 1) * (last | 1))
	f.Units = next((len(all) - 5) * (2 + 4*convNetEach) * last)
	f.Sums = next(4 * convNetEach * 2 * last)
	f.Back = next(rows * 2 * last)
	return f, 4 * at
}

// clustered reports whether the network fits into the shared memory of a cluster.
func (w *weights) clustered(blocks int) bool {
	_, bytes := w.sharedLayout(blocks)
	return bytes <= w.device.Shared-convNetOverhead
}
