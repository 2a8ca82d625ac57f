package gpu

import (
	"unsafe"

	"utvi/internal/cuda"
)

// What follows the pass in a step of a dense net: the gradients of the weights, in parts; their
// sums, KL and norm; and the update.

// denseNetSide is the side of a tile of weights, and how many elements of a thin layer a block
// has; denseNetParts is the most parts into which the rows are cut; denseNetShared is the
// shared memory of a tile.
const denseNetSide, denseNetParts, denseNetShared = 32, 8, 4 * (4*128*40 + 256*12 + 256)

// The structures of kernels/chain_gradients.h and chain_update.h, field by field.
type layerGradient struct {
	M, V, G, H, W            cuda.Ptr
	In, Out, Block           int32
	ByAcross                 float32
	Mean, Rho, Bias, BiasRho int32
}

type denseNetGradients struct {
	Layers                    [mostDenseLayers]layerGradient
	Turn, Grad                cuda.Ptr
	Size                      int64
	Scores, NLL, Floored      cuda.Ptr
	Tape, Raw                 cuda.Ptr
	Rows, Count, Parts, Split int32
	Rest, Noise, Noises       int32
	ByParts                   float32
}

type denseNetUpdate struct {
	Norm    normArgs
	Adam    adamArgs
	Turn    cuda.Ptr
	Sums, _ int32
}

const sizeDenseNetGradients = 72*mostDenseLayers + 96

var _ = [1]struct{}{}[unsafe.Sizeof(denseNetGradients{})-sizeDenseNetGradients]

// A denseNetStep is a step of a dense net: the pass, the gradients in parts, their sums, and the
// update.
type denseNetStep struct {
	w      *weights
	rows   int
	passes *denseNetPass
	grads  many[denseNetGradients]
	blocks int // of the gradients
	sums   many[denseNetUpdate]
	adam   many[denseNetUpdate]
}

// A partCount is into how many parts the gradients of tensors are cut: of layers with few inputs
// or outputs, of others, and of the noise.
type partCount struct{ thin, broad, noise int }

// step implements path.
func (denseNetPath) step(t *trainer, l *stepList) step {
	split := denseNetSplit(t.Batch)
	parts := tiles(t.Batch, split)
	return newDenseNetStep(t, l, partCount{thin: parts, broad: parts, noise: 1})
}

// denseNetSplit is how many rows are a part.
func denseNetSplit(rows int) int { return (tiles(rows, denseNetParts) + 15) / 16 * 16 }

// newDenseNetStep lays out a step.
func newDenseNetStep(t *trainer, l *stepList, parts partCount) *denseNetStep {
	w := t.weights
	s := &denseNetStep{w: w, rows: t.Batch, passes: newDenseNetPass(w, l.pass.ops)}
	a := &s.passes.args.One
	a.Results = w.results
	a.Turn = w.alloc(1, sizeTurn)
	a.Scale = 1 / float64(t.Batch)
	g := &s.grads.One
	g.Turn = a.Turn
	g.Count = a.Count
	g.Split = int32(denseNetSplit(t.Batch))
	g.Parts = int32(tiles(t.Batch, int(g.Split)))
	g.ByParts = 1 / float32(g.Parts)
	s.takeLayers(l, parts)
	t.placeOptimizer(w.zeros(max(parts.thin, parts.broad) * w.size))
	n := t.optimizer.norm.One
	g.Grad = n.Grad
	g.Size = n.Size
	g.Rows = n.Rows
	g.NLL = n.NLL
	g.Floored = n.Floored
	g.Scores = n.Parts.Add(2 * 8 * len(w.chunks))
	s.sums.One = denseNetUpdate{Norm: n, Adam: w.adam.One, Turn: g.Turn, Sums: 1}
	s.adam.One = denseNetUpdate{Norm: n, Adam: w.adam.One, Turn: g.Turn}
	return s
}

// takeLayers takes what the gradients need: the signals of the dense layers, which are listed
// from the last to the first, and the tape of the noise.
func (s *denseNetStep) takeLayers(l *stepList, parts partCount) {
	w := s.w
	a := &s.passes.args.One
	g := &s.grads.One
	for i := range int(a.Count) {
		d := &l.grads.dense[int(a.Count)-1-i]
		a.Layers[i].signals(&d.o)
		g.Layers[i] = w.layerGradient(d, s.blocks)
		in, out := d.layer.in, d.layer.out
		n := tiles(in, denseNetSide) * tiles(out, denseNetSide)
		count := parts.broad
		if min(in, out) <= mostThin {
			n = tiles((in+1)*out, denseNetSide)
			count = parts.thin
		}
		for _, t := range d.layer.tensors {
			w.tensors[t].parts = count
		}
		s.blocks += n * int(g.Parts)
	}
	g.Rest = int32(s.blocks)
	for _, x := range l.tapes { // of the noise: there is no other
		a.Tape = x.at
		g.Tape = x.at
		g.Raw = a.Raw
		g.Noise = int32(w.mean[x.tensor])
		g.Noises = int32(x.width)
		w.tensors[x.tensor].parts = parts.noise
	}
	s.blocks += int(g.Noises) + 1
}

// signals takes the signals of a dense layer, with the gradients by them.
func (l *denseNetLayer) signals(o *op) {
	l.M = o.M
	l.V = o.V
	l.G = o.G
	l.H = o.H
}

// layerGradient describes the gradient of a dense layer, whose first block has a number.
func (w *weights) layerGradient(d *denseGradient, block int) layerGradient {
	weights, bias := d.layer.tensors[0], d.layer.tensors[1]
	return layerGradient{M: d.o.M, V: d.o.V, G: d.o.G, H: d.o.H, W: d.o.W, In: int32(d.layer.in), Out: int32(d.layer.out),
		Block: int32(block), ByAcross: 1 / float32(tiles(d.layer.out, denseNetSide)),
		Mean: int32(w.mean[weights]), Rho: int32(w.rho[weights]), Bias: int32(w.mean[bias]), BiasRho: int32(w.rho[bias])}
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

func (s *denseNetStep) forward() error { return s.passes.forward(s.rows) }

func (s *denseNetStep) gradients() error { return s.passes.whole(s.rows) }

func (s *denseNetStep) together() int { return stepsTogether }

// update queues what follows the pass. The gradients do not start while the pass ends: their
// blocks would gather on the multiprocessors that are free first.
func (s *denseNetStep) update() error {
	k := s.w.kernels.denseNets
	if err := launch(s.w, k.gradients, cuda.Grid{X: s.blocks}, 256, &s.grads); err != nil {
		return err
	}
	grid := cuda.Grid{X: len(s.w.chunks)}
	if err := launchBehind(s.w, k.update, grid, 256, &s.sums); err != nil {
		return err
	}
	return launchBehind(s.w, k.update, grid, 256, &s.adam)
}
