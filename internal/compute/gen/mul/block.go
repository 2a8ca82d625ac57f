package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
)

// block generates mulRxC of AVX-512: a tile of rows × 16·panels against neighbouring
// panels of b; of the last panel the columns up to w are wanted. Twelve rows are two
// tiles of six of the left operand, step apart, and of those there are count, one below
// the other. Each element is one FMA chain: start, then k ascending; then, if there is a second
// product, a2·b2, that goes on from there.
func block(rows, panels int) {
	isa.Own(fmt.Sprintf("mul%dx%d", rows, 16*panels), "func(t *byte)",
		fmt.Sprintf("multiplies %d rows, count times if 12, by the first w columns of %d panels.", rows, panels))
	t := tile512{rows: rows, panels: panels, acc: accumulators(rows, panels), more: AllocLocal(8), then: AllocLocal(8), by: AllocLocal(8)}
	t.dst = load("dst")
	t.start = load("start")
	t.a = load("a")
	MOVQ(load("by"), t.by)
	t.lastColumns()
	if rows < 12 {
		t.begin()
		Label("sum")
		t.sum(nil)
		t.store(t.dst)
		isa.End()
		return
	}
	Attributes(0) // the stack may have to grow for what is read ahead
	spill, count := AllocLocal(64*rows*panels), load("count")

	Label("tile")
	t.begin()
	Label("sum")
	t.sum(count)
	TESTQ(t.start, t.start)
	JZ(LabelRef("store"))
	CMPQ(count, Imm(1))
	JE(LabelRef("store"))
	lds := bytes("lds")
	TESTQ(lds, lds)
	JZ(LabelRef("store"))
	TESTQ(U32(4095), lds)
	JNZ(LabelRef("store"))
	by := GP64()
	MOVQ(t.by, by)
	TESTQ(by, by)
	JNZ(LabelRef("store"))
	t.readAhead(spill, lds)
	t.store(t.dst)
	DECQ(count)
	t.advance()
	t.each(func(r, p int, v VecVirtual) { VMOVUPS(spill.Offset(64*(r*panels+p)), v) })
	JMP(LabelRef("sum"))

	Label("store")
	t.store(t.dst)
	DECQ(count)
	JZ(LabelRef("done"))
	TESTQ(t.start, t.start)
	JZ(LabelRef("advance"))
	lds = bytes("lds")
	for range rows {
		ADDQ(lds, t.start)
	}
	Label("advance")
	t.advance()
	JMP(LabelRef("tile"))
	Label("done")
	isa.End()
}

// A tile512 is a tile in registers, with the pointers that go from tile to tile.
type tile512 struct {
	rows, panels  int
	acc           [][]VecVirtual
	dst, start, a GPVirtual
	last          *isa.Mask // of the last panel
	more          Mem       // stretches of k that follow
	then          Mem       // the left operand of the second product, until its turn
	by            Mem       // goes from tile to tile
}

func (t *tile512) each(do func(r, p int, v VecVirtual)) {
	for r, row := range t.acc {
		for p, v := range row {
			do(r, p, v)
		}
	}
}

// mask is that of panel p: all columns but in the last one.
func (t *tile512) mask(p int) *isa.Mask {
	if p < t.panels-1 {
		return nil
	}
	return t.last
}

func (t *tile512) lastColumns() {
	w := load("w")
	if t.panels > 1 {
		SUBQ(Imm(uint64(16*(t.panels-1))), w)
	}
	t.last = isa.First(w, nil)
}

// begin sets the accumulators to zero or to start.
func (t *tile512) begin() {
	TESTQ(t.start, t.start)
	JNZ(LabelRef("load"))
	t.each(func(_, _ int, v VecVirtual) { isa.Clear(v) })
	JMP(LabelRef("sum"))
	Label("load")
	lds, from := bytes("lds"), GP64()
	MOVQ(t.start, from)
	t.each(func(r, p int, v VecVirtual) {
		t.mask(p).Load(Mem{Base: from, Disp: 64 * p}, v)
		if p == t.panels-1 && r < t.rows-1 {
			ADDQ(lds, from)
		}
	})
	two := load("a2") // times by later
	TESTQ(two, two)
	JNZ(LabelRef("sum"))
	t.twiceTimes("sum", lds)
}

// twiceTimes multiplies the accumulators by twice a tile of by, or jumps to none if there is no by.
func (t *tile512) twiceTimes(none string, lds GPVirtual) {
	by := GP64()
	MOVQ(t.by, by)
	TESTQ(by, by)
	JZ(LabelRef(none))
	t.each(func(r, p int, v VecVirtual) {
		w := isa.Vec()
		t.mask(p).Load(Mem{Base: by, Disp: 64 * p}, w)
		VADDPS(v, v, v)
		VMULPS(w, v, v)
		if p == t.panels-1 {
			ADDQ(lds, by)
		}
	})
	MOVQ(by, t.by)
}

