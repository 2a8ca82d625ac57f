package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
)

const unroll = 4

// perPanel is how many vectors a row of a panel takes.
var perPanel = 16 / isa.Lanes

// edgeMask is sixteen set and sixteen clear lanes: loaded w lanes before the
// middle it selects the first w columns.
func edgeMask() Mem {
	if edges.Symbol.Name == "" {
		edges = GLOBL("edgeMask", RODATA|NOPTR)
		for i := range 32 {
			v := U32(0)
			if i < 16 {
				v = ^v
			}
			DATA(4*i, v)
		}
	}
	return edges
}

var edges Mem

// edgeTable is what isa.First wants: the middle is eight lanes in.
func edgeTable() Mem { return edgeMask().Offset(32) }

// tile generates mulN: count tiles of rows × 16, one below the other, against
// one panel of b, of which the first w columns are wanted. Each element is one
// FMA chain: start, then k ascending.
func tile(rows int) {
	isa.Own(fmt.Sprintf("mul%d", rows), "func(t *byte)",
		fmt.Sprintf("multiplies count tiles of %d rows by the first w columns of a panel.", rows))

	dst := load("dst")
	start := load("start")
	a := load("a")
	ldd := bytes("ldd")
	lds := bytes("lds")
	count := load("count")
	x := newRows(rows, bytes("rs"), bytes("cs"))
	acc := accumulators(rows, perPanel)
	spill, more := AllocLocal(rows*64), AllocLocal(8)

	Label("tile")
	startTile(acc, spill, start, lds)
	Label("sum")
	// The stores at the end find their lines in L1.
	prefetchRows(dst, ldd, rows)
	x.begin(a)
	b, ps := load("b"), bytes("ps")
	step := newStep(b, rows)
	newStretch(more).sum(func(u int) {
		if rows == 6 {
			// The next panel comes from afar while this one is at work.
			PREFETCHT1(Mem{Base: b, Index: ps, Scale: 1, Disp: 64 * u})
		}
		right := isa.Vecs(perPanel)
		for c, v := range right {
			VMOVUPS(Mem{Base: b, Disp: step.disp(u) + isa.Bytes*c}, v)
		}
		for r := range rows {
			v := isa.Vec()
			VBROADCASTSS(x.at(r), v)
			for c, w := range right {
				VFMADD231PS(w, v, acc[r][c])
			}
		}
		x.next()
		step.next()
	}, step.advance, func(jumpA, jumpB GPVirtual) {
		x.move(jumpA)
		ADDQ(jumpB, b)
	})

	w := load("w")
	CMPQ(w, Imm(16))
	JNE(LabelRef("edge"))
	TESTQ(start, start)
	JZ(LabelRef("store"))
	CMPQ(count, Imm(1))
	JE(LabelRef("store"))
	TESTQ(U32(4095), lds)
	JNZ(LabelRef("store"))
	readAhead(spill, start, lds, rows)
	storeTile(acc, dst, ldd)
	DECQ(count)
	ADDQ(bytes("step"), a)
	loadSpill(acc, spill)
	JMP(LabelRef("sum"))
	Label("store")
	storeTile(acc, dst, ldd)
	Label("next")
	DECQ(count)
	JZ(LabelRef("done"))
	TESTQ(start, start)
	JZ(LabelRef("advance"))
	for range rows {
		ADDQ(lds, start)
	}
	Label("advance")
	ADDQ(bytes("step"), a)
	JMP(LabelRef("tile"))
	Label("done")
	isa.End()

	Label("edge")
	storeEdge(acc, spill, dst, ldd, w)
	JMP(LabelRef("next"))
}

// readAhead moves start to the next tile and copies that to the stack before
// this tile is stored. Where rows lie a multiple of 4 KiB apart, a load waits
// for the store of the row above, which looks like the same place to the CPU.
func readAhead(spill Mem, start, lds Register, rows int) {
	for range rows {
		ADDQ(lds, start)
	}
	p, v := GP64(), isa.Vecs(perPanel)
	MOVQ(start, p)
	for r := range rows {
		for c, v := range v {
			VMOVUPS(Mem{Base: p, Disp: isa.Bytes * c}, v)
		}
		for c, v := range v {
			VMOVUPS(v, spill.Offset(64*r+isa.Bytes*c))
		}
		ADDQ(lds, p)
	}
}

