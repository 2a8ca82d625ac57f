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
	registers, width := isa.NumRegisters, isa.Lanes
	main, next, done := label+"Main", label+"Next", label+"Done"
	i := GP64()
	XORQ(i, i)
	turn := func() []*ir.Instruction { return interleave(block(i, 0, in, out, body), block(i, 1, in, out, body)) }
	step := uint64(2 * width)
	if pressure(turn()) > registers {
		turn = func() []*ir.Instruction { return block(i, 0, in, out, body) }
		step = uint64(width)
	}
	release := pin(registers-pressure(turn()), func() { block(i, 0, in, out, body) })
	Label(main)
	CMPQ(n, Imm(step))
	JLT(LabelRef(next))
	for _, i := range turn() {
		put(i, nil)
	}
	ADDQ(Imm(step), i)
	SUBQ(Imm(step), n)
	JNE(LabelRef(main))
	JMP(LabelRef(done))
	release()

	Label(next)
	masked(label, i, n, in, out, body)
	if isa.NEON {
		width = 1
	}
	ADDQ(Imm(uint64(width)), i)
	SUBQ(Imm(uint64(width)), n)
	JGT(LabelRef(next))
	Label(done)
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
	ready, part, last, stored := label+"Ready", label+"Part", label+"Last", label+"Stored"
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
