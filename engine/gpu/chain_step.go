package gpu

import (
	"unsafe"

	"utvi/internal/cuda"
)

// What follows the pass in a step of a chain: the gradients of the weights with their
// sums, KL and norm, and the update.

// chainSide is the side of a tile of weights, and how many elements of a thin layer are a
// region; chainParts is the most parts into which the rows are cut; chainShared is the
// shared memory of a tile.
const chainSide, chainParts, chainShared = 32, 8, 4 * 4 * 128 * chainSide

// The structures of kernels/chain_gradients.h and chain_update.h, field by field.
type slope struct {
	M, V, G, H, W                         cuda.Ptr
	In, Out, Block, Region, Chunk, BiasAt int32
}

type chainGradients struct {
	Links                                    [mostLinks]slope
	Norm                                     normArgs
	Turn, Tape                               cuda.Ptr
	Count, Parts, Split, Rest, Noise, Noises int32
}

type chainUpdate struct {
	Norm normArgs
	Adam adamArgs
	Turn cuda.Ptr
}

const sizeChainGradients = 64*mostLinks + 136

var _ = [1]struct{}{}[unsafe.Sizeof(chainGradients{})-sizeChainGradients]

// A chainStep is what follows the pass.
type chainStep struct {
	gradients many[chainGradients]
	blocks    int
	update    many[chainUpdate]
}

// linkUp gives a chain what its gradients need: the signals of the dense layers, which are
// listed from the last to the first, and the tape of the noise.
func (t *trainer) linkUp(tapes []tape) {
	w, a := t.weights, &t.pass.chain.args.One
	a.Results, a.Turn, a.Batch = w.results, w.alloc(1, sizeTurn), int32(t.Batch)
	g := &t.chain.gradients.One
	g.Turn, g.Count = a.Turn, a.Count
	g.Split = int32((tiles(t.Batch, chainParts) + 15) / 16 * 16)
	g.Parts = int32(tiles(t.Batch, int(g.Split)))
	t.grads.parts = int(g.Parts)
	block, region := 0, 0
	for i := range int(a.Count) {
		d := &t.grads.dense[int(a.Count)-1-i]
		o, l := &d.o, &a.Links[i]
		l.M, l.V, l.G, l.H = o.M, o.V, o.G, o.H
		in, out := int(l.In), int(l.Out)
		g.Links[i] = slope{M: o.M, V: o.V, G: o.G, H: o.H, W: o.W, In: l.In, Out: l.Out, Block: int32(block), Region: int32(region),
			Chunk: w.firstChunk(d.layer.tensors[0]), BiasAt: w.firstChunk(d.layer.tensors[1])}
		n := tiles(in, chainSide) * tiles(out, chainSide)
		if min(in, out) <= mostThin {
			n = tiles((in+1)*out, chainSide)
		}
		block, region = block+n*int(g.Parts), region+n
	}
	g.Rest = int32(block)
	for _, x := range tapes { // of the noise: there is no other
		a.Tape, g.Tape = x.at, x.at
		g.Noise, g.Noises = w.firstChunk(x.tensor), int32(x.width)
	}
	g.Norm.Count = int32(region) + g.Noises
	t.chain.blocks = block + int(g.Noises) + 1
}

// firstChunk is the number of a tensor's first chunk.
func (w *weights) firstChunk(tensor int) int32 {
	for i, c := range w.chunks {
		if int(c.Tensor) == tensor {
			return int32(i)
		}
	}
	panic("gpu: a tensor has no chunks")
}

// buildChain completes the arguments of a chain's step, and returns the counters that must
// begin with zeros.
func (t *trainer) buildChain() stretch {
	w, g := t.weights, &t.chain.gradients.One
	regions := int(g.Norm.Count)
	n := t.norm.One
	n.Count, n.Parts, n.Done = int32(regions), w.alloc(2*(regions+1), 8), w.alloc(regions, 4)
	g.Norm = n
	t.chain.update.One = chainUpdate{Norm: n, Adam: w.adam.One, Turn: g.Turn}
	return stretch{n.Done, 4 * regions}
}

// queueChain queues what follows the pass.
func (t *trainer) queueChain() error {
	w, k := t.weights, t.kernels.chains
	if err := launchBehind(w, k.gradients, cuda.Grid{X: t.chain.blocks}, 256, &t.chain.gradients); err != nil {
		return err
	}
	return launchBehind(w, k.update, cuda.Grid{X: len(w.chunks)}, 256, &t.chain.update)
}
