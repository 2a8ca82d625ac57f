package gpu

import (
	"slices"
	"unsafe"

	"utvi/internal/cuda"
)

// Where many networks train side by side, dense nets with one broad layer and one output have kernels of
// their own (kernels/crowd_pass.h): with many networks it matters how many instructions a row
// takes, and not when the first row is done. A training that is one of many by its job always
// runs them, also if no other happens to run, and others never do: so its bits depend on its
// job, and not on time or on those beside it.
//
// None of these kernels starts while the one before it ends: its blocks would wait on multiprocessors
// where other runs of the group have work.

// manyFrom is how many trainings a job must name for its network to be one of many.
const manyFrom = 8

// A block of the pass has passThreads threads. manyDenseRows is how many rows it takes at a time,
// manyDenseMost the most inputs and outputs of the broad layer, and manyDensePlanes how many bytes its
// weights take in shared memory, with what aligns them.
const passThreads, manyDenseRows, manyDenseMost, manyDensePlanes = 256, 128, 128, 6*2*128*128 + 1024

// manyDensePlace is how many numbers a block of the pass keeps in shared memory beside the broad
// layer, manyDenseInput how many more for each input.
const manyDensePlace, manyDenseInput = 3952, 6 * 128

// What follows the pass is the work of a cluster of learnBlocks blocks with learnThreads threads and
// learnShared bytes of shared memory each.
const learnBlocks, learnThreads, learnShared = 2, 256, 218928

// manyDenseKernels are those of dense nets beside many others. The pass of networks with one input that has no
// variance is a kernel of its own, with fewer instructions and the same bits.
type manyDenseKernels struct {
	any, one manyDensePass
	learn    cuda.Kernel
}

// A manyDensePass is a pass by three points and in closed form.
type manyDensePass struct{ three, exact cuda.Kernel }

// The structures of kernels/crowd_rows.h, field by field.
type places struct{ Mean, Rho, Bias, BiasRho int32 }

type manyDenseArgs struct {
	Net             denseNetArgs
	Grad            cuda.Ptr
	Size            int64
	First, Last     places
	Planes, Scales  cuda.Ptr
	Each, Stretches int32
}

var _ = [1]struct{}{}[unsafe.Sizeof(manyDenseArgs{})-sizeDenseNet-72]

// A manyDenseLearn is CrowdLearn of kernels/crowd_sums.h.
type manyDenseLearn struct {
	Update                             denseNetUpdate
	Planes, Scales, Pieces             cuda.Ptr
	In, Out, Broad, Noise, LastBias, _ int32
}

var _ = [1]struct{}{}[unsafe.Sizeof(manyDenseLearn{})-unsafe.Sizeof(denseNetUpdate{})-48]

// learnPieces is how many pieces of 32 numbers beside the broad layer a warp has at most.
const learnPieces = 6

// dealSmall deals the pieces of all chunks but those of the broad layer's weights to the warps of a cluster, in turn; those of its
// bias to the last warps of the block that has their gradients.
func dealSmall(chunks []chunk, broad, weights int) []int32 {
	const warps = learnThreads / 32
	dealt := make([]int32, 0, learnBlocks*warps*learnPieces)
	hands := make([][]int32, learnBlocks*warps)
	turn := 0
	for i, c := range slices.Delete(slices.Clone(chunks), broad, broad+weights) {
		for k := range tiles(int(c.Hi-c.Lo), 32) {
			to := turn%learnBlocks*warps + turn/learnBlocks%warps
			if i == broad {
				to = k/2*warps + warps - 1 - k%2
			} else {
				turn++
			}
			hands[to] = append(hands[to], int32(i+16*k))
		}
	}
	for _, hand := range hands {
		dealt = append(dealt, hand...)
		for range learnPieces - len(hand) {
			dealt = append(dealt, -1)
		}
	}
	return dealt
}

// manyDensePath runs dense nets that are one of many.
type manyDensePath struct{ denseNetPath }

// accepts implements path.
func (p manyDensePath) accepts(w *weights, u use) bool {
	return u.beside >= manyFrom && u.targets == 1 && w.kernels.manyDense != nil && p.denseNetPath.accepts(w, u) && w.isManyDense()
}

