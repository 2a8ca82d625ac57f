package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/lane"
)

// philox returns the four words of eight units. The table holds what the first
// two rounds need of the row and the quad, which are the same for all units,
// then the keys of rounds 3 … 10.
func philox(table Mem, even, odd VecVirtual) [4]VecVirtual {
	half := [2]VecVirtual{even, odd}
	mul0, mul1 := lane.Quad(0xD2511F53), lane.Quad(0xCD9E8D57)
	entry := func(i int) VecVirtual {
		k := YMM()
		VPBROADCASTD(table.Offset(4*i), k)
		return k
	}
	var c [2][4]VecVirtual
	x1, x2, x3, x4 := entry(0), entry(1), entry(2), entry(3)
	for h := range half {
		p0, c2 := YMM(), YMM() // round 1: only the word of the unit varies
		VPMULUDQ(mul0, half[h], p0)
		VPSRLQ(Imm(32), p0, c2)
		VPXOR(x1, c2, c2)
		p1, c0 := YMM(), YMM() // round 2: the first word does not vary yet
		VPMULUDQ(mul1, c2, p1)
		VPSRLQ(Imm(32), p1, c0)
		VPXOR(x2, c0, c0)
		d2 := YMM()
		VPXOR(x3, p0, d2)
		c[h] = [4]VecVirtual{c0, p1, d2, x4}
	}
	for round := 2; round < 10; round++ {
		k0, k1 := entry(2*round), entry(2*round+1)
		for h := range half {
			p0, p1, c0, c2 := YMM(), YMM(), YMM(), YMM()
			VPMULUDQ(mul0, c[h][0], p0)
			VPMULUDQ(mul1, c[h][2], p1)
			VPXOR(k0, c[h][1], c0)
			VPXOR(k1, c[h][3], c2)
			hi0, hi1 := YMM(), YMM()
			VPSRLQ(Imm(32), p1, hi1)
			VPSRLQ(Imm(32), p0, hi0)
			VPXOR(hi1, c0, c0)
			VPXOR(hi0, c2, c2)
			c[h] = [4]VecVirtual{c0, p1, c2, p0}
		}
	}
	var w [4]VecVirtual
	for i := range w {
		w[i] = YMM()
		VPSLLQ(Imm(32), c[1][i], w[i])
		VPBLENDD(Imm(0b01010101), c[0][i], w[i], w[i])
	}
	return w
}
