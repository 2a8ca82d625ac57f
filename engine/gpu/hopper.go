package gpu

import (
	"unsafe"

	"utvi/internal/cuda"
)

// Products of wide layers on Hopper cards. Their operands are cut into planes of halves
// (kernels/hopper.cu); the structures are those of the kernels, field by field.

// hopper are the kernels of compute capability 9.0.
type hopper struct {
	cut, cutWeights, thin         cuda.Kernel
	norm, wideNorm, adamw         cuda.Kernel
	narrowForward, narrowScore    cuda.Kernel
	forward, backward, gradients  cuda.Kernel
	finishForward, finishBackward [2]cuda.Kernel // for common functions, for any
	narrowBackward                [2]cuda.Kernel
}

// wideSide is the side of a tile of results, blockSide that of a block of a plane.
const wideSide, blockSide = 128, 32

// wideThreads, cutThreads are the threads of a block; wideShared its shared memory: a ring
// of six stages, with their scales behind it.
const wideThreads, cutThreads, wideShared = 384, 256, 1024 + 6*(4*2*wideSide*blockSide+8*16)

// wide lists the kernels of compute capability 9.0. Each waits for the launch before it.
func (k *kernelSet) wide() []entry {
	h := &hopper{}
	k.hopper = h
	return []entry{
		{"cut_planes", &h.cut, 0}, {"cut_weights", &h.cutWeights, 0}, {"wide_norm", &h.wideNorm, 0}, {"wide_adamw", &h.adamw, 0},
		{"narrow_forward", &h.narrowForward, 0}, {"narrow_score", &h.narrowScore, 0}, {"narrow_backward", &h.narrowBackward[0], 0}, {"narrow_backward_any", &h.narrowBackward[1], 0},
		{"wide_finish_forward", &h.finishForward[0], 0}, {"wide_finish_backward", &h.finishBackward[0], 0},
		{"wide_finish_forward_any", &h.finishForward[1], 0}, {"wide_finish_backward_any", &h.finishBackward[1], 0},
		{"thin", &h.thin, 0}, {"norm", &h.norm, 0},
		{"wide_forward", &h.forward, wideShared}, {"wide_backward", &h.backward, wideShared}, {"wide_gradients", &h.gradients, wideShared},
	}
}

// planes are a matrix, cut into two planes of halves, with their scales behind them.
type planes struct {
	At           cuda.Ptr
	Plane        int64
	Across, Down int32
}

// newPlanes allocates planes of zeros.
func (m *memory) newPlanes(rows, cols int) planes {
	r, c := tiles(rows, wideSide)*wideSide, tiles(cols, wideSide)*wideSide
	return planes{At: m.zeros(r*c + r*c/blockSide), Plane: int64(r * c), Across: int32(c / blockSide), Down: int32(r)}
}

// from returns where the first plane and the scales begin that a tile needs of planes whose
// rows are the depth.
func (p planes) from(tile int) (at, scales cuda.Ptr) {
	return p.At.Add(2 * tile * wideSide * blockSide), p.At.Add(4*int(p.Plane) + 4*tile*wideSide/blockSide*int(p.Down))
}

// What is cut of two numbers x and y.
const (
	cutFirst = iota // x
	cutSecond
	cutSum // x² + y
	cutSquare
)

type cuts struct {
	To       [3]planes
	What     [3]int32
	Count    int32
	Apart, _ int32 // each row has scales of its own
}

func (c *cuts) add(p planes, what int32) {
	c.To[c.Count], c.What[c.Count] = p, what
	c.Count++
}

// A gathered batch is taken from a table, or from the rows of all queued steps.
type gathered struct {
	Index, M, V, Targets, Y cuda.Ptr
	Room, Width             int32
}

type cutArgs struct {
	A, B       cuda.Ptr
	Rows, Cols int32
	Cuts       cuts
	From       gathered
	Results    cuda.Ptr
}

type cutTensor struct {
	Mean, Rho                cuda.Ptr
	Rows, Cols, First, Chunk int32
	To                       [3]planes
}

type cutWeightsArgs struct {
	All           cuda.Ptr
	Count, Blocks int32
}

// An updateJob is what a block of wide_adamw updates: blocks of a tensor that is cut, or a
// chunk of another one.
type updateJob struct{ Tensor, From, To, Chunk int32 }

type wideUpdate struct {
	Norm                  normArgs
	Adam                  adamArgs
	Turn, Stretches, Cuts cuda.Ptr
}

// cutGrid is the grid of kernels that take a matrix in blocks of 32 × 32, one after the
// other: as many blocks as run at a time, each of the multiprocessors having so many.
func (w *weights) cutGrid(rows, cols, each int) cuda.Grid {
	return cuda.Grid{X: min(tiles(rows, blockSide)*tiles(cols, blockSide), each*w.device.Processors)}
}

type planesProduct struct {
	A, B        planes
	Out         cuda.Ptr
	Pitch       int64
	Cols, Depth int32
}

type planesArgs struct {
	Products    cuda.Ptr
	Count, Rows int32
}

type finishArgs struct {
	P               product
	Sums            cuda.Ptr
	Far             int64
	Pitch, Products int32
	Cuts            cuts
}

type gradientPart struct {
	A, B                                                 [2]cuda.Ptr
	APlane, BPlane                                       int64
	Out, Scale                                           cuda.Ptr
	AScales, BScales                                     [2]cuda.Ptr
	AAcross, BAcross, Pitch, Rows, Cols, Depth, From, To int32
	Down, _                                              int32
}

type slim struct {
	M, V, G, H, W, O0, O1 cuda.Ptr
	Part                  int64
	Rows, Split, In, Out  int32
}

type wideGradientArgs struct {
	Parts, Workers cuda.Ptr
	Slim, Jobs     cuda.Ptr
	Count, _       int32
	Results        cuda.Ptr
	Turn           cuda.Ptr
}

const sizePlanesProduct, sizeCutTensor, sizeGradientPart, sizeSlim = 72, 104, 136, 80

// The sizes of the structures are those of the kernels.
var _ = [1]struct{}{}[unsafe.Sizeof(cuts{})-96]
var _ = [1]struct{}{}[unsafe.Sizeof(planesProduct{})-sizePlanesProduct]
var _ = [1]struct{}{}[unsafe.Sizeof(finishArgs{})-344]
var _ = [1]struct{}{}[unsafe.Sizeof(gradientPart{})-sizeGradientPart]
var _ = [1]struct{}{}[unsafe.Sizeof(slim{})-sizeSlim]
var _ = [1]struct{}{}[unsafe.Sizeof(cutArgs{})-176]
var _ = [1]struct{}{}[unsafe.Sizeof(cutTensor{})-sizeCutTensor]
