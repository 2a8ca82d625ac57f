package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
	. "utvi/internal/compute/gen/vec"
)

// A pair is what a rule of three points needs whose outer two lie on either side alike, in
// the order the caller puts them in k: a, −a, 1−a, a−1, ξ, the weight w of an outer point, 2w,
// w(1−w) and ½ξ.
type pair struct {
	a, minus, bend, unbend     V
	xi, w, twice, spread, half Op
}

// newPair keeps the factors in registers. If few are left, those that are only multiplied by
// lie on the stack.
func newPair(few bool) (p pair) {
	k := Load(Param("k").Base(), GP64())
	at := func(i int) V {
		r := isa.Vec()
		VBROADCASTSS(Mem{Base: k, Disp: 4 * i}, r)
		return r
	}
	p.a = at(0)
	p.minus = at(1)
	p.bend = at(2)
	p.unbend = at(3)
	rest := []*Op{&p.xi, &p.w, &p.twice, &p.spread, &p.half}
	var local Mem
	if few {
		local = lane.Vectors(len(rest))
	}
	for i, op := range rest {
		v := at(4 + i)
		*op = v
		if few {
			*op = local.Offset(isa.Bytes * i)
			VMOVUPS(v, *op)
		}
	}
	return p
}

// leakyPair emits LeakyThree for such rules and its reverse, with AVX-512.
func leakyPair() {
	isa.Own("elemLeakyPair", "func(k, m, v, mean, variance []float32)")
	streams := named()
	n := count()
	in := streams("m v")
	out := streams("mean variance")
	k := newPair(false)
	Loop("", n, in, out, func(x []V) []V { return k.push(x[0], x[1]) })
	isa.End()

	isa.Own("elemLeakyPairBack", "func(k, m, v, gm, gv, dm, dv []float32)")
	streams = named()
	n = count()
	in = streams("m v gm gv")
	out = streams("dm dv")
	k = newPair(false)
	Loop("", n, in, out, func(x []V) []V { return k.pull(x[0], x[1], x[2], x[3]) })
	isa.End()

	isa.Own("elemLeakyPairPanels", "func(k, m, v, gm, gv, dm, dv []float32, rows, panels int)")
	streams = named()
	in, out = streams("m v gm gv"), streams("dm dv")
	k = newPair(false)
	LoopRows(isa.Arg("rows"), isa.Arg("panels"), true, in, out, func() {}, func(x []V, _ reg.Register) []V {
		return k.pull(x[0], x[1], x[2], x[3])
	})
	isa.End()
	leakyPairOne()
	leakyPairOuter()
	leakyPairSum()
}

// leakyPairOne emits the reverse with the gradients of a dense layer of one output behind, which
// backOne would write: ∂m = 2m∘(h·s) + g·w̄ and ∂v = h·(w̄²+s).
func leakyPairOne() {
	isa.Own("elemLeakyPairOne", "func(k, m, v, mean, w, g, h, dm, dv []float32, rows, panels int)")
	streams := named()
	in, out := streams("m v mean"), streams("dm dv")
	w := streams("w")[0]
	g := streams("g")[0]
	h := streams("h")[0]
	k := newPair(false)
	panels := isa.Arg("panels")
	s, second := GP64(), GP64()
	MOVQ(panels, second)
	SHLQ(Imm(6), second)
	LEAQ(Mem{Base: w, Index: second, Scale: 1}, s)
	ADDQ(s, second)
	byMean, byVar := isa.Vec(), isa.Vec()
	LoopRows(isa.Arg("rows"), panels, true, in, out, func() {
		VBROADCASTSS(Mem{Base: g}, byMean)
		VBROADCASTSS(Mem{Base: h}, byVar)
		ADDQ(Imm(4), g)
		ADDQ(Imm(4), h)
	}, func(x []V, c reg.Register) []V {
		at := func(p reg.Register) Op { return Mem{Base: p, Index: c, Scale: 4} }
		gm := Mul(byVar, at(s))
		gm = AddMul(Mul(Add(gm, gm), x[2]), byMean, at(w))
		return k.pull(x[0], x[1], gm, Mul(byVar, at(second)))
	})
	isa.End()
}

// leakyPairOuter emits the function of a dense layer with one input x, whose moments are x·w + bm
// and x²·s + bs, and the squares of the means that it makes of them.
func leakyPairOuter() {
	isa.Own("elemLeakyPairOuter", "func(k, x, w, s, bm, bs, mean, variance, squares []float32, rows, vectors int)")
	streams := named()
	x, out := streams("x")[0], streams("mean variance squares")
	columns := streams("w s bm bs")
	k := newPair(false)
	by, square := isa.Vec(), isa.Vec()
	LoopRows(isa.Arg("rows"), isa.Arg("vectors"), false, nil, out, func() {
		VBROADCASTSS(Mem{Base: x}, by)
		VMULPS(by, by, square)
		ADDQ(Imm(4), x)
	}, func(_ []V, c reg.Register) []V {
		at := func(i int) Op { return Mem{Base: columns[i], Index: c, Scale: 4} }
		o := k.push(AddMul(Reg(at(2)), by, at(0)), AddMul(Reg(at(3)), square, at(1)))
		return append(o, Mul(o[0], o[0]))
	})
	isa.End()
}

