// Command rand generates the kernel of rng.Normals. It never fuses a multiply
// and an add: it has to give the bits of the scalar definition.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
	"utvi/internal/compute/gen/out"
)

func main() {
	isa.Func("normalsQuad", "func(d0, d1, d2, d3 *float32, groups int, unit uint32, p *[20]uint32)",
		"writes samples 0 … 3 of groups of units, a vector each, into four planes, the",
		"first plane last. p comes from rng.Rounds.")
	var plane [4]Register
	for i, name := range []string{"d0", "d1", "d2", "d3"} {
		plane[i] = Load(Param(name), GP64())
	}
	groups := Load(Param("groups"), GP64())
	table := Mem{Base: Load(Param("p"), GP64())}

	// Units sit in the low halves of 64-bit lanes, where VPMULUDQ reads: the
	// even ones in one register, the odd ones in another.
	even := isa.Vec()
	VMOVD(Load(Param("unit"), GP32()), even.AsX())
	VPBROADCASTD(even.AsX(), even)
	VPADDD(lane.Quads("counts", func(i int) uint64 { return uint64(2 * i) }), even, even)
	var evens OpmaskVirtual
	if isa.AVX512 {
		evens = K()
		bits := GP32()
		MOVL(U32(0x5555), bits)
		KMOVW(bits, evens)
	}
	offset := GP64()
	XORQ(offset, offset)

	// Two groups at a time, stage by stage, so that the long chains of one run
	// beside those of the other; then the group that is left.
	const together = 2
	words := lane.Vectors(4 * together) // word i of group g; radii in place of words 0, 2
	word := func(i, g int) Mem { return words.Offset(isa.Bytes * (4*g + i)) }
	both := func(i, g int) pair {
		p := pair{isa.Vec(), isa.Vec()}
		VMOVAPS(word(i, g), p[0])
		VMOVAPS(word(i+2, g), p[1])
		return p
	}
	normals := func(count int) {
		for g := range count {
			odd := isa.Vec()
			VPADDD(lane.Word(1), even, odd)
			for i, w := range philox(table, even, odd, evens) {
				VMOVAPS(w, word(i, g))
			}
			VPADDD(lane.Word(uint32(isa.Lanes)), even, even)
		}
		for g := range count {
			for i, r := range radius(both(0, g)) {
				VMOVAPS(r, word(2*i, g))
			}
		}
		for g := range count {
			c, s := direction(both(1, g))
			for i := 1; i >= 0; i-- { // the first plane last
				VMULPS(word(2*i, g), s[i], s[i])
				VMULPS(word(2*i, g), c[i], c[i])
				VMOVUPS(s[i], Mem{Base: plane[2*i+1], Index: offset, Scale: 1, Disp: isa.Bytes * g})
				VMOVUPS(c[i], Mem{Base: plane[2*i], Index: offset, Scale: 1, Disp: isa.Bytes * g})
			}
		}
		ADDQ(I32(isa.Bytes*count), offset)
	}
	SUBQ(Imm(together), groups)
	JLT(LabelRef("few"))
	Label("many")
	normals(together)
	SUBQ(Imm(together), groups)
	JGE(LabelRef("many"))
	Label("few")
	ADDQ(Imm(together), groups)
	JZ(LabelRef("done"))
	normals(1)
	Label("done")
	isa.End()

	out.Write("rand", "kernel", "isa", "lane")
}
