package vec

import (
	"slices"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"

	"utvi/internal/compute/gen/isa"
)

var maskTable Mem

// lanes is eight lanes of ones before eight of zeros.
func lanes() Mem {
	if maskTable.Symbol.Name == "" {
		maskTable = GLOBL("lanes", attr.RODATA|attr.NOPTR)
		for i := range 8 {
			DATA(8*i, U64(^uint64(0)*uint64((7-i)/4)))
		}
	}
	return maskTable
}

// Loop emits a loop over n > 0 elements that maps the streams at in to those at
// out, two vectors interleaved at a time if the registers suffice, with
// constants in those left over; then one by one. The last few elements go
// through the same body with masked loads (the other lanes zero) and stores.
// label makes the labels unique within the function; the registers in in, out
// and n are used up. Emitters of this package only may appear in body, and what
// body carries from turn to turn may change by single instructions only.
func Loop(label string, n reg.GPVirtual, in, out []reg.Register, body func(x []V) []V) {
	LoopAsking(nil, label, n, in, out, body)
}

// LoopAsking is Loop that also asks for the cache lines of as many elements at soon, which others
// read next: they come while this loop computes.
func LoopAsking(soon []reg.Register, label string, n reg.GPVirtual, in, out []reg.Register, body func(x []V) []V) {
	i := GP64()
	XORQ(i, i)
	vectors := 2
	turn := func() []*ir.Instruction { return interleave(block(i, 0, in, out, body), block(i, 1, in, out, body)) }
	if pressure(turn()) > isa.NumRegisters {
		vectors = 1
		turn = func() []*ir.Instruction { return block(i, 0, in, out, body) }
	}
	release := pin(isa.NumRegisters-pressure(turn()), func() { block(i, 0, in, out, body) })
	step := uint64(vectors * isa.Lanes)
	Label(label + "Main")
	CMPQ(n, Imm(step))
	JLT(LabelRef(label + "Next"))
	ask(soon, i, vectors)
	emit(turn())
	ADDQ(Imm(step), i)
	SUBQ(Imm(step), n)
	JNE(LabelRef(label + "Main"))
	JMP(LabelRef(label + "Done"))
	release()
	finish(label, i, n, in, out, body)
}

// ask asks for the lines of so many vectors, from element i on, of each stream.
func ask(streams []reg.Register, i reg.Register, vectors int) {
	for line := 0; line < vectors*isa.Bytes; line += 64 {
		for _, p := range streams {
			PREFETCHT0(Mem{Base: p, Index: i, Scale: 4, Disp: line})
		}
	}
}

// LoopAhead is Loop for a body that waits long for its first results, which begin
// computes from the inputs. With sixteen registers, which do not suffice for two vectors,
// those of the next one are computed ahead, so that what waits for them does not fill the
// window in which a processor looks for work. Elsewhere first is nil: the body computes
// them where it needs them, which an Intel processor with AVX-512 does in less time.
func LoopAhead(label string, n reg.GPVirtual, in, out []reg.Register, begin func(x []V) []V, body func(x, first []V) []V) {
	both := func(x []V) []V { return body(x, nil) }
	if isa.NumRegisters > 16 {
		Loop(label, n, in, out, both)
		return
	}
	i := GP64()
	XORQ(i, i)
	var first []V
	ahead := func(b int) ([]*ir.Instruction, []V) {
		var y []V
		x := isa.Vecs(len(in))
		code := record(func() { y = begin(x) })
		return append(loads(code, i, b, in, x), code...), y
	}
	turn := func() []*ir.Instruction {
		code, next := ahead(1)
		code = append(code, block(i, 0, in, out, func(x []V) []V { return body(x, first) })...)
		return append(code, record(func() {
			for k, v := range next {
				put(x86.VMOVAPS(v, first[k]))
			}
		})...)
	}
	two := Imm(uint64(2 * isa.Lanes))
	CMPQ(n, two)
	JLT(LabelRef(label + "Next"))
	code, y := ahead(0)
	emit(code)
	first = y
	release := pin(isa.NumRegisters-pressure(turn()), func() { turn() })
	Label(label + "Main")
	emit(turn())
	ADDQ(Imm(uint64(isa.Lanes)), i)
	SUBQ(Imm(uint64(isa.Lanes)), n)
	CMPQ(n, two)
	JGE(LabelRef(label + "Main"))
	release()
	finish(label, i, n, in, out, both)
}

