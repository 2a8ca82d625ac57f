package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
)

// philox returns the four words of a vector of units. The table holds what the first
// two rounds need of the row and the quad, which are the same for all units,
// then the keys of rounds 3 … 10. evens are the even lanes, with AVX-512.
func philox(table Mem, even, odd VecVirtual, evens OpmaskVirtual) [4]VecVirtual {
	half := [2]VecVirtual{even, odd}
	mul0, mul1 := lane.Quad(0xD2511F53), lane.Quad(0xCD9E8D57)
	entry := func(i int) VecVirtual {
		k := isa.Vec()
		VPBROADCASTD(table.Offset(4*i), k)
		return k
	}
	var c [2][4]VecVirtual
	x1 := entry(0)
	x2 := entry(1)
	x3 := entry(2)
	x4 := entry(3)
	for h := range half {
		p0, c2 := isa.Vec(), isa.Vec() // round 1: only the word of the unit varies
		VPMULUDQ(mul0, half[h], p0)
		VPSRLQ(Imm(32), p0, c2)
		xor(x1, c2, c2)
		p1, c0 := isa.Vec(), isa.Vec() // round 2: the first word does not vary yet
		VPMULUDQ(mul1, c2, p1)
		VPSRLQ(Imm(32), p1, c0)
		xor(x2, c0, c0)
		d2 := isa.Vec()
		xor(x3, p0, d2)
		c[h] = [4]VecVirtual{c0, p1, d2, x4}
	}
	for round := 2; round < 10; round++ {
		k0, k1 := entry(2*round), entry(2*round+1)
		for h := range half {
			p0 := isa.Vec()
			p1 := isa.Vec()
			c0 := isa.Vec()
			c2 := isa.Vec()
			VPMULUDQ(mul0, c[h][0], p0)
			VPMULUDQ(mul1, c[h][2], p1)
			xor(k0, c[h][1], c0)
			xor(k1, c[h][3], c2)
			hi0, hi1 := isa.Vec(), isa.Vec()
			VPSRLQ(Imm(32), p1, hi1)
			VPSRLQ(Imm(32), p0, hi0)
			xor(hi1, c0, c0)
			xor(hi0, c2, c2)
			c[h] = [4]VecVirtual{c0, p1, c2, p0}
		}
	}
	var w [4]VecVirtual
	for i := range w {
		w[i] = isa.Vec()
		VPSLLQ(Imm(32), c[1][i], w[i])
		if isa.AVX512 {
			VMOVDQA32(c[0][i], evens, w[i])
		} else {
			VPBLENDD(Imm(0b01010101), c[0][i], w[i], w[i])
		}
	}
	return w
}

// xor and and are those of AVX2, or of AVX-512, which names them by the width of lanes.
func xor(a, b, dst Op) {
	if isa.AVX512 {
		VPXORD(a, b, dst)
	} else {
		VPXOR(a, b, dst)
	}
}

func and(a, b, dst Op) {
	if isa.AVX512 {
		VPANDD(a, b, dst)
	} else {
		VPAND(a, b, dst)
	}
}
