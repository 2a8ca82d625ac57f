// Command rand generates the kernel of rng.Normals. It never fuses a multiply
// and an add: it has to give the bits of the scalar definition.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/compute/gen/lane"
	"utvi/compute/gen/out"
)

func main() {
	TEXT("normalsQuad", NOSPLIT, "func(d0, d1, d2, d3 *float32, groups int, unit uint32, p *[20]uint32)")
	Doc("normalsQuad writes samples 0 … 3 of 8·groups units into four planes, the",
		"first plane last. p comes from rng.Rounds.")
	Pragma("noescape")
	var plane [4]Register
	for i, name := range []string{"d0", "d1", "d2", "d3"} {
		plane[i] = Load(Param(name), GP64())
	}
	groups := Load(Param("groups"), GP64())
	table := Mem{Base: Load(Param("p"), GP64())}

	// Units sit in the low halves of 64-bit lanes, where VPMULUDQ reads: the
	// even ones in one register, the odd ones in another.
	even := YMM()
	VMOVD(Load(Param("unit"), GP32()), even.AsX())
	VPBROADCASTD(even.AsX(), even)
	VPADDD(lane.Quads([4]uint64{0, 2, 4, 6}), even, even)
	offset := GP64()
	XORQ(offset, offset)

	Label("group")
	odd := YMM()
	VPADDD(lane.Word(1), even, odd)
	w := philox(table, even, odd)
	VPADDD(lane.Word(8), even, even)

	z := boxMuller(w)
	for i := 3; i >= 0; i-- {
		VMOVUPS(z[i], Mem{Base: plane[i].(GPVirtual), Index: offset, Scale: 1})
	}
	ADDQ(Imm(32), offset)
	DECQ(groups)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()

	out.Write("rand", "lane")
}
