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

// MulTwo is Mul, and then a second one that adds a2·b2. Operands lie row by row.
func MulTwo(dst []float32, ldd int, start []float32, lds int, a, a2 []float32, rows int, b, b2 Right[float32]) {
	_ = dst[(rows-1)*ldd+b.N-1]
	_ = a[rows*b.K-1]
	_ = b.Data[RightLen(b.K, b.N)-1]
	_ = start[(rows-1)*lds+b.N-1]
	_ = a2[rows*b.K-1]
	_ = b2.Data[RightLen(b.K, b.N)-1]
	m := block{dst: dst, start: start, a: a, b: b.Data, a2: a2, b2: b2.Data, n: b.N}
	m.t = tile{ldd: ldd, lds: lds, rs: b.K, cs: 1, step: MR * b.K, ps: b.K * NR, bs: NR, k: b.K}
	m.mulBy(rows)
}

// MulColumnPanels is Mul with a left operand in panels of NR columns: element (i, k) of a is
// a[(k/NR*rows+i)*NR + k%NR]. Each panel is a stretch of k; b.K is a multiple of NR.
func MulColumnPanels(dst []float32, ldd int, a []float32, rows int, b Right[float32]) {
	m := columnPanels(dst, ldd, a, rows, b)
	m.mul(0, rows)
}

// MulColumnPanelsBy writes 2·by∘(a·b) + a2·b2, with left operands in such panels.
func MulColumnPanelsBy(dst []float32, ldd int, by, a, a2 []float32, rows int, b, b2 Right[float32]) {
	_ = by[(rows-1)*ldd+b.N-1]
	m, then := columnPanels(dst, ldd, a, rows, b), columnPanels(dst, ldd, a2, rows, b2)
	m.by = by
	m.a2 = then.a
	m.b2 = then.b
	m.mulBy(rows)
}

func columnPanels(dst []float32, ldd int, a []float32, rows int, b Right[float32]) block {
	_ = dst[(rows-1)*ldd+b.N-1]
	_ = a[rows*b.K-1]
	_ = b.Data[RightLen(b.K, b.N)-1]
	return block{dst: dst, a: a, b: b.Data, n: b.N, t: tile{ldd: ldd, lds: ldd, rs: NR, cs: 1, step: MR * NR,
		ps: b.K * NR, bs: NR, k: NR, more: b.K/NR - 1, jumpA: (rows - 1) * NR}}
}

// MulStretchesBy is mulStretches whose sums begin with 2·start∘by.
func MulStretchesBy(dst []float32, ldd int, start, by []float32, a Stretched[float32], rows int, b Stretched[float32], columns, k, n int) {
	_, _ = start[(rows-1)*ldd+columns-1], by[(rows-1)*ldd+columns-1]
	m := stretches(dst, ldd, a, rows, b, columns, k, n)
	m.start, m.by = start, by
	m.mulBy(rows)
}

// MulStretchesTwo writes the product of a and b to mid, and 2·mid∘by plus that of a2 and b2, which
// lie as a and b do, to dst.
func MulStretchesTwo(dst, mid []float32, ldd int, by []float32, a, a2 Stretched[float32], rows int, b, b2 Stretched[float32], columns, k, n int) {
	_, _ = mid[(rows-1)*ldd+columns-1], by[(rows-1)*ldd+columns-1]
	m, then := stretches(dst, ldd, a, rows, b, columns, k, n), stretches(dst, ldd, a2, rows, b2, columns, k, n)
	m.a2 = then.a
	m.b2 = then.b
	m.mid = mid
	m.by = by
	m.mulBy(rows)
}

// stretches is the block of mulStretches.
func stretches(dst []float32, ldd int, a Stretched[float32], rows int, b Stretched[float32], columns, k, n int) block {
	_ = dst[(rows-1)*ldd+columns-1]
	_, _ = a.Data[a.last((rows-1)/MR, (rows-1)%MR, k, n)], b.Data[b.last((columns-1)/NR, NR-1, k, n)]
	return block{dst: dst, a: a.Data, b: b.Data, n: columns, t: tile{ldd: ldd, lds: ldd, rs: 1, cs: a.Row, step: a.Tile,
		ps: b.Tile, bs: b.Row, k: k, more: n - 1, jumpA: a.Apart - k*a.Row, jumpB: b.Apart - k*b.Row}}
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
