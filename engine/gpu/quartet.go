package gpu

import (
	"math/bits"
	"unsafe"

	"utvi/internal/cuda"
	"utvi/nn"
)

// A quartet is a network of images with one broad layer: a convolution, a function, a dense
// layer, a function, a dense layer with few outputs, and layers that act on these. The blocks
// of a cluster share the weights of the broad layer (kernels/quartet.h), which fit into the
// shared memory of none. Training it needs the Normal likelihood.

// A cluster has four blocks of quartetThreads threads, or two; each has quartetEach rows at a
// time. Two blocks of four fit into a multiprocessor, and hide one another's waiting; two fill
// a multiprocessor each, and leave none idle. Both give the same bits.
const quartetThreads, quartetEach, quartetBlocks, pairBlocks = 288, 2, 4, 2

// quartetOverhead is what the kernels declare of shared memory themselves, in bytes.
const quartetOverhead = 5 << 10

// mostUnits bounds the layers behind the last dense layer.
const mostUnits = 6

// withQuartets says whether quartets have kernels of their own, withPairs whether clusters of
// two blocks run; tests compare both ways.
var withQuartets, withPairs = true, true

type quartetKernels struct {
	four, two quartetPasses // clusters of so many blocks
	gradients cuda.Kernel
}

type quartetPasses struct {
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

type quartetFloor struct {
	Team, All, Own, Bits int32
	W, S, Rows, Lines    int32
	Thin, Units          int32
	Sums, Back, G, H     int32
	ZM, ZV, Bias         int32
	Images, Y, Conv      int32
}

type quartetArgs struct {
	Units                       [mostUnits]unitArgs
	Floor                       quartetFloor
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

const sizeQuartet = 128*mostUnits + 584

var _ = [1]struct{}{}[unsafe.Sizeof(quartetArgs{})-sizeQuartet]

// A quartet is one launch: forward, or forward, score and backward.
type quartet struct {
	four, two cuda.Kernel
	args      many[quartetArgs]
	score     int // number of the operation behind which a launch goes back
}

// quartetable reports whether the layers of a small network are a quartet.
func (w *weights) quartetable() bool {
	all := w.plan.layers
	if w.kernels.quartets == nil || !withQuartets || len(all) < 5 || len(all) > 5+mostUnits || w.plan.form != nn.Fixed {
		return false
	}
	counts := 0
	for i := range all {
		l := &all[i]
		if l.input != i || l.sense || l.cov || l.needs || l.to == nn.Fixed {
			return false
		}
		switch {
		case i == 0:
			if !l.folds() || !w.random(l) || l.features()%4 != 0 {
				return false
			}
		case i == 2 || i == 4:
			if l.kind != opDense || !w.random(l) {
				return false
			}
		case l.kind == opApply:
			if l.formula != nil || l.f.Rule == learned || l.f.Rule == closedForm && !l.leaky() {
				return false
			}
		case l.kind == opConditional:
			if counts++; counts > 1 || l.count > 0 {
				return false
			}
		case i < 5 || l.kind != opScale && l.kind != opNoise && l.kind != opMultiply:
			return false
		}
	}
	in := all[2].in
	out := all[2].out
	last := all[4].out
	return in%4 == 0 && out >= 32 && out <= 128 && bits.OnesCount(uint(out)) == 1 && last <= mostThin && w.mean[all[2].tensors[0]]%4 == 0 &&
		w.clustered(quartetBlocks)
}

// bordered is the size of an image with all cells that a window covers, and no others.
func (g *image) bordered() (high, wide int) {
	return int((g.OH-1)*g.Down + g.KH), int((g.OW-1)*g.Across + g.KW)
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

// floor lays out the shared memory of a block in a cluster, and returns its bytes.
func (w *weights) floor(blocks int) (f quartetFloor, bytes int) {
	all := w.plan.layers
	in := all[2].in
	out := all[2].out
	last := all[4].out
	rows := blocks * quartetEach
	image := &all[0].image
	own, weights := out/blocks, all[0].weights()+all[0].features()
	high, wide := image.bordered()
	inputs := 2 * rows * in
	f = quartetFloor{Team: int32(blocks), All: int32(rows), Own: int32(own), Bits: int32(bits.TrailingZeros(uint(own)))}
	at := 0
	next := func(n int) int32 {
		here := at
		at += n
		return int32(here)
	}
	f.W, f.S = next(in*own), next(in*own)
	f.Rows = next(max(inputs+2*quartetEach*int(image.OH)*weights, 4*quartetEach*3*in, 16*256))
	f.Lines = f.Rows + int32(inputs)
	f.G, f.H = next(rows*own), next(rows*own)
	f.ZM, f.ZV = next(quartetEach*in), next(quartetEach*in)
	f.Bias, f.Conv = next(2*own), next(2*weights)
	f.Images, f.Y = next(quartetEach*high*wide*int(image.C)), next(quartetEach*mostThin)
	f.Thin = next(2 * (own + 1) * (last | 1))
	f.Units = next((len(all) - 5) * (2 + 4*quartetEach) * last)
	f.Sums, f.Back = next(4*quartetEach*2*last), next(rows*2*last)
	return f, 4 * at
}

// clustered reports whether the network fits into the shared memory of a cluster.
func (w *weights) clustered(blocks int) bool {
	_, bytes := w.floor(blocks)
	return bytes <= w.device.Shared-quartetOverhead
}

// quartet lays out the launch of a quartet, given its operations.
func (w *weights) quartet(ops []op) *quartet {
	k := w.kernels.quartets
	c := &quartet{four: k.four.any, two: k.two.any, score: len(ops)}
	switch first, second := &w.plan.layers[1], &w.plan.layers[3]; {
	case !first.leaky() || !second.leaky() || first.f.Rule != second.f.Rule:
	case first.f.Rule == closedForm:
		c.four, c.two = k.four.exact, k.two.exact
	default:
		c.four, c.two = k.four.three, k.two.three
	}
	a := &c.args.One
	a.Control = w.control
	for i := range ops {
		o := &ops[i]
		switch o.Kind {
		case opInput:
			a.Index = o.Index
			a.X = o.TM
			a.Y = o.TY
			a.Room = o.Room
			a.Targets = o.Targets
		case opConv:
			a.Image, a.Pixels = o.Image, o.In
			if a.X == 0 { // no batch is gathered
				a.X = o.M
			}
			high, wide := a.Image.bordered()
			a.Cells = a.Image.KH * a.Image.KW * a.Image.C
			a.Features = int32(w.plan.layers[0].features())
			a.High = int32(high)
			a.Wide = int32(wide)
			a.CW = o.W
			a.CS = o.S
			a.CB = o.B
			a.CBS = o.BS
		case opDense:
			if a.W == 0 {
				a.W = o.W
				a.S = o.S
				a.B = o.B
				a.BS = o.BS
				a.In = o.In
				a.Out = o.Out
				continue
			}
			a.TW = o.W
			a.TS = o.S
			a.TB = o.B
			a.TBS = o.BS
			a.Last = o.Out
		case opApply:
			switch {
			case a.W == 0:
				a.Inner = o.F
			case a.TW == 0:
				a.Outer = o.F
			default:
				a.unit(o)
			}
		case opScale, opNoise, opMultiply:
			a.unit(o)
		case opConditional:
			u, l := a.unit(o), &w.plan.layers[5+a.Count-1]
			u.At, u.N = [3]int32(l.table), [3]float64(l.points)
		case opScore:
			c.score = i
			a.NLL = o.NLL
			a.Floored = o.Floored
			a.P = o.P
		case opScaleBack, opNoiseBack:
			for j := range a.Units[:a.Count] {
				if u := &a.Units[j]; u.Kind == o.Kind-1 && u.Raw == o.Raw {
					u.Tape = o.Tape
				}
			}
		case opDenseBack:
			if o.W == a.W {
				a.M = o.M
				a.V = o.V
				a.G = o.G
				a.H = o.H
			} else {
				a.LM = o.M
				a.LV = o.V
				a.LG = o.G
				a.LH = o.H
			}
		case opConvGradient:
			a.Parts, a.Width = o.Tape, o.Room
		}
		if i < c.score {
			a.OM, a.OV = o.OM, o.OV
		}
	}
	return c
}

// unit adds a layer behind the last dense layer.
func (a *quartetArgs) unit(o *op) *unitArgs {
	u := &a.Units[a.Count]
	a.Count++
	*u = unitArgs{Kind: o.Kind, F: o.F, Raw: o.Raw, B: o.B}
	return u
}

// runQuartet queues the launch of a quartet up to an operation. Clusters of four leave some
// multiprocessors idle: on an H200, sixty run at once, two on a multiprocessor. So a network
// alone has clusters of two, if the card takes all of its rows at once.
func (w *weights) runQuartet(c *quartet, rows, last int) error {
	a := &c.args.One
	a.Rows, a.Back = int32(rows), 0
	if last > c.score {
		a.Back = 1
	}
	kernel := c.four
	blocks := quartetBlocks
	most := max(1, 2*w.device.Processors*10/11/quartetBlocks)
	if pairs := w.device.Processors / pairBlocks; withPairs && !w.crowded && tiles(rows, pairBlocks*quartetEach) <= pairs && w.clustered(pairBlocks) {
		kernel = c.two
		blocks = pairBlocks
		most = pairs
	}
	floor, bytes := w.floor(blocks)
	a.Floor = floor
	spread := spreading{unit: blocks, groups: tiles(rows, blocks*quartetEach), most: most}
	err := launchBehind(w, kernel.Sharing(bytes).Together(blocks), cuda.Grid{X: spread.blocks(1)}, quartetThreads, &c.args)
	if w.record != nil && err == nil {
		(*w.record)[len(*w.record)-1].spread = spread
	}
	return err
}
