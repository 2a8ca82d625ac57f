package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var maskTable Mem

// lanes returns the address of a mask for the first n < 8 lanes.
func lanes(n reg.Register) Mem {
	if maskTable.Symbol.Name == "" {
		maskTable = GLOBL("lanes", 8|16)
		for i := range 8 {
			DATA(8*i, U64(^uint64(0)*uint64((7-i)/4)))
		}
	}
	at := GP64()
	LEAQ(maskTable.Offset(32), at)
	back := GP64()
	MOVQ(n, back)
	SHLQ(Imm(2), back)
	SUBQ(back, at)
	return Mem{Base: at}
}

// Loop emits a loop over n > 0 elements, eight at a time, that maps the streams
// at in to those at out. The last few elements go through the same body with
// masked loads (the other lanes zero) and stores. label makes the labels unique
// within the function; the registers in in, out and n are used up.
func Loop(label string, n reg.Register, in, out []reg.Register, body func(x []V) []V) {
	next, ready, part, last, done := label+"Next", label+"Ready", label+"Part", label+"Last", label+"Done"
	i := GP64()
	XORQ(i, i)
	at := func(p reg.Register) Mem { return Mem{Base: p, Index: i, Scale: 4} }
	var x []V
	for range in {
		x = append(x, YMM())
	}

	Label(next)
	CMPQ(n, Imm(8))
	JLT(LabelRef(part))
	for k, p := range in {
		VMOVUPS(at(p), x[k])
	}
	Label(ready)
	y := body(x)
	CMPQ(n, Imm(8))
	JLT(LabelRef(last))
	for k, p := range out {
		VMOVUPS(y[k], at(p))
	}
	ADDQ(Imm(8), i)
	SUBQ(Imm(8), n)
	JNE(LabelRef(next))
	JMP(LabelRef(done))

	Label(part)
	mask := Reg(lanes(n))
	for k, p := range in {
		VMASKMOVPS(at(p), mask, x[k])
	}
	JMP(LabelRef(ready))

	Label(last)
	mask = Reg(lanes(n))
	for k, p := range out {
		VMASKMOVPS(y[k], mask, at(p))
	}
	Label(done)
}
