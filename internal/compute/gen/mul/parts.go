package main

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
)

// fields are those of compute's tile, eight bytes each.
var fields = []string{"dst", "ldd", "start", "lds", "a", "rs", "cs", "step", "b", "ps", "bs", "k", "w", "count", "b2", "more", "jumpA", "jumpB", "by", "a2", "mid"}

// load reads a field of the tile t into a register.
func load(name string) GPVirtual {
	i := slices.Index(fields, name)
	if i < 0 {
		panic("no field " + name)
	}
	r := GP64()
	MOVQ(Mem{Base: param("t"), Disp: 8 * i}, r)
	return r
}

// param reads a parameter into a register.
func param(name string) GPVirtual {
	r := GP64()
	Load(Param(name), r)
	return r
}

// bytes reads a stride given in elements and turns it into bytes.
func bytes(name string) GPVirtual {
	r := load(name)
	SHLQ(Imm(2), r)
	return r
}

func accumulators(rows, vectors int) [][]VecVirtual {
	acc := make([][]VecVirtual, rows)
	for r := range acc {
		acc[r] = isa.Vecs(vectors)
	}
	return acc
}

// A walk reaches up to six rows of a with two moving pointers: rows 0 to 2
// from low, 3 to 5 from high.
type walk struct {
	rows      int
	rs, cs    GPVirtual
	low, high GPVirtual
}

func newRows(rows int, rs, cs GPVirtual) walk {
	return walk{rows, rs, cs, GP64(), GP64()}
}

func (x walk) begin(a Register) {
	MOVQ(a, x.low)
	if x.rows > 3 {
		LEAQ(Mem{Base: a, Index: x.rs, Scale: 2}, x.high)
		ADDQ(x.rs, x.high)
	}
}

func (x walk) at(r int) Mem {
	base := x.low
	if r >= 3 {
		base, r = x.high, r-3
	}
	if r == 0 {
		return Mem{Base: base}
	}
	return Mem{Base: base, Index: x.rs, Scale: uint8(r)}
}

func (x walk) next() { x.move(x.cs) }

func (x walk) move(by Register) {
	ADDQ(by, x.low)
	if x.rows > 3 {
		ADDQ(by, x.high)
	}
}

// prefetchRows asks for the line in which each row of sixteen ends.
func prefetchRows(p, stride Register, rows int) {
	q := GP64()
	LEAQ(Mem{Base: p, Disp: 60}, q)
	for r := range rows {
		PREFETCHT0(Mem{Base: q})
		if r < rows-1 {
			ADDQ(stride, q)
		}
	}
}

// A step goes through a right operand, from k to k. Rows of a panel lie one after the other.
// One or two rows also take a right operand that is no panel; to add its distance in every
// turn would cost more rows up to a twentieth of their time.
type step struct{ b, bs GPVirtual }

func newStep(b GPVirtual, rows int) step {
	if rows > 2 {
		return step{b: b}
	}
	return step{b, bytes("bs")}
}

// disp is where turn u of an unrolled loop finds its row.
func (s step) disp(u int) int {
	if s.bs != nil {
		return 0
	}
	return 64 * u
}

// next ends a turn, advance u of them.
func (s step) next() {
	if s.bs != nil {
		ADDQ(s.bs, s.b)
	}
}

func (s step) advance(u int) {
	if s.bs == nil {
		ADDQ(I32(64*u), s.b)
	}
}

// A stretch is a sum over k that may go on elsewhere: more is the place on the stack of
// how many stretches follow.
type stretch struct {
	more Mem
	k    GPVirtual
}

// newStretch begins the sum over the tile's k.
func newStretch(more Mem) stretch {
	MOVQ(load("more"), more)
	return stretch{more, load("k")}
}

// sum runs body k times in each stretch; advance moves pointers by u steps, and jump from
// the end of one stretch to the beginning of the next.
func (s stretch) sum(body, advance func(u int), jump func(a, b GPVirtual)) {
	Label("stretch")
	loop(s.k, body, advance)
	left := GP64()
	MOVQ(s.more, left)
	DECQ(left)
	JLT(LabelRef("summed"))
	MOVQ(left, s.more)
	a, b := bytes("jumpA"), bytes("jumpB")
	jump(a, b)
	MOVQ(Mem{Base: param("t"), Disp: 8 * slices.Index(fields, "k")}, s.k)
	JMP(LabelRef("stretch"))
	Label("summed")
}

// loop runs body k times, unrolled; advance moves pointers by u steps.
func loop(k Register, body, advance func(u int)) {
	SUBQ(Imm(unroll), k)
	JLT(LabelRef("rest"))
	Label("by4")
	for u := range unroll {
		body(u)
	}
	advance(unroll)
	SUBQ(Imm(unroll), k)
	JGE(LabelRef("by4"))
	Label("rest")
	ADDQ(Imm(unroll), k)
	JZ(LabelRef("end"))
	Label("by1")
	body(0)
	advance(1)
	DECQ(k)
	JNZ(LabelRef("by1"))
	Label("end")
}
