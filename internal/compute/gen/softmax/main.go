// Command softmax generates the moments of softmaxes, eight side by side, in float64: sums of two
// exponentials and the logistic function at the points of a rule, and their reverse.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
	"utvi/internal/compute/gen/out"
)

func main() {
	join()
	joinBack()
	logistic()
	logisticBack()
	out.Write("softmax", "kernel", "isa", "lane")
}

// Where the fields of kernel.Joined and kernel.SoftmaxNodes lie.
const (
	lanes         = 64 // bytes of eight numbers
	joinOrder     = 5
	logisticOrder = 15
	offVar        = lanes
	offMean       = 2 * lanes
	offG          = 3 * lanes
	offSlope      = offG + joinOrder*lanes
	offJoinW      = 8 * joinOrder
	offLogisticX  = 16 * joinOrder
	offLogisticW  = offLogisticX + 8*logisticOrder
	signBit       = uint64(1) << 63
	magic         = 3 << 51
	least         = -708 // its exponential is a normal number
)

// halves emits body for the bytes of a register at a time.
func halves(body func(at int)) {
	for at := 0; at < lanes; at += isa.Bytes {
		body(at)
	}
	lane.End()
}

func constant(c float64) Mem { return lane.Quad(math.Float64bits(c)) }

func load(from Mem) VecVirtual {
	v := isa.Vec()
	VMOVUPD(from, v)
	return v
}