// A Stage of a loop maps the streams at In to those at Out.
type Stage struct {
	In, Out []reg.Register
	Body    func(x []V) []V
}

func (s Stage) block(i reg.Register, b int) []*ir.Instruction {
	return block(i, b, s.In, s.Out, s.Body)
}

// LoopBehind is Loop for a body in two stages, with AVX-512. The second stage, which reads what the
// first one wrote, is two vectors behind it: the chains of dependent instructions of each are half
// as long, and there are twice as many of them at a time.
func LoopBehind(n reg.GPVirtual, first, second Stage) {
	i := GP64()
	XORQ(i, i)
	turn := func() []*ir.Instruction {
		return spread(interleave(first.block(i, 0), first.block(i, 1)), interleave(second.block(i, -2), second.block(i, -1)))
	}
	release := pin(isa.NumRegisters-pressure(turn()), func() { first.block(i, 0); second.block(i, 0) })
	step := uint64(2 * isa.Lanes)
	CMPQ(n, Imm(step))
	JLT(LabelRef("Next"))
	emit(interleave(first.block(i, 0), first.block(i, 1)))
	Label("Main")
	ADDQ(Imm(step), i)
	SUBQ(Imm(step), n)
	CMPQ(n, Imm(step))
	JLT(LabelRef("Last"))
	emit(turn())
	JMP(LabelRef("Main"))
	Label("Last")
	emit(interleave(second.block(i, -2), second.block(i, -1)))
	release()
	TESTQ(n, n)
	JZ(LabelRef("Done"))
	Label("Next")
	for _, s := range []Stage{first, second} {
		masked("", i, n, s.In, s.Out, s.Body)
	}
	ADDQ(Imm(uint64(isa.Lanes)), i)
	SUBQ(Imm(uint64(isa.Lanes)), n)
	JGT(LabelRef("Next"))
	Label("Done")
}

// LoopRows is Loop over rows of so many whole vectors, for AVX-512. The streams at in lie row by
// row; those at out get rows as well or, if inPanels is set, panels of one vector a row, one
// panel behind the other. begin emits what precedes a row; the body finds the vector of its
// column with the index c.
func LoopRows(rows, vectors reg.GPVirtual, inPanels bool, in, out []reg.Register, begin func(), body func(x []V, c reg.Register) []V) {
	i, c := GP64(), GP64()
	end := AllocLocal(8)
	jump := AllocLocal(8)
	back := AllocLocal(8) // there are more pointers than registers
	XORQ(i, i)
	if inPanels {
		x, y := GP64(), GP64()
		MOVQ(rows, x) // from panel to panel, less the vector by which i has moved
		DECQ(x)
		SHLQ(Imm(6), x)
		MOVQ(x, jump)
		LEAQ(Mem{Base: x, Disp: isa.Bytes}, y)
		IMULQ(vectors, y)
		SUBQ(Imm(uint64(isa.Bytes)), y)
		MOVQ(y, back)
	}
	SHLQ(Imm(4), vectors)
	MOVQ(vectors, end)
	turn := func() []*ir.Instruction {
		return block(i, 0, in, out, func(x []V) []V { return body(x, c) })
	}
	release := pin(isa.NumRegisters-pressure(turn()), func() { turn() })
	Label("Row")
	begin()
	XORQ(c, c)
	Label("Vector")
	emit(turn())
	ADDQ(Imm(uint64(isa.Lanes)), i)
	ADDQ(Imm(uint64(isa.Lanes)), c)
	if inPanels {
		for _, p := range out {
			ADDQ(jump, p)
		}
	}
	CMPQ(c, end)
	JNE(LabelRef("Vector"))
	if inPanels {
		for _, p := range out {
			SUBQ(back, p)
		}
	}
	DECQ(rows)
	JNZ(LabelRef("Row"))
	release()
}

// Beside emits pieces of code, one instruction of each in turn, in a loop that emits nothing else
// with vectors. Before the loop, hold brings constants to the registers that are left; release
// gives them back.
func Beside(pieces ...func()) (hold func() (release func()), turn func()) {
	code := func() []*ir.Instruction {
		var all [][]*ir.Instruction
		for _, p := range pieces {
			all = append(all, whole(record(p), nil))
		}
		return interleave(all...)
	}
	hold = func() func() { return pin(isa.NumRegisters-pressure(code()), func() { code() }) }
	return hold, func() { emit(code()) }
}