// sum adds the products over k; count is how many tiles of twelve rows are left.
func (t *tile512) sum(count GPVirtual) {
	rs, cs := bytes("rs"), bytes("cs")
	ldd, to := bytes("ldd"), GP64()
	MOVQ(t.dst, to)
	for r := range t.rows { // the stores at the end find their lines in L1
		PREFETCHT0(Mem{Base: to})
		PREFETCHT0(Mem{Base: to, Disp: 64*t.panels - 4})
		if r < t.rows-1 {
			ADDQ(ldd, to)
		}
	}
	tiles := []walk{newRows(min(t.rows, 6), rs, cs)}
	tiles[0].begin(t.a)
	if t.rows > 6 {
		below := GP64()
		MOVQ(t.a, below)
		ADDQ(bytes("step"), below)
		tiles = append(tiles, newRows(t.rows-6, rs, cs))
		tiles[1].begin(below)
	}
	b, ps := load("b"), bytes("ps")
	MOVQ(load("a2"), t.then)
	next := GP64()
	if t.rows == 12 { // every second line of one of the next two panels, tile by tile in turn
		line := GP64()
		MOVQ(count, next)
		ANDQ(Imm(1), next)
		IMULQ(ps, next)
		LEAQ(Mem{Base: next, Index: ps, Scale: 2}, next)
		MOVQ(count, line)
		ANDQ(Imm(2), line)
		SHLQ(Imm(5), line)
		ADDQ(line, next)
	}
	step := newStep(b, t.rows)
	stretch := newStretch(t.more)
	stretch.sum(func(u int) {
		right := isa.Vecs(t.panels)
		for p, v := range right {
			m := Mem{Base: b, Disp: step.disp(u)}
			if p > 0 {
				m.Index, m.Scale = ps, uint8(p)
			}
			VMOVUPS(m, v)
		}
		if t.rows == 12 && u%2 == 0 { // it comes from afar while these are at work
			PREFETCHT1(Mem{Base: b, Index: next, Scale: 1, Disp: 64 * u})
		}
		for r := range t.rows {
			v := isa.Vec()
			VBROADCASTSS(tiles[r/6].at(r%6), v)
			for p := range t.panels {
				VFMADD231PS(right[p], v, t.acc[r][p])
			}
		}
		for _, x := range tiles {
			x.next()
		}
		step.next()
	}, step.advance, func(jumpA, jumpB GPVirtual) {
		for _, x := range tiles {
			x.move(jumpA)
		}
		ADDQ(jumpB, b)
	})
	t.second(stretch, tiles, b)
}

// second goes on with the second product, once. Before, what was summed is written to mid and counts
// twice, times by, if there are such.
func (t *tile512) second(s stretch, tiles []walk, b GPVirtual) {
	left := GP64()
	MOVQ(t.then, left)
	TESTQ(left, left)
	JZ(LabelRef("finished"))
	mid := load("mid")
	TESTQ(mid, mid)
	JZ(LabelRef("kept"))
	ADDQ(t.dst, mid)
	SUBQ(load("dst"), mid) // of the first tile
	t.store(mid)
	Label("kept")
	t.twiceTimes("again", bytes("lds"))
	Label("again")
	from, none := GP64(), GP64()
	MOVQ(t.then, from)
	XORQ(none, none)
	MOVQ(none, t.then)
	SUBQ(load("a"), from)
	ADDQ(t.a, from)
	tiles[0].begin(from)
	if len(tiles) > 1 {
		ADDQ(bytes("step"), from)
		tiles[1].begin(from)
	}
	MOVQ(load("more"), t.more)
	MOVQ(load("b2"), b)
	MOVQ(load("k"), s.k)
	JMP(LabelRef("stretch"))
	Label("finished")
}

// store writes the tile and moves to behind it.
func (t *tile512) store(to GPVirtual) {
	ldd := bytes("ldd")
	t.each(func(_, p int, v VecVirtual) {
		t.mask(p).Store(v, Mem{Base: to, Disp: 64 * p})
		if p == t.panels-1 {
			ADDQ(ldd, to)
		}
	})
}

// readAhead moves start to the next tile and copies that to the stack before
// this tile is stored. Where rows lie a multiple of 4 KiB apart, a load waits
// for the store of the row above, which looks like the same place to the CPU.
func (t *tile512) readAhead(spill Mem, lds GPVirtual) {
	for range t.rows {
		ADDQ(lds, t.start)
	}
	from := GP64()
	MOVQ(t.start, from)
	t.each(func(r, p int, _ VecVirtual) {
		v := isa.Vec()
		t.mask(p).Load(Mem{Base: from, Disp: 64 * p}, v)
		VMOVUPS(v, spill.Offset(64*(r*t.panels+p)))
		if p == t.panels-1 && r < t.rows-1 {
			ADDQ(lds, from)
		}
	})
}

// advance moves a to the next tile.
func (t *tile512) advance() {
	step := bytes("step")
	ADDQ(step, t.a)
	ADDQ(step, t.a)
}