func loadSpill(acc [][]VecVirtual, spill Mem) {
	for r, row := range acc {
		for c, v := range row {
			VMOVUPS(spill.Offset(64*r+isa.Bytes*c), v)
		}
	}
}

func storeTile(acc [][]VecVirtual, dst, ldd Register) {
	for _, row := range acc {
		for c, v := range row {
			VMOVUPS(v, Mem{Base: dst, Disp: isa.Bytes * c})
		}
		ADDQ(ldd, dst)
	}
}

// startTile sets the accumulators to zero or to the first w columns of start.
func startTile(acc [][]VecVirtual, spill Mem, start, lds Register) {
	TESTQ(start, start)
	JNZ(LabelRef("load"))
	for _, row := range acc {
		for _, v := range row {
			VXORPS(v, v, v)
		}
	}
	JMP(LabelRef("sum"))
	Label("load")
	w, p := load("w"), GP64()
	MOVQ(start, p)
	CMPQ(w, Imm(16))
	JNE(LabelRef("mask"))
	for _, row := range acc {
		for c, v := range row {
			VMOVUPS(Mem{Base: p, Disp: isa.Bytes * c}, v)
		}
		ADDQ(lds, p)
	}
	JMP(LabelRef("sum"))
	Label("mask")
	if isa.NEON {
		to := GP64()
		LEAQ(spill, to)
		moveEdge("from", len(acc), p, lds, to, nil, w)
		loadSpill(acc, spill)
		return
	}
	m := GP64()
	m0 := YMM()
	m1 := YMM()
	LEAQ(edgeMask().Offset(64), m)
	SHLQ(Imm(2), w)
	SUBQ(w, m)
	VMOVUPS(Mem{Base: m}, m0)
	VMOVUPS(Mem{Base: m, Disp: 32}, m1)
	for _, row := range acc {
		VMASKMOVPS(Mem{Base: p}, m0, row[0])
		VMASKMOVPS(Mem{Base: p, Disp: 32}, m1, row[1])
		ADDQ(lds, p)
	}
}

// storeEdge stores w < 16 columns by way of the stack in pieces of 8, 4, 2 and
// 1: masked stores are microcoded on many CPUs. It advances dst by all rows.
func storeEdge(acc [][]VecVirtual, spill Mem, dst, ldd, w Register) {
	for r, row := range acc {
		for c, v := range row {
			VMOVUPS(v, spill.Offset(64*r+isa.Bytes*c))
		}
	}
	from := GP64()
	LEAQ(spill, from)
	moveEdge("row", len(acc), from, nil, dst, ldd, w)
}

// moveEdge moves w < 16 columns of rows. A nil step is that of rows on the stack.
func moveEdge(label string, rows int, from, fromStep, dst, toStep, w Register) {
	left := GP64()
	MOVQ(U32(rows), left)
	Label(label)
	s, d := GP64(), GP64()
	MOVQ(from, s)
	MOVQ(dst, d)
	piece := func(n int, move func()) {
		skip := fmt.Sprintf("%sSkip%d", label, n)
		TESTQ(U32(n), w)
		JZ(LabelRef(skip))
		move()
		ADDQ(Imm(uint64(4*n)), s)
		ADDQ(Imm(uint64(4*n)), d)
		Label(skip)
	}
	eight := isa.Vecs(min(2, perPanel))
	x := XMM()
	g := GP64()
	piece(8, func() {
		for c, v := range eight[:32/isa.Bytes] {
			VMOVUPS(Mem{Base: s, Disp: isa.Bytes * c}, v)
			VMOVUPS(v, Mem{Base: d, Disp: isa.Bytes * c})
		}
	})
	piece(4, func() { VMOVUPS(Mem{Base: s}, x); VMOVUPS(x, Mem{Base: d}) })
	piece(2, func() { MOVQ(Mem{Base: s}, g); MOVQ(g, Mem{Base: d}) })
	piece(1, func() { MOVL(Mem{Base: s}, g.As32()); MOVL(g.As32(), Mem{Base: d}) })
	next := func(p, step Register) {
		if step == nil {
			ADDQ(Imm(64), p)
		} else {
			ADDQ(step, p)
		}
	}
	next(dst, toStep)
	next(from, fromStep)
	DECQ(left)
	JNZ(LabelRef(label))
}