// Whole emits a piece of code without the masks that nobody reads.
func Whole(piece func()) { emit(whole(record(piece), nil)) }

func emit(code []*ir.Instruction) {
	for _, i := range code {
		put(i, nil)
	}
}

// finish is the loop over what is left, and the end of both loops.
func finish(label string, i, n reg.GPVirtual, in, out []reg.Register, body func(x []V) []V) {
	Label(label + "Next")
	masked(label, i, n, in, out, body)
	width := isa.Lanes
	if isa.NEON {
		width = 1
	}
	ADDQ(Imm(uint64(width)), i)
	SUBQ(Imm(uint64(width)), n)
	JGT(LabelRef(label + "Next"))
	Label(label + "Done")
}

// loads returns the loads of those x that code reads: vector b of the streams at in.
func loads(code []*ir.Instruction, i reg.Register, b int, in []reg.Register, x []V) (l []*ir.Instruction) {
	for k, p := range in {
		if slices.ContainsFunc(code, func(j *ir.Instruction) bool { return has(j.InputRegisters(), x[k]) }) {
			l = append(l, record(func() { put(x86.VMOVUPS(at(p, i, b), x[k])) })...)
		}
	}
	return l
}

// at is the address of vector b counted from element i.
func at(p, i reg.Register, b int) Mem { return Mem{Base: p, Index: i, Scale: 4, Disp: isa.Bytes * b} }

// block returns the code of the body for one whole vector, with each load as
// late and each store as early as can be. A stream may be read and written.
func block(i reg.Register, b int, in, out []reg.Register, body func(x []V) []V) []*ir.Instruction {
	x := isa.Vecs(len(in))
	var y []V
	code := record(func() { y = body(x) })
	code = whole(code, y)
	before, after := make([][]*ir.Instruction, len(code)), make([][]*ir.Instruction, len(code))
	first := map[reg.Register]int{} // by stream
	for k, p := range in {
		u := slices.IndexFunc(code, func(i *ir.Instruction) bool { return has(i.InputRegisters(), x[k]) })
		if u < 0 { // what it is needed for was computed ahead
			continue
		}
		first[p] = u
		before[u] = append(before[u], record(func() { put(x86.VMOVUPS(at(p, i, b), x[k])) })...)
	}
	for k, p := range out {
		last := len(code) - 1
		for !has(code[last].OutputRegisters(), y[k]) {
			last--
		}
		last = max(last, first[p])
		after[last] = append(after[last], record(func() { put(x86.VMOVUPS(y[k], at(p, i, b))) })...)
	}
	var all []*ir.Instruction
	for k := range code {
		all = append(append(append(all, before[k]...), code[k]), after[k]...)
	}
	return all
}

func has(rs []reg.Register, r reg.Register) bool {
	return slices.ContainsFunc(rs, func(q reg.Register) bool { return reg.Equal(q, r) })
}

// masked emits the body for one vector of at most n elements.
func masked(label string, i, n reg.GPVirtual, in, out []reg.Register, body func(x []V) []V) {
	x := isa.Vecs(len(in))
	var y []V
	run := func() {
		for _, i := range whole(record(func() { y = body(x) }), y) {
			put(i, nil)
		}
	}
	load := func(m *isa.Mask) {
		for k, p := range in {
			m.Load(at(p, i, 0), x[k])
		}
	}
	store := func(m *isa.Mask) {
		for k, p := range out {
			m.Store(y[k], at(p, i, 0))
		}
	}
	if isa.NEON {
		load(isa.One)
		run()
		store(isa.One)
		return
	}
	if isa.AVX512 { // a mask of n ≥ 16 lanes has them all
		m := isa.First(n, nil)
		load(m)
		run()
		store(m)
		return
	}
	ready := label + "Ready"
	part := label + "Part"
	last := label + "Last"
	stored := label + "Stored"
	CMPQ(n, Imm(8))
	JLT(LabelRef(part))
	load(nil)
	JMP(LabelRef(ready))
	Label(part)
	load(isa.First(n, lanes))
	Label(ready)
	run()
	CMPQ(n, Imm(8))
	JLT(LabelRef(last))
	store(nil)
	JMP(LabelRef(stored))
	Label(last)
	store(isa.First(n, lanes))
	Label(stored)
}
