package gpu

import "utvi/internal/cuda"

// The structures of kernels/program.h, field by field.

const (
	opInput = iota
	opDense
	opDenseBack
	opApply
	opApplyBack
	opNoise
	opNoiseBack
	opScale
	opScaleBack
	opMultiply
	opMultiplyBack
	opDropout
	opDropoutBack
	opScore
	opSenseStart
	opSenseDense
	opSenseUnits
	opSenseEnd
	opSenseBack
	opSenseDenseBack
	opSenseAdd
	opAdd
	opPiecewise
	opPiecewiseBack
	opAppend
	opAppendBack
	opLayerNorm
	opLayerNormBack
	opSoftmax
	opSoftmaxBack
	opConditional
	opConditionalBack
	opAvgPool
	opAvgPoolBack
	opMaxPool
	opMaxPoolBack
	opEmbed
	opEmbedBack
	opCov
	opCovBack
	opPeriodic
	opPeriodicBack
	opApart
	opApartBack
	opSenseSum
	opSenseAvg
	opSenseAvgBack
	opSenseMax
	opSenseMaxBack
	opSenseConv
	opSenseConvBack
	opSenseNorm
	opSenseNormBack
	opSoftmaxPoints
	opSoftmaxPointsBack
	opConv // an operation on rows in the kernel fused, else a launch of its own
	opConvGradient
)

const (
	byPoints = iota
	closedForm
	byTangent
	bySamples
	learned
)

const (
	likeNormal = iota
	likeExpected
	likeHeteroscedastic
	likeCategorical
	likeBernoulli
	likePoisson
	likeCount
	likeTotal
)

type function struct {
	Op, Rule, Points int32
	Index            uint32
	A                float32
	Kinked           int32
	Nodes, Kappa     cuda.Ptr
	Three            [6]float32
}

type image struct {
	H, W, C, KH, KW, Down, Across, Top, Left, OH, OW, _ int32
}

// An op is an operation on rows. Kinds that need few of the fields share them: Count, Choice,
// Flag and the three Extra hold what the functions of operation.go and the kernels say.
type op struct {
	Kind, In, Out, Room    int32
	F                      function
	M, V, OM, OV           cuda.Ptr // moments of the inputs, and of the outputs
	G, H, DM, DV           cuda.Ptr // gradients by those of the outputs, and by those of the inputs
	W, S, WT, ST, B, BS    cuda.Ptr // means and variances of weights, transposed, of biases
	Raw, Tape, Y           cuda.Ptr
	NLL, Floored           cuda.Ptr
	P                      float64
	Count, Choice, Flag    int32
	_                      int32
	Index                  cuda.Ptr
	Extra0, Extra1, Extra2 cuda.Ptr
	YO                     cuda.Ptr
	Q                      float64
	Table, Nodes, Scratch  cuda.Ptr
	Cov, DCov              cuda.Ptr
	Image                  image
}

type control struct {
	Step, Row                                                  uint64
	Seed                                                       [2]uint32
	Batch, _                                                   int32
	KeepMean, KeepRho, Rate, Root2, Eps, Beta1, Beta2, KLScale float32
	Clip                                                       float64
	_, _                                                       int32
}

type result struct {
	NLL, KL, Norm2  float64
	Floored, Finite int32
	Clip            float32
	Slot            int32 // in the first result: of the step that is next
}

// The values of result.Finite.
const (
	nllNotFinite = iota
	allFinite
	gradientNotFinite
)

type chunk struct {
	Lo, Hi, Random, NoDecay   int32
	Rows, Cols, Parts, Tensor int32
	Mean, Rho                 int64
	PriorMean, PriorVar       float64
	S, WT, ST, Center         cuda.Ptr
}

// many are the arguments of a kernel for one network, or for several of the same shapes.
type many[T any] struct {
	One  T
	List cuda.Ptr // 0: there is one
}

type rowsArgs struct {
	Ops                     cuda.Ptr
	First, Count, Rows, Per int32
	Control, Results        cuda.Ptr
}

type product struct {
	A0, A1, B0, B1           cuda.Ptr
	Rows, Cols, Depth, Split int32
	O0, O1, E0, E1, X0, X1   cuda.Ptr
	Part                     int64
	Aligned, _               int32
	Results                  cuda.Ptr
	Fused, _                 int32
	P0, P1, Q0, Q1           cuda.Ptr
	F                        function
}

type gradJob struct{ Product, X, Y, Z int32 }

type gradientsArgs struct{ Products, Jobs, Results cuda.Ptr }

type normArgs struct {
	Theta, Grad    cuda.Ptr
	Size           int64
	Chunks         cuda.Ptr
	Count, _       int32
	Parts, Control cuda.Ptr
	Results        cuda.Ptr
	NLL, Floored   cuda.Ptr
	Done           cuda.Ptr
	Rows, Slots    int32
}

type adamArgs struct {
	Theta, First, Second, Grad cuda.Ptr
	Chunks                     cuda.Ptr
	Prepare, Slots             int32
	Control, Results           cuda.Ptr
}

const (
	byVariance = iota
	bySoftplus
	byItself
)

type columnsArgs struct {
	Tape                 cuda.Ptr
	Rows, Width, Mode, _ int32
	Raw, Grad, Results   cuda.Ptr
}

type emittersArgs struct {
	X, Y           cuda.Ptr
	First          uint64
	Key            [2]uint32
	Rows, Side     int32
	Spread, Blur   float32
	Photons, Sigma float64
}

type quantilesArgs struct {
	M, V, Shapes, Out                   cuda.Ptr
	N, Room, Members, Targets, Parts, _ int32
	P, Z                                float64
}

type priorArgs struct {
	Theta, Chunks, Parts cuda.Ptr
}
