package gpu

import (
	"unsafe"

	"utvi/internal/cuda"
)

// Products of wide layers on Hopper cards. Their operands are cut into planes of bfloat16
// (kernels/hopper.cu); the structures are those of the kernels, field by field.

// hopper are the kernels of compute capability 9.0.
type hopper struct {
	cut, thin, norm, wideNorm, adamw cuda.Kernel
	narrowForward, narrowScore       cuda.Kernel
	forward, backward, gradients     cuda.Kernel
	finishForward, finishBackward    [2]cuda.Kernel // for common functions, for any
	narrowBackward                   [2]cuda.Kernel
}

// wideSide is the side of a tile of results, blockSide that of a block of a plane.
const wideSide, blockSide = 128, 32

// wideThreads, cutThreads are the threads of a block; wideShared its shared memory: a ring
// of four stages.
const wideThreads, cutThreads, wideShared = 384, 256, 1024 + 4*6*2*wideSide*blockSide

// wide lists the kernels of compute capability 9.0. Each waits for the launch before it.
func (k *kernelSet) wide() []entry {
	h := &hopper{}
	k.hopper = h
	return []entry{
		{"cut_planes", &h.cut, 0}, {"wide_norm", &h.wideNorm, 0}, {"wide_adamw", &h.adamw, 0},
		{"narrow_forward", &h.narrowForward, 0}, {"narrow_score", &h.narrowScore, 0}, {"narrow_backward", &h.narrowBackward[0], 0}, {"narrow_backward_any", &h.narrowBackward[1], 0},
		{"wide_finish_forward", &h.finishForward[0], 0}, {"wide_finish_backward", &h.finishBackward[0], 0},
		{"wide_finish_forward_any", &h.finishForward[1], 0}, {"wide_finish_backward_any", &h.finishBackward[1], 0},
		{"thin", &h.thin, 0}, {"norm", &h.norm, 0},
		{"wide_forward", &h.forward, wideShared}, {"wide_backward", &h.backward, wideShared}, {"wide_gradients", &h.gradients, wideShared},
	}
}

// planes are a matrix, cut into three planes of bfloat16.
type planes struct {
	At        cuda.Ptr
	Plane     int64
	Across, _ int32
}

// newPlanes allocates planes of zeros.
func (m *memory) newPlanes(rows, cols int) planes {
	r, c := tiles(rows, wideSide)*wideSide, tiles(cols, wideSide)*wideSide
	return planes{At: m.zeros(3 * r * c / 2), Plane: int64(r * c), Across: int32(c / blockSide)}
}

// What is cut of two numbers x and y.
const (
	cutFirst = iota // x
	cutSecond
	cutSum // x² + y
	cutSquare
)

type cuts struct {
	To    [3]planes
	What  [3]int32
	Count int32
}

func (c *cuts) add(p planes, what int32) {
	c.To[c.Count], c.What[c.Count] = p, what
	c.Count++
}

type cutArgs struct {
	A, B       cuda.Ptr
	Rows, Cols int32
	Cuts       cuts
	Results    cuda.Ptr
}

// cutGrid is the grid of kernels that take a matrix in pieces of a row, one after the other:
// as many blocks as run at a time, each of the multiprocessors having so many.
func (w *weights) cutGrid(rows, cols, each int) cuda.Grid {
	return cuda.Grid{X: min(rows*tiles(tiles(cols, blockSide)*blockSide, 2*cutThreads), each*w.device.Processors)}
}

type wideProduct struct {
	A, B                     [2]planes
	Out, Scale               cuda.Ptr
	Pitch, Part              int64
	Rows, Cols, Depth, Split int32
	Phases, _                int32
}

type wideArgs struct {
	Products, Jobs cuda.Ptr
	Count, Rows    int32
	Results        cuda.Ptr
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
	AAcross, BAcross, Pitch, Rows, Cols, Depth, From, To int32
}

type slim struct {
	M, V, G, H, W, O0, O1 cuda.Ptr
	Part                  int64
	Rows, Split, In, Out  int32
}

type wideGradientArgs struct {
	Parts, Lanes cuda.Ptr
	Slim, Jobs   cuda.Ptr
	Count, _     int32
	Results      cuda.Ptr
	Turn         cuda.Ptr
}

const sizePlanes, sizeWideProduct, sizeGradientPart, sizeSlim = 24, 152, 96, 80

// The sizes of the structures are those of the kernels.
var _ = [1]struct{}{}[unsafe.Sizeof(planes{})-sizePlanes]
var _ = [1]struct{}{}[unsafe.Sizeof(wideProduct{})-sizeWideProduct]
var _ = [1]struct{}{}[unsafe.Sizeof(finishArgs{})-336]
var _ = [1]struct{}{}[unsafe.Sizeof(gradientPart{})-sizeGradientPart]
var _ = [1]struct{}{}[unsafe.Sizeof(slim{})-sizeSlim]
