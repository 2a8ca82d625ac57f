package gpu

import (
	"slices"
	"unsafe"

	"utvi/internal/cuda"
)

// Where many networks run side by side, chains with one broad layer and one output have kernels of
// their own (kernels/crowd_pass.h): with many networks it matters how many instructions a row
// takes, and not when the first row is done. A training that is one of many by its job always
// runs them, also if no other happens to run, and others never do: so its bits depend on its
// job, and not on time or on those beside it.
//
// None of these kernels starts while the one before it ends: its blocks would wait on multiprocessors
// where other parties of the crowd have work.

// crowdFrom is how many trainings a job must name for its network to be one of many.
const crowdFrom = 8

// A block of the pass has passThreads threads. crowdRows is how many rows it takes at a time,
// crowdMost the most inputs and outputs of the broad layer, and crowdPlanes how many bytes its
// weights take in shared memory, with what aligns them.
const passThreads, crowdRows, crowdMost, crowdPlanes = 256, 128, 128, 6*2*128*128 + 1024

// crowdPlace is how many numbers a block of the pass keeps in shared memory beside the broad
// layer, crowdInput how many more for each input.
const crowdPlace, crowdInput = 3952, 6 * 128

// What follows the pass is the work of a cluster of learnBlocks blocks with learnThreads threads and
// learnShared bytes of shared memory each.
const learnBlocks, learnThreads, learnShared = 2, 256, 218928

// crowdKernels are those of chains beside others. The pass of networks with one input that has no
// variance is a kernel of its own, with fewer instructions and the same bits.
type crowdKernels struct {
	any, one crowdPass
	learn    cuda.Kernel
}

// A crowdPass is a pass by three points and in closed form.
type crowdPass struct{ three, exact cuda.Kernel }

// The structures of kernels/crowd_rows.h, field by field.
type places struct{ Mean, Rho, Bias, BiasRho int32 }

type crowdArgs struct {
	Chain           chainArgs
	Grad            cuda.Ptr
	Size            int64
	First, Last     places
	Planes, Scales  cuda.Ptr
	Each, Stretches int32
}

var _ = [1]struct{}{}[unsafe.Sizeof(crowdArgs{})-sizeChain-72]

// A crowdLearn is CrowdLearn of kernels/crowd_sums.h.
type crowdLearn struct {
	Update                             chainUpdate
	Planes, Scales, Pieces             cuda.Ptr
	In, Out, Broad, Noise, LastBias, _ int32
}

var _ = [1]struct{}{}[unsafe.Sizeof(crowdLearn{})-unsafe.Sizeof(chainUpdate{})-48]

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

// crowd lays out the launch of a chain that is one of many; false: it has no such launch.
func (w *weights) crowd(c *chain) (args many[crowdArgs], ok bool) {
	a := c.args.One
	fits := func(n int32) bool { return n%32 == 0 && n <= crowdMost }
	if !w.counted || w.kernels.crowds == nil || a.Count != 3 || a.Links[0].In > mostThin || !fits(a.Links[1].In) || !fits(a.Links[1].Out) || a.Links[2].Out != 1 || a.Targets != 1 {
		return args, false
	}
	for _, l := range a.Links[:2] {
		if l.A >= 1 || c.kernel == w.kernels.chains.three && !symmetric(l.Three) {
			return args, false
		}
	}
	args.One.Chain = a
	return args, crowdPlanes+4*(crowdPlace+crowdInput*int(a.Links[0].In)) <= w.device.Shared-chainOverhead
}

// stretches cuts the rows of a batch into stretches of so many units. Each leaves two parts of
// the gradients of thin layers, one for either half of its units.
func stretches(rows int) (each, count int) {
	units := tiles(rows, crowdRows)
	each = tiles(units, chainParts)
	return each, tiles(units, each)
}

// symmetric reports whether three points lie at the mean and as far on either side of it, and
// none has a negative weight.
func symmetric(three [6]float32) bool {
	return three[0] == 0 && three[1] == -three[2] && three[4] == three[5] && three[3] >= 0 && three[4] > 0
}

// layPlanes makes room for the signals of the broad layer in halves, which the pass leaves for
// its gradients: four operands in cells of 32 × 32 numbers, and a scale for each and 64 rows. It deals the pieces of the update, too.
func (w *weights) layPlanes(c *chain, rows int) {
	units := tiles(rows, crowdRows)
	c.planes, c.scales = w.alloc(units*(crowdRows/32)*4*4, 4096), w.floats(units*2*4)
	l := &c.args.One.Links[1]
	c.pieces = place(w.memory, dealSmall(w.chunks, int(w.firstChunk(c.broad)), int(l.In*l.Out)/256), 4)
}

// runCrowd queues the pass of a chain that is one of many.
func (w *weights) runCrowd(c *chain, args many[crowdArgs], rows int) error {
	k := w.kernels.crowds
	p := &args.One
	g := c.slopes
	at := func(l *slope) places { return places{l.Mean, l.Rho, l.Bias, l.BiasRho} }
	p.Grad = g.Grad
	p.Size = g.Size
	p.First = at(&g.Links[0])
	p.Last = at(&g.Links[2])
	p.Planes, p.Scales = c.planes, c.scales
	each, count := stretches(rows)
	p.Each, p.Stretches = int32(each), int32(count)
	spread := spreading{unit: 1, groups: count, most: w.device.Processors * 3 / 8} // the others work for other parties
	pass := pick(p.Chain.Links[0].In == 1 && p.Chain.TV == 0, k.one, k.any)
	if err := launch(w, pick(c.kernel == w.kernels.chains.exact, pass.exact, pass.three), cuda.Grid{X: spread.blocks(1)}, passThreads, &args); err != nil {
		return err
	}
	if w.record != nil {
		(*w.record)[len(*w.record)-1].spread = spread
	}
	return nil
}

// learnCrowd queues what follows the pass of a chain that is one of many: the gradients that the pass did not
// leave, and the update. False: it has no such launch.
func (t *trainer) learnCrowd() (ok bool, err error) {
	c, g := t.pass.chain, &t.chain.gradients.One
	if _, ok := t.crowd(c); !ok {
		return false, nil
	}
	a := &many[crowdLearn]{One: crowdLearn{Update: t.chain.update.One, Planes: c.planes, Scales: c.scales, Pieces: c.pieces, In: g.Links[1].In, Out: g.Links[1].Out,
		Broad: t.firstChunk(c.broad), Noise: -1, LastBias: g.Links[2].BiasRho}}
	if g.Noises > 0 { // it is the last of the network
		a.One.Noise = int32(len(t.chunks)) - 1 - a.One.In*a.One.Out/256
	}
	return true, launch(t.weights, t.kernels.crowds.learn.Together(learnBlocks), cuda.Grid{X: learnBlocks}, learnThreads, a)
}
