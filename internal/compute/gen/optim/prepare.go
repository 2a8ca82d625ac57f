package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/vec"
)

// prepare generates what Dense.Prepare does of sixteen weight rows, in whole panels, with AVX-512:
// w̄, s = σ² and w̄²+s go to panels and, while these are in the first cache, to the panels of the
// transposes.
func prepare() {
	isa.Own("prepareAsm", "func(mean, rho *float32, ld int, to, turned *[3]*float32, ps, panels int)",
		"packs sixteen rows of w̄, s and w̄²+s, ld apart, into panels, ps apart, and into those of their transposes.")
	mean := isa.Arg("mean")
	rho := isa.Arg("rho")
	ld := isa.Arg("ld")
	SHLQ(Imm(2), ld)
	left, next := AllocLocal(8), AllocLocal(8) // there are more numbers than registers
	MOVQ(isa.Arg("panels"), left)
	ps := isa.Arg("ps")
	SHLQ(Imm(2), ps)
	SUBQ(U32(16*64), ps) // from behind sixteen rows
	MOVQ(ps, next)
	three := func(name string) (p []reg.GPVirtual) {
		from := isa.Arg(name)
		for i := range 3 {
			p = append(p, GP64())
			MOVQ(Mem{Base: from, Disp: 8 * i}, p[i])
		}
		return p
	}
	to, turned := three("to"), three("turned")
	m := GP64()
	r := GP64()
	rows := GP64()
	row := func(i int) func() {
		at := func(p reg.Register) Mem {
			if i == 0 {
				return Mem{Base: p}
			}
			return Mem{Base: p, Index: ld, Scale: 1}
		}
		return func() {
			rho, w := vec.Reg(at(r)), vec.Reg(at(m))
			s := newSigma(rho, exponential(rho)).sigma
			s = vec.Mul(s, s)
			for k, v := range []vec.V{w, s, vec.Add(vec.Mul(w, w), s)} {
				vec.Put(v, Mem{Base: to[k], Disp: 64 * i})
			}
		}
	}
	hold, turn := vec.Beside(row(0), row(1))

	Label("Panel")
	MOVQ(mean, m)
	MOVQ(rho, r)
	MOVQ(U32(8), rows)
	release := hold()
	Label("Rows")
	turn()
	for _, p := range to {
		ADDQ(U32(128), p)
	}
	LEAQ(Mem{Base: m, Index: ld, Scale: 2}, m)
	LEAQ(Mem{Base: r, Index: ld, Scale: 2}, r)
	DECQ(rows)
	JNZ(LabelRef("Rows"))
	release()
	for k, p := range to {
		for q := range 4 {
			isa.Quads(0, func(r int) Mem { return Mem{Base: p, Disp: 64*(r-16) + 16*q} },
				func(c int, v reg.VecVirtual) { VMOVUPS(v, Mem{Base: turned[k], Disp: 64 * (4*q + c)}) })
		}
		ADDQ(U32(16*64), turned[k])
		ADDQ(next, p)
	}
	ADDQ(Imm(64), mean)
	ADDQ(Imm(64), rho)
	DECQ(left)
	JNZ(LabelRef("Panel"))
	isa.End()
}