func at(base Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

// all is a number in all lanes.
func all(base Register, disp int) VecVirtual {
	v := isa.Vec()
	VBROADCASTSD(at(base, disp), v)
	return v
}

// some returns x where by > 0, else 0.
func some(by, x VecVirtual) VecVirtual {
	const greater = U8(0x1e)
	zero, r := isa.Vec(), isa.Vec()
	VXORPD(zero, zero, zero)
	if isa.AVX512 {
		k := K()
		VCMPPD(greater, zero, by, k)
		VMOVAPD_Z(x, k, r)
		return r
	}
	VCMPPD(greater, zero, by, r)
	VANDPD(x, r, r)
	return r
}

// bySign returns yes where t has a sign, else no.
func bySign(t, yes, no VecVirtual) VecVirtual {
	r := isa.Vec()
	if isa.AVX512 {
		k := K()
		VPMOVQ2M(t, k)
		VBLENDMPD(yes, no, k, r)
		return r
	}
	VBLENDVPD(t, yes, no, r)
	return r
}

// exp is the exponential of −|t|, within about 1e-16.
func exp(t VecVirtual) VecVirtual {
	x := isa.Vec()
	VORPD(lane.Quad(signBit), t, x)
	VMAXPD(constant(least), x, x)
	n := load(constant(magic))
	VFMADD231PD(constant(math.Log2E), x, n)
	k := isa.Vec()
	VSUBPD(constant(magic), n, k)
	high := math.Float64frombits(math.Float64bits(math.Ln2) &^ (1<<21 - 1))
	VFNMADD231PD(constant(high), k, x)
	VFNMADD231PD(constant(lowLn2), k, x)
	p := load(constant(1 / factorial(13)))
	for i := 12; i >= 0; i-- {
		VFMADD213PD(constant(1/factorial(i)), x, p)
	}
	VPSLLQ(U8(52), n, n)
	VPADDQ(n, p, p)
	return p
}

// lowLn2 is what ln 2 is larger than its first 32 digits.
const lowLn2 = 1.90821492927058770002e-10

func factorial(n int) float64 {
	f := 1.0
	for i := 2; i <= n; i++ {
		f *= float64(i)
	}
	return f
}

// log is ln y for 1 ≤ y ≤ 2, within about 1e-16: with z = (y−√2)/(y+√2) it is ln √2 + 2 artanh z.
func log(y VecVirtual) VecVirtual {
	z, d := isa.Vec(), isa.Vec()
	VADDPD(constant(math.Sqrt2), y, d)
	VSUBPD(constant(math.Sqrt2), y, z)
	VDIVPD(d, z, z)
	VMULPD(z, z, d)
	s := load(constant(2.0 / 21))
	for i := 19; i > 0; i -= 2 {
		VFMADD213PD(constant(2/float64(i)), d, s)
	}
	VFMADD213PD(constant(math.Ln2/2), z, s)
	return s
}

func join() {
	lane.Func("joinAsm", "func(l, am, av, bm, bv, nodes *float64)", "computes Join.")
	l := lane.Arg("l")
	am, av := lane.Arg("am"), lane.Arg("av")
	bm, bv := lane.Arg("bm"), lane.Arg("bv")
	nodes := lane.Arg("nodes")
	halves(func(h int) {
		a, b := load(at(av, h)), load(at(bv, h))
		v, sd := isa.Vec(), isa.Vec()
		VADDPD(b, a, v)
		VSQRTPD(v, sd)
		r := isa.Vec()
		VDIVPD(sd, a, r)
		r = some(v, r)
		VDIVPD(v, b, b)
		VMULPD(a, b, b)
		share := some(v, b)
		first := load(at(am, h))
		mu := load(at(bm, h))
		VSUBPD(first, mu, mu)
		mean := isa.Vec()
		VXORPD(mean, mean, mean)
		for q := range joinOrder {
			x := all(nodes, 8*q)
			t := isa.Vec()
			VMULPD(x, sd, t)
			VADDPD(mu, t, t)
			e := exp(t)
			y := isa.Vec()
			VADDPD(constant(1), e, y)
			g := log(y)
			one := load(constant(1))
			slope := bySign(t, e, one)
			VDIVPD(y, slope, slope)
			VMOVUPD(slope, at(l, offSlope+lanes*q+h))
			top := isa.Vec()
			VXORPD(top, top, top)
			VMAXPD(top, t, top)
			VADDPD(top, g, g)
			VMULPD(r, x, x)
			VSUBPD(x, g, g)
			VMOVUPD(g, at(l, offG+lanes*q+h))
			VFMADD231PD(all(nodes, offJoinW+8*q), g, mean)
		}
		VMOVUPD(mean, at(l, offMean+h))
		variance := isa.Vec()
		VXORPD(variance, variance, variance)
		for q := range joinOrder {
			g := load(at(l, offG+lanes*q+h))
			VSUBPD(mean, g, g)
			VMULPD(g, g, g)
			VFMADD231PD(all(nodes, offJoinW+8*q), g, variance)
		}
		variance = some(v, variance)
		VADDPD(share, variance, variance)
		VADDPD(first, mean, mean)
		VMOVUPD(mean, at(l, h))
		VMOVUPD(variance, at(l, offVar+h))
	})
}

func joinBack() {
	lane.Func("joinBackAsm", "func(dam, dav, dbm, dbv, dm, dv, av, bv, l, nodes *float64)", "computes JoinBack.")
	dam, dav := lane.Arg("dam"), lane.Arg("dav")
	dbm, dbv := lane.Arg("dbm"), lane.Arg("dbv")
	dm, dv := lane.Arg("dm"), lane.Arg("dv")
	av, bv := lane.Arg("av"), lane.Arg("bv")
	l, nodes := lane.Arg("l"), lane.Arg("nodes")
	halves(func(h int) {
		mean := load(at(l, offMean+h))
		gm, gv := load(at(dm, h)), load(at(dv, h))
		twice := isa.Vec()
		VADDPD(gv, gv, twice)
		dmu, dsd := isa.Vec(), isa.Vec()
		dr := isa.Vec()
		VXORPD(dmu, dmu, dmu)
		VXORPD(dsd, dsd, dsd)
		VXORPD(dr, dr, dr)
		for q := range joinOrder {
			d := load(at(l, offG+lanes*q+h))
			VSUBPD(mean, d, d)
			VFMADD213PD(gm, twice, d)
			VMULPD(all(nodes, offJoinW+8*q), d, d)
			x := all(nodes, 8*q)
			VFNMADD231PD(x, d, dr)
			VMULPD(at(l, offSlope+lanes*q+h), d, d)
			VADDPD(d, dmu, dmu)
			VFMADD231PD(x, d, dsd)
		}
		a, b := load(at(av, h)), load(at(bv, h))
		v, sd := isa.Vec(), isa.Vec()
		VADDPD(b, a, v)
		VSQRTPD(v, sd)
		VDIVPD(v, a, a) // shares of the variance
		VDIVPD(v, b, b)
		VFNMADD231PD(a, dr, dsd)
		VADDPD(sd, sd, v)
		VDIVPD(v, dsd, dsd)
		VDIVPD(sd, dr, dr)
		VADDPD(dsd, dr, dr)
		VMULPD(b, b, b)
		VFMADD231PD(gv, b, dr)
		VMULPD(a, a, a)
		VFMADD231PD(gv, a, dsd)
		VSUBPD(dmu, gm, gm)
		for _, to := range []struct {
			base Register
			x    VecVirtual
		}{{dam, gm}, {dav, dr}, {dbm, dmu}, {dbv, dsd}} {
			VADDPD(at(to.base, h), to.x, to.x)
			VMOVUPD(to.x, at(to.base, h))
		}
	})
}

func logistic() {
	lane.Func("logisticAsm", "func(p, variance, f, m, v, nodes *float64)", "computes Logistic.")
	p, variance := lane.Arg("p"), lane.Arg("variance")
	f := lane.Arg("f")
	m, v := lane.Arg("m"), lane.Arg("v")
	nodes := lane.Arg("nodes")
	halves(func(h int) {
		sd := isa.Vec()
		VSQRTPD(at(v, h), sd)
		mu := load(at(m, h))
		mean := isa.Vec()
		VXORPD(mean, mean, mean)
		for q := range logisticOrder {
			t := all(nodes, offLogisticX+8*q)
			VMULPD(sd, t, t)
			VADDPD(mu, t, t)
			e := exp(t)
			y := isa.Vec()
			VADDPD(constant(1), e, y)
			one := load(constant(1))
			s := bySign(t, e, one)
			VDIVPD(y, s, s)
			VMOVUPD(s, at(f, lanes*q+h))
			if q > 0 {
				VSUBPD(at(f, h), s, s)
				VFMADD231PD(all(nodes, offLogisticW+8*q), s, mean)
			}
		}
		sum := isa.Vec()
		VXORPD(sum, sum, sum)
		first := load(at(f, h))
		for q := range logisticOrder {
			d := load(at(f, lanes*q+h))
			VSUBPD(first, d, d)
			VSUBPD(mean, d, d)
			VMULPD(d, d, d)
			VFMADD231PD(all(nodes, offLogisticW+8*q), d, sum)
		}
		VADDPD(first, mean, mean)
		VMOVUPD(mean, at(p, h))
		VMOVUPD(sum, at(variance, h))
	})
}

func logisticBack() {
	lane.Func("logisticBackAsm", "func(dm, dv, gm, gv, p, v, f, nodes *float64)", "computes LogisticBack.")
	dm, dv := lane.Arg("dm"), lane.Arg("dv")
	gm, gv := lane.Arg("gm"), lane.Arg("gv")
	p, v := lane.Arg("p"), lane.Arg("v")
	f, nodes := lane.Arg("f"), lane.Arg("nodes")
	halves(func(h int) {
		mean, g := load(at(p, h)), load(at(gm, h))
		twice := load(at(gv, h))
		VADDPD(twice, twice, twice)
		sum, far := isa.Vec(), isa.Vec()
		VXORPD(sum, sum, sum)
		VXORPD(far, far, far)
		for q := range logisticOrder {
			s := load(at(f, lanes*q+h))
			d, rest := isa.Vec(), isa.Vec()
			VSUBPD(mean, s, d)
			VFMADD213PD(g, twice, d)
			VMULPD(all(nodes, offLogisticW+8*q), d, d)
			VMULPD(s, d, d)
			VMOVUPD(constant(1), rest)
			VSUBPD(s, rest, rest)
			VMULPD(rest, d, d)
			VADDPD(d, sum, sum)
			VFMADD231PD(all(nodes, offLogisticX+8*q), d, far)
		}
		sd := isa.Vec()
		VSQRTPD(at(v, h), sd)
		VADDPD(sd, sd, sd)
		VDIVPD(sd, far, far)
		VMOVUPD(sum, at(dm, h))
		VMOVUPD(far, at(dv, h))
	})
}
