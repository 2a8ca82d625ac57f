// Command softmax generates the moments of softmaxes, sixteen side by side: of sums of two
// exponentials and of the logistic function, with their slopes, and their reverse. The formulas are
// those of the twins in kernel/softmax_twin.go.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/out"
	. "utvi/internal/compute/gen/vec"
)

func main() {
	join("joinAsm", false)
	join("joinSlopesAsm", true)
	joinBack()
	logistic("logisticAsm", false)
	logistic("logisticSlopesAsm", true)
	logisticBack()
	out.Write("softmax", "kernel", "isa", "vec")
}

// Where things lie, in sixteen numbers each: the fields of kernel.Joined and kernel.Sigmoid behind the mean
// and the variance, those of kernel.SoftmaxNodes in single numbers.
const (
	side = 64 // bytes of sixteen numbers

	variance = side
	slopeMB  = 2 * side
	slopeVB  = 3 * side
	slopeMV  = 4 * side
	slopeVVA = 5 * side
	slopeVVB = 6 * side

	slopeMM = 2 * side
	slopeVM = 3 * side
	slopeVV = 5 * side

	joinPairs     = 2
	logisticPairs = 7
	joinW         = 4 * joinPairs
	logisticX     = joinW + 4*(joinPairs+1)
	logisticW     = logisticX + 4*logisticPairs
)

var offset reg.GPVirtual // of the lanes at work, where a register has fewer than sixteen

// sixteen emits body for all lanes, and ends the function.
func sixteen(body func()) {
	if isa.AVX512 {
		Whole(body)
		isa.End()
		return
	}
	offset = GP64()
	XORQ(offset, offset)
	Label("lanes")
	Whole(body)
	ADDQ(Imm(uint64(isa.Bytes)), offset)
	CMPQ(offset, Imm(side))
	JLT(LabelRef("lanes"))
	isa.End()
}

// at are the lanes at work of the sixteen numbers that lie disp bytes behind base.
func at(base reg.Register, disp int) Mem {
	if isa.AVX512 {
		return Mem{Base: base, Disp: disp}
	}
	return Mem{Base: base, Index: offset, Scale: 1, Disp: disp}
}

func load(base reg.Register, disp int) V { return Reg(at(base, disp)) }

func store(x V, base reg.Register, disp int) { Put(x, at(base, disp)) }

// all is a node or a weight in all lanes.
func all(nodes reg.Register, disp int) V { return Broadcast(Mem{Base: nodes, Disp: disp}) }

// inverse is 1/x. The divider would take as long as all else does.
func inverse(x V) V {
	if isa.AVX512 {
		return Inverse(x)
	}
	return Div(one(), x)
}

// deviation is √v and 1/√v, at most 1e19.
func deviation(v V) (root, over V) {
	if isa.AVX512 {
		root, over, _ = Roots(v)
		return root, over
	}
	root = Sqrt(v)
	return root, Div(one(), Max(1e-19, root))
}

func one() V       { return Reg(Const(1)) }
func zero() V      { return Zero() }
func twice(x V) V  { return Add(x, x) }
func square(x V) V { return Mul(x, x) }

// log1p is ln(1+x) for x from 0 to 1.
func log1p(x V) V {
	return Mul(Poly(x, Fit(func(x float64) float64 {
		if x < 1e-9 {
			return 1
		}
		return math.Log1p(x) / x
	}, 0, 1, 9)), x)
}

// A curve is the logistic function left of 0, from where it is small on.
type curve struct {
	sd, beyond V // of the argument; how far its mean lies below the least one
	exp        V // e to the mean
	small, big V // the function, and 1 less it
}

const (
	least = 64 // means lie from −least to 0
	most  = 80 // above them
)

// newCurve takes the size of the mean and the variance of the argument.
func newCurve(size, v V) (c curve) {
	near := Min(least, size)
	c.beyond = Sub(size, near)
	p := ExpParts(Neg(near))
	c.exp = Mul(p.Y(), p.Pow2())
	c.big = inverse(Add(c.exp, Const(1)))
	c.small = Mul(c.exp, c.big)
	if isa.AVX512 {
		c.sd, _ = deviation(v)
	} else {
		c.sd = Sqrt(v)
	}
	return c
}

// A step is δ from the mean up and down.
type step struct {
	rest     V // what δ has beyond the most
	e        V // e^δ − 1
	up, down V // 1/(1 + small·e) and 1/(1 + big·e)
	rise     V // small·e
}

func (c curve) step(x V) (s step) {
	far := Max(0, Sub(Mul(c.sd, x), c.beyond))
	near := Min(most, far)
	s.rest = Sub(far, near)
	p := ExpParts(near)
	two := p.Pow2()
	s.e = AddMul(Sub(two, Const(1)), p.P, two)
	s.rise = Mul(c.small, s.e)
	s.up = inverse(Add(s.rise, Const(1)))
	s.down = inverse(AddMul(one(), c.big, s.e))
	return s
}
