package product

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
)

// Two products of which the second adds to the first, in one kernel of AVX-512: a tile stays in
// registers from one to the other. It would take as long to write it and to read it again as a
// twentieth of the products of 128 rows and columns.

// TakesTwo reports whether mulTwo takes a product of so many rows, k and n columns.
func TakesTwo(rows, k, n int) bool {
	return cpu.Wide && rows > 2 && k > 1 && k <= kDepth() && n > MaxDot
}

// MulTwo is Mul of Rows, and then a second one that adds a2·b2.
func MulTwo(to Sum[float32], a, a2 []float32, rows int, b, b2 Right[float32]) {
	to.check(rows, b.N)
	_ = a[rows*b.K-1]
	_ = b.Data[RightLen(b.K, b.N)-1]
	_ = a2[rows*b.K-1]
	_ = b2.Data[RightLen(b.K, b.N)-1]
	m := block{dst: to.dst, start: to.start, a: a, b: b.Data, a2: a2, b2: b2.Data, n: b.N}
	m.t = tile{ldd: to.ld, lds: to.startLd, rs: b.K, cs: 1, step: MR * b.K, ps: b.K * NR, bs: NR, k: b.K}
	m.mulBy(rows)
}

// MulColumnPanels is Mul with a left operand in panels of NR columns: element (i, k) of a is
// a[(k/NR*rows+i)*NR + k%NR]. Each panel is a stretch of k; b.K is a multiple of NR. There is
// no start.
func MulColumnPanels(to Sum[float32], a []float32, rows int, b Right[float32]) {
	m := columnPanels(to, a, rows, b)
	m.mul(0, rows)
}

// MulColumnPanelsBy writes 2·by∘(a·b) + a2·b2, with left operands in such panels.
func MulColumnPanelsBy(to Sum[float32], by, a, a2 []float32, rows int, b, b2 Right[float32]) {
	_ = by[(rows-1)*to.ld+b.N-1]
	m, then := columnPanels(to, a, rows, b), columnPanels(to, a2, rows, b2)
	m.by = by
	m.a2 = then.a
	m.b2 = then.b
	m.mulBy(rows)
}

func columnPanels(to Sum[float32], a []float32, rows int, b Right[float32]) block {
	to.check(rows, b.N)
	_ = a[rows*b.K-1]
	_ = b.Data[RightLen(b.K, b.N)-1]
	return block{dst: to.dst, a: a, b: b.Data, n: b.N, t: tile{ldd: to.ld, lds: to.ld, rs: NR, cs: 1, step: MR * NR,
		ps: b.K * NR, bs: NR, k: NR, more: b.K/NR - 1, jumpA: (rows - 1) * NR}}
}

// MulStretchesBy is MulStretches whose sums begin with 2·start∘by; start lies as dst does.
func MulStretchesBy(to Sum[float32], by []float32, a, b Stretched[float32], size Extent) {
	checkStretches(to, a, b, size)
	_ = by[(size.Rows-1)*to.ld+size.Columns-1]
	m := stretches(to, a, b, size)
	m.by = by
	m.mulBy(size.Rows)
}

// MulStretchesTwo writes the first product to mid, and 2·mid∘by plus the second, whose operands
// lie as those of the first do, to the sum's place, which has no start.
func MulStretchesTwo(to Sum[float32], mid, by []float32, first, second Factors, size Extent) {
	checkStretches(to, first.A, first.B, size)
	checkStretches(to, second.A, second.B, size)
	last := (size.Rows-1)*to.ld + size.Columns - 1
	_ = mid[last]
	_ = by[last]
	to.startLd = to.ld // by lies as dst does
	m := stretches(to, first.A, first.B, size)
	m.a2 = second.A.Data
	m.b2 = second.B.Data
	m.mid = mid
	m.by = by
	m.mulBy(size.Rows)
}

// mulBy is mul of all rows. The kernels of one and two rows know neither by nor a second product.
func (m *block) mulBy(rows int) {
	if rest := rows % (2 * MR); rest != 8 && (rest%MR == 1 || rest%MR == 2) {
		rows -= rest % MR
		m.mulLast(rows, rest%MR)
	}
	m.mul(0, rows)
}

// mulLast is mul of n rows from row i on, one product after the other.
func (m *block) mulLast(i, n int) {
	last := *m
	last.by = nil
	last.a2 = nil
	last.b2 = nil
	last.mid = nil
	onward := func() { last.start, last.t.lds = m.dst, m.t.ldd }
	if m.a2 != nil {
		last.mul(i, n)
		onward()
		last.a, last.b = m.a2, m.b2
	}
	for r := i; r < i+n; r++ {
		dst := m.dst[r*m.t.ldd:][:m.n]
		if m.mid != nil {
			copy(m.mid[r*m.t.ldd:], dst)
		}
		if m.by != nil {
			kernel.TwiceMulTo(dst, last.start[r*last.t.lds:], m.by[r*m.t.lds:])
		}
	}
	if m.by != nil {
		onward()
	}
	last.mul(i, n)
}