// leakyPairSum emits the gradients of such a layer from those by the function's outputs: sums over
// all rows, of one vector of outputs after the other.
func leakyPairSum() {
	isa.Own("elemLeakyPairSum", "func(k, x, w, s, bm, bs, gm, gv, gw, gs, gbm, gbs []float32, rows, vectors, add int)")
	streams := named()
	from := streams("gm gv")
	k := newPair(true)
	left := isa.Arg("vectors")
	stride := GP64()
	c := GP64()
	MOVQ(left, stride)
	SHLQ(Imm(6), stride)
	XORQ(c, c)
	column := func(name string) Mem { return Mem{Base: Load(Param(name).Base(), GP64()), Index: c, Scale: 1} }
	to := []string{"gw", "gs", "gbm", "gbs"}

	Label("Column")
	sums := isa.Vecs(4)
	start := isa.Arg("add")
	TESTQ(start, start)
	JNZ(LabelRef("Start"))
	for _, v := range sums {
		isa.Clear(v)
	}
	JMP(LabelRef("Sum"))
	Label("Start")
	for i, v := range sums {
		VMOVUPS(column(to[i]), v)
	}
	Label("Sum")
	w := column("w")
	s := column("s")
	bm := column("bm")
	bs := column("bs")
	x := Load(Param("x").Base(), GP64())
	rows := isa.Arg("rows")
	row := GP64()
	XORQ(row, row)
	Label("Row")
	by := isa.Vec()
	square := isa.Vec()
	gm := isa.Vec()
	gv := isa.Vec()
	VBROADCASTSS(Mem{Base: x}, by)
	VMULPS(by, by, square)
	VMOVUPS(Mem{Base: from[0], Index: row, Scale: 1}, gm)
	VMOVUPS(Mem{Base: from[1], Index: row, Scale: 1}, gv)
	Whole(func() {
		d := k.pull(AddMul(Reg(bm), by, w), AddMul(Reg(bs), square, s), gm, gv)
		AddMul(sums[0], d[0], by)
		AddMul(sums[1], d[1], square)
		AddInto(sums[2], d[0])
		AddInto(sums[3], d[1])
	})
	ADDQ(Imm(4), x)
	ADDQ(stride, row)
	DECQ(rows)
	JNZ(LabelRef("Row"))
	for i, v := range sums {
		VMOVUPS(v, column(to[i]))
	}
	ADDQ(Imm(64), c)
	ADDQ(Imm(64), from[0])
	ADDQ(Imm(64), from[1])
	DECQ(left)
	JNZ(LabelRef("Column"))
	isa.End()
}

// push goes by d = ξσ and p, by which the function at the outer point beyond the kink exceeds
// the line through m with slope g, a or 1; u is ±g·d, the other point's distance:
//
//	p = (1−a)·max(0, d − |m|)        mean = g·m + w·p        variance = 2w·u·(u−p) + w(1−w)·p²
//
// On one side of the kink p is exactly zero: nothing cancels, however small σ is beside m.
func (k pair) push(m, v V) []V {
	p := k.look(m, Sqrt(v)) // there is little else to do while the divider is busy
	mean := AddMul(Mul(m, p.g), p.p, k.w)
	return []V{mean, AddMul(Mul(Mul(p.p, k.spread), p.p), Mul(p.u, k.twice), Sub(p.u, p.p))}
}

// A sight is what the points of an element see: where m > 0, where the kink lies between them.
type sight struct{ right, kink, g, sign, u, p V }

func (k pair) look(m, s V) (x sight) {
	d := Mul(s, k.xi)
	beyond := Sub(d, Abs(m))
	x.kink = Compare(beyond, NotAtMost, Zero())
	x.p = MulIn(x.kink, beyond, k.bend)
	x.right = Compare(m, Greater, Zero())
	x.g, x.sign = Select(x.right, one(), k.a), Select(x.right, one(), k.minus)
	x.u = Mul(x.sign, d)
	return x
}

// pull takes gradients gm, gv by mean and variance back to m and v: to compute the Jacobian
// again takes less time than to write its four planes and to read them. p is −(1−a)·|m| + (1−a)·d
// where the kink lies between the points, and q the gradient by p; without p, mean and variance
// depend on m by g·m and on d by 2w·u².
func (k pair) pull(m, v, gm, gv V) []V {
	s, over, some := Roots(v)
	x := k.look(m, s)
	u2 := Mul(x.u, k.twice)
	byP := MulSub(Mul(x.p, k.spread), Hold(2), u2)
	q := AddMul(Mul(gm, k.w), byP, gv)
	dm := Mul(gm, x.g)
	SubMulWhere(x.kink, dm, q, Select(x.right, k.bend, k.unbend))
	byD := Mul(gv, Mul(SubMul(Add(u2, u2), x.p, k.twice), x.sign))
	AddMulWhere(x.kink, byD, q, k.bend)
	return []V{dm, MulWhere(some, Mul(gv, Mul(x.g, x.g)), byD, Mul(over, k.half))}
}
