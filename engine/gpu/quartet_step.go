package gpu

import (
	"unsafe"

	"utvi/internal/cuda"
)

// What follows the pass in a step of a quartet: the gradients of the weights with KL and
// norm, and the update of a chain.

// quartetSide is the side of a tile of the broad layer, quartetElements how many elements of
// other tensors are a region; quartetTile is the shared memory of a tile.
const quartetSide, quartetElements, quartetTile = 16, 32, 4 * 4 * 256 * quartetSide

// The structures of kernels/quartet_gradients.h, field by field.
type matter struct {
	M, V, G, H             cuda.Ptr
	In, Out, Chunk, BiasAt int32
}

type learnedTape struct {
	Tape        cuda.Ptr
	Chunk, Mode int32
}

type quartetGradients struct {
	Norm                        normArgs
	Turn                        cuda.Ptr
	Broad, Last                 matter
	Parts                       cuda.Ptr
	Width, Count, Chunk, BiasAt int32
	Weights, All, Learned, Wide int32
	AtLast, AtConv, AtTape, _   int32
	Tapes                       [mostUnits]learnedTape
}

const sizeQuartetGradients = 256 + 16*mostUnits

var _ = [1]struct{}{}[unsafe.Sizeof(quartetGradients{})-sizeQuartetGradients]

// A quartetStep is what follows the pass.
type quartetStep struct {
	gradients many[quartetGradients]
	update    many[chainUpdate]
}

// meet gives a quartet what its gradients need. The dense layers are listed from the last to
// the first.
func (t *trainer) meet(tapes []tape) {
	w, a := t.weights, &t.pass.quartet.args.One
	a.Results = w.results
	a.Turn = w.alloc(1, sizeTurn)
	a.Scale = 1 / float64(t.Batch)
	g := &t.quartet.gradients.One
	g.Turn = a.Turn
	take := func(d *denseGradient) matter {
		o, l := &d.o, d.layer
		return matter{o.M, o.V, o.G, o.H, int32(l.in), int32(l.out), w.firstChunk(l.tensors[0]), w.firstChunk(l.tensors[1])}
	}
	g.Last, g.Broad = take(&t.grads.dense[0]), take(&t.grads.dense[1])
	f := &t.grads.folded[0]
	weights, features := f.layer.weights(), f.layer.features()
	g.Parts = f.parts
	g.Width = int32(f.width)
	g.Count = int32(f.count)
	g.Weights = int32(weights)
	g.All = int32(weights + features)
	g.Chunk, g.BiasAt = w.firstChunk(f.layer.tensors[0]), w.firstChunk(f.layer.tensors[1])
	g.Wide = a.Last
	for _, x := range tapes {
		g.Tapes[g.Learned] = learnedTape{x.at, w.firstChunk(x.tensor), x.mode}
		g.Learned++
	}
	g.AtLast = int32(tiles(int(a.In), quartetSide) * tiles(int(a.Out), quartetSide))
	g.AtConv = g.AtLast + int32(tiles(int((a.Out+1)*a.Last), quartetElements))
	g.AtTape = g.AtConv + int32(tiles(weights+features, quartetElements))
	g.Norm.Count = g.AtTape + g.Learned*g.Wide
}

// buildQuartet completes the arguments of a quartet's step.
func (t *trainer) buildQuartet() {
	w, g := t.weights, &t.quartet.gradients.One
	n := t.norm.One
	n.Count = g.Norm.Count
	n.Parts = w.alloc(2*(int(n.Count)+1), 8)
	g.Norm = n
	t.quartet.update.One = chainUpdate{Norm: n, Adam: w.adam.One, Turn: g.Turn}
}

// queueQuartet queues what follows the pass.
func (t *trainer) queueQuartet() error {
	w := t.weights
	g := &t.quartet.gradients
	if err := launchBehind(w, w.kernels.quartets.gradients, cuda.Grid{X: int(g.One.Norm.Count) + 1}, 256, g); err != nil {
		return err
	}
	return launchBehind(w, w.kernels.chains.update, cuda.Grid{X: len(w.chunks)}, 256, &t.quartet.update)
}
