package gpu

import (
	"unsafe"

	"utvi/internal/cuda"
)

// What follows the pass in a step of a chain: the gradients of the weights, in parts; their
// sums, KL and norm; and the update.

// chainSide is the side of a tile of weights, and how many elements of a thin layer a block
// has; chainParts is the most parts into which the rows are cut; chainShared is the
// shared memory of a tile.
const chainSide, chainParts, chainShared = 32, 8, 4 * (4*128*40 + 256*12 + 256)

// The structures of kernels/chain_gradients.h and chain_update.h, field by field.
type slope struct {
	M, V, G, H, W            cuda.Ptr
	In, Out, Block           int32
	ByAcross                 float32
	Mean, Rho, Bias, BiasRho int32
}

type chainGradients struct {
	Links                     [mostLinks]slope
	Turn, Grad                cuda.Ptr
	Size                      int64
	Scores, NLL, Floored      cuda.Ptr
	Tape, Raw                 cuda.Ptr
	Rows, Count, Parts, Split int32
	Rest, Noise, Noises       int32
	ByParts                   float32
}

type chainUpdate struct {
	Norm    normArgs
	Adam    adamArgs
	Turn    cuda.Ptr
	Sums, _ int32
}

const sizeChainGradients = 72*mostLinks + 96

var _ = [1]struct{}{}[unsafe.Sizeof(chainGradients{})-sizeChainGradients]

// A chainStep is what follows the pass.
type chainStep struct {
	gradients many[chainGradients]
	blocks    int
	sums      many[chainUpdate]
	update    many[chainUpdate]
}

// linkUp gives a chain what its gradients need: the signals of the dense layers, which are
// listed from the last to the first, and the tape of the noise.
func (t *trainer) linkUp(tapes []tape) {
	w, a := t.weights, &t.pass.chain.args.One
	a.Results = w.results
	a.Turn = w.alloc(1, sizeTurn)
	a.Scale = 1 / float64(t.Batch)
	g := &t.chain.gradients.One
	g.Turn, g.Count = a.Turn, a.Count
	g.Split = int32((tiles(t.Batch, chainParts) + 15) / 16 * 16)
	g.Parts = int32(tiles(t.Batch, int(g.Split)))
	t.grads.parts, g.ByParts = int(g.Parts), 1/float32(g.Parts)
	t.pass.chain.slopes = g
	_, crowd := t.crowd(t.pass.chain)
	_, count := stretches(t.Batch)
	if crowd {
		t.grads.parts = 2 * count
		t.pass.chain.broad = t.grads.dense[1].layer.tensors[0]
		w.layPlanes(t.pass.chain, t.Batch)
	}
	block := 0
	for i := range int(a.Count) {
		d := &t.grads.dense[int(a.Count)-1-i]
		o := &d.o
		l := &a.Links[i]
		weights := d.layer.tensors[0]
		bias := d.layer.tensors[1]
		l.M = o.M
		l.V = o.V
		l.G = o.G
		l.H = o.H
		in, out := int(l.In), int(l.Out)
		g.Links[i] = slope{M: o.M, V: o.V, G: o.G, H: o.H, W: o.W, In: l.In, Out: l.Out, Block: int32(block), ByAcross: 1 / float32(tiles(out, chainSide)),
			Mean: int32(w.mean[weights]), Rho: int32(w.rho[weights]), Bias: int32(w.mean[bias]), BiasRho: int32(w.rho[bias])}
		n, parts := tiles(in, chainSide)*tiles(out, chainSide), int(g.Parts)
		thin := min(in, out) <= mostThin
		if thin {
			n = tiles((in+1)*out, chainSide)
		}
		if crowd {
			parts = pick(thin, 2*count, 1)
		}
		w.tensors[weights].parts, w.tensors[bias].parts = parts, parts
		block += n * int(g.Parts)
	}
	g.Rest = int32(block)
	for _, x := range tapes { // of the noise: there is no other
		a.Tape = x.at
		g.Tape = x.at
		g.Raw = a.Raw
		g.Noise, g.Noises = int32(w.mean[x.tensor]), int32(x.width)
		if crowd { // its gradient follows from the parts of another
			w.tensors[x.tensor].parts = 2 * count
		}
	}
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

// buildChain completes the arguments of a chain's step.
func (t *trainer) buildChain() {
	w := t.weights
	g := &t.chain.gradients.One
	n := t.norm.One
	g.Grad = n.Grad
	g.Size = n.Size
	g.Rows = n.Rows
	g.NLL = n.NLL
	g.Floored = n.Floored
	g.Scores = n.Parts.Add(2 * 8 * len(w.chunks))
	t.chain.sums.One = chainUpdate{Norm: n, Adam: w.adam.One, Turn: g.Turn, Sums: 1}
	t.chain.update.One = chainUpdate{Norm: n, Adam: w.adam.One, Turn: g.Turn}
}

// queueChain queues what follows the pass. The gradients do not start while the pass ends: their
// blocks would gather on the multiprocessors that are free first.
func (t *trainer) queueChain() error {
	w := t.weights
	k := t.kernels.chains
	c := &t.chain
	if done, err := t.learnCrowd(); done || err != nil {
		return err
	}
	if err := launch(w, k.gradients, cuda.Grid{X: c.blocks}, 256, &c.gradients); err != nil {
		return err
	}
	grid := cuda.Grid{X: len(w.chunks)}
	if err := launchBehind(w, k.update, grid, 256, &c.sums); err != nil {
		return err
	}
	return launchBehind(w, k.update, grid, 256, &c.update)
}