// isManyDense reports whether a dense net has one broad layer and one output, its functions are
// leaky ReLUs that the kernels know, and its weights fit into shared memory.
func (w *weights) isManyDense() bool {
	layers := w.plan.layers
	if len(layers) != 5 && len(layers) != 6 { // three dense layers, perhaps with noise behind them
		return false
	}
	first := &layers[0]
	broad := &layers[2]
	fits := func(n int) bool { return n%32 == 0 && n <= manyDenseMost }
	if first.in > mostThin || !fits(broad.in) || !fits(broad.out) || layers[4].out != 1 {
		return false
	}
	for _, f := range []*layer{&layers[1], &layers[3]} {
		if f.f.A >= 1 || f.f.Rule != closedForm && !symmetric([6]float32(f.nodes)) {
			return false
		}
	}
	return manyDensePlanes+4*(manyDensePlace+manyDenseInput*first.in) <= w.device.Shared-denseNetOverhead
}

// stretches cuts the rows of a batch into stretches of so many units. Each leaves two parts of
// the gradients of thin layers, one for either half of its units.
func stretches(rows int) (each, count int) {
	units := tiles(rows, manyDenseRows)
	each = tiles(units, denseNetParts)
	return each, tiles(units, each)
}

// symmetric reports whether three points lie at the mean and as far on either side of it, and
// none has a negative weight.
func symmetric(three [6]float32) bool {
	return three[0] == 0 && three[1] == -three[2] && three[4] == three[5] && three[3] >= 0 && three[4] > 0
}

// A manyDenseStep is a step of two launches: the pass, which leaves the gradients of thin layers
// and the signals of the broad one, and all that follows.
type manyDenseStep struct {
	*denseNetStep
	call  many[manyDenseArgs]
	learn many[manyDenseLearn]
}

// step implements path.
func (manyDensePath) step(t *trainer, l *stepList) step {
	w := t.weights
	each, count := stretches(t.Batch)
	s := &manyDenseStep{denseNetStep: newDenseNetStep(t, l, partCount{thin: 2 * count, broad: 1, noise: 2 * count})}
	g := &s.grads.One
	a := &s.call.One
	a.Grad = g.Grad
	a.Size = g.Size
	a.First = g.Layers[0].places()
	a.Last = g.Layers[2].places()
	a.Each = int32(each)
	a.Stretches = int32(count)
	// The signals of the broad layer lie in halves: four operands in cells of 32 × 32 numbers, and
	// a scale for each and 64 rows.
	units := tiles(t.Batch, manyDenseRows)
	a.Planes = w.alloc(units*(manyDenseRows/32)*4*4, 4096)
	a.Scales = w.floats(units * 2 * 4)
	in, out := g.Layers[1].In, g.Layers[1].Out
	broad := w.firstChunk(l.grads.dense[1].layer.tensors[0])
	pieces := place(w.memory, dealSmall(w.chunks, int(broad), int(in*out)/256), 4)
	s.learn.One = manyDenseLearn{Update: s.adam.One, Planes: a.Planes, Scales: a.Scales, Pieces: pieces, In: in, Out: out,
		Broad: broad, Noise: -1, LastBias: g.Layers[2].BiasRho}
	if g.Noises > 0 { // it is the last of the network
		s.learn.One.Noise = int32(len(w.chunks)) - 1 - in*out/256
	}
	return s
}

func (g *layerGradient) places() places { return places{g.Mean, g.Rho, g.Bias, g.BiasRho} }

// gradients queues the pass.
func (s *manyDenseStep) gradients() error {
	w := s.w
	a := &s.call.One
	net := &s.passes.args.One
	net.Rows = int32(s.rows)
	net.Back = 1
	a.Net = *net
	spread := spreading{unit: 1, groups: int(a.Stretches), most: w.device.Processors * 3 / 8} // the others work for other runs
	k := w.kernels.manyDense
	pass := pick(net.Layers[0].In == 1 && net.V == 0, k.one, k.any)
	kernel := pick(s.passes.kernel == w.kernels.denseNets.exact, pass.exact, pass.three)
	if err := launch(w, kernel, cuda.Grid{X: spread.blocks(1)}, passThreads, &s.call); err != nil {
		return err
	}
	w.spreadLast(spread)
	return nil
}

// update queues what follows: the gradients that the pass did not leave, and AdamW.
func (s *manyDenseStep) update() error {
	return launch(s.w, s.w.kernels.manyDense.learn.Together(learnBlocks), cuda.Grid{X: learnBlocks}, learnThreads, &s.learn)
}
