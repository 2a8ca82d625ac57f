package gpu

import (
	"unsafe"

	"utvi/internal/cuda"
)

// What follows the pass in a step of a conv net: the gradients of the weights with KL and
// norm, and the update of a dense net.

// convNetSide is the side of a tile of the broad layer, convNetElements how many elements of
// other tensors are a region; convNetTile is the shared memory of a tile.
const convNetSide, convNetElements, convNetTile = 16, 32, 4 * 4 * 256 * convNetSide

// The structures of kernels/quartet_gradients.h, field by field.
type gradientOperands struct {
	M, V, G, H             cuda.Ptr
	In, Out, Chunk, BiasAt int32
}

type learnedTape struct {
	Tape        cuda.Ptr
	Chunk, Mode int32
}

type convNetGradients struct {
	Norm                        normArgs
	Turn                        cuda.Ptr
	Broad, Last                 gradientOperands
	Parts                       cuda.Ptr
	Width, Count, Chunk, BiasAt int32
	Weights, All, Learned, Wide int32
	AtLast, AtConv, AtTape, _   int32
	Tapes                       [mostUnits]learnedTape
}

const sizeConvNetGradients = 256 + 16*mostUnits

var _ = [1]struct{}{}[unsafe.Sizeof(convNetGradients{})-sizeConvNetGradients]

// A convNetStep is a step of a conv net: the pass, the gradients, and the update of a dense net.
type convNetStep struct {
	w      *weights
	rows   int
	passes *convNetPass
	grads  many[convNetGradients]
	adam   many[denseNetUpdate]
}

// step implements path.
func (convNetPath) step(t *trainer, l *stepList) step {
	w := t.weights
	s := &convNetStep{w: w, rows: t.Batch, passes: newConvNetPass(w, l.pass.ops)}
	a := &s.passes.args.One
	a.Results = w.results
	a.Turn = w.alloc(1, sizeTurn)
	a.Scale = 1 / float64(t.Batch)
	t.placeOptimizer(w.zeros(w.size))
	g := &s.grads.One
	g.Turn = a.Turn
	g.Norm = t.optimizer.norm.One
	g.Norm.Count = s.takeLayers(l)
	g.Norm.Parts = w.alloc(2*(int(g.Norm.Count)+1), 8)
	s.adam.One = denseNetUpdate{Norm: g.Norm, Adam: w.adam.One, Turn: g.Turn}
	return s
}

// takeLayers takes what the gradients need, and returns the number of their regions. The dense
// layers are listed from the last to the first.
func (s *convNetStep) takeLayers(l *stepList) int32 {
	w := s.w
	a := &s.passes.args.One
	g := &s.grads.One
	g.Last = w.gradientOperands(&l.grads.dense[0])
	g.Broad = w.gradientOperands(&l.grads.dense[1])
	f := &l.grads.folded[0]
	weights, all := f.layer.weights(), f.layer.weights()+f.layer.features()
	g.Parts = f.parts
	g.Width = int32(f.width)
	g.Count = int32(f.count)
	g.Weights = int32(weights)
	g.All = int32(all)
	g.Chunk = w.firstChunk(f.layer.tensors[0])
	g.BiasAt = w.firstChunk(f.layer.tensors[1])
	g.Wide = a.Last
	for _, x := range l.tapes {
		g.Tapes[g.Learned] = learnedTape{x.at, w.firstChunk(x.tensor), x.mode}
		g.Learned++
	}
	g.AtLast = int32(tiles(int(a.In), convNetSide) * tiles(int(a.Out), convNetSide))
	g.AtConv = g.AtLast + int32(tiles(int((a.Out+1)*a.Last), convNetElements))
	g.AtTape = g.AtConv + int32(tiles(all, convNetElements))
	return g.AtTape + g.Learned*g.Wide
}

// gradientOperands are those of a dense layer.
func (w *weights) gradientOperands(d *denseGradient) gradientOperands {
	o, l := &d.o, d.layer
	return gradientOperands{o.M, o.V, o.G, o.H, int32(l.in), int32(l.out), w.firstChunk(l.tensors[0]), w.firstChunk(l.tensors[1])}
}

func (s *convNetStep) forward() error { return s.passes.forward(s.rows) }

func (s *convNetStep) gradients() error { return s.passes.whole(s.rows) }

func (s *convNetStep) together() int { return stepsTogether }

func (s *convNetStep) update() error {
	w := s.w
	if err := launchBehind(w, w.kernels.convNets.gradients, cuda.Grid{X: int(s.grads.One.Norm.Count) + 1}, 256, &s.grads); err != nil {
		return err
	}
	return launchBehind(w, w.kernels.denseNets.update, cuda.Grid{X: len(w.chunks)}, 256, &s.adam)
}
