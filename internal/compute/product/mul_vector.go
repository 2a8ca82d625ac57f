//go:build amd64 || arm64

package product

import (
	"unsafe"

	"utvi/internal/compute/internal/cpu"
)

// What is used together stays in cache: kBlock rows of a panel of b take
// 16 KiB of L1, rowBlock × kBlock of a and rowBlock × colBlock of dst take 96 KiB of L2.
const (
	kBlock   = 256
	rowBlock = 16 * MR
	colBlock = 16 * NR
)

// kDepth is how many k a block takes. The larger tiles of AVX-512 read a panel from L2
// as fast as from L1, so that dst is read and written half as often where L2 holds more.
func kDepth() int {
	if cpu.Wide && cpu.Cache.L2 >= 1<<20 {
		return 2 * kBlock
	}
	return kBlock
}

// rowDepth is how many rows a block of so many k takes: those of AVX-512 fill a quarter of L2, so
// that b, which may come from afar, is read less often.
func rowDepth(k int) int {
	if !cpu.Wide {
		return rowBlock
	}
	return max(rowBlock, (cpu.Cache.L2/16/k+2*MR-1)/(2*MR)*2*MR)
}

// tile is what the vector kernels are told; its layout is known to gen/mul.
// Strides are in elements.
type tile struct {
	dst    *float32
	ldd    int
	start  *float32
	lds    int
	a      *float32
	rs, cs int
	step   int // in a, from one tile to the next
	b      *float32
	ps     int // from panel to panel
	bs     int // from one k to the next
	k      int
	w      int // columns wanted of the panel, or panels
	count  int // tiles of rows, one below the other
	b2     *float32

	more         int // stretches of k that follow the first
	jumpA, jumpB int // from the end of one to the beginning of the next

	// What follows only the tiles of AVX-512 with more than two rows know.
	by  *float32 // start or, with a second product, the first one counts twice, times this; nil: once
	a2  *float32 // the second product's left operand, b2 is its right one; nil: there is none
	mid *float32 // where the first product is written, too, rows ldd apart; nil: nowhere
}

// ptr is how the generated declarations take a tile, a type avo cannot name.
func (t *tile) ptr() *byte { return (*byte)(unsafe.Pointer(t)) }

// mulVector is Mul for CPUs with vector kernels. The caller has checked bounds; b.K > 0. It is the
// one place that chooses a way by the shape of a product.
func mulVector(to *Sum[float32], a *Left[float32], rows int, b *Right[float32]) {
	switch {
	case b.K == 1:
		mulOne(to, a, rows, b)
	case b.N <= MaxDot && a.column == 1 && b.K > MaxDot:
		mulColumns(to, a, rows, b)
	case a.column != MR && b.K >= packK && b.N >= packN && rows > MR:
		mulPacked(to, a, rows, b)
	default:
		mulBlocks(to, a, rows, b)
	}
}

// mulBlocks cuts a product into blocks whose operands fit the caches.
func mulBlocks(to *Sum[float32], a *Left[float32], rows int, b *Right[float32]) {
	depth, width := kDepth(), b.N
	if rows <= 2 {
		depth = b.K // b is read once, in order
	} else if a.column == MR {
		width = colBlock // of dst, which stays in L2 from one block of k to the next
	}
	height := rowDepth(min(depth, b.K))
	for i := 0; i < rows; i += height {
		for j := 0; j < b.N; j += width {
			start := to.start
			startLd := to.startLd
			for k := 0; k < b.K; k += depth {
				m := block{dst: to.dst[j:], a: a.data[k*a.column:], b: b.Data[j*b.K+k*NR:], n: min(width, b.N-j)}
				if start != nil {
					m.start = start[j:]
				}
				m.t = tile{ldd: to.ld, lds: startLd, rs: a.row, cs: a.column, step: a.tile, ps: b.K * NR, bs: NR, k: min(depth, b.K-k)}
				m.mul(i, min(height, rows-i))
				start = to.dst // the chain goes on from what the last block left
				startLd = to.ld
			}
		}
	}
}

// A block is a product whose operands fit the caches.
type block struct {
	dst, start, a, b []float32
	by               []float32 // as far apart as start; see tile
	a2, b2, mid      []float32 // a second product that is added; see tile
	n                int
	t                tile
}

// at points the tile at row i and column j.
func (m *block) at(i, j, count int) tile {
	t := m.t
	t.dst = &m.dst[i*t.ldd+j]
	t.a = &m.a[i/MR*t.step+i%MR*t.rs]
	t.b = &m.b[j/NR*t.ps]
	if m.start != nil {
		t.start = &m.start[i*t.lds+j]
	}
	t.w, t.count = min(NR, m.n-j), count
	if cpu.Wide {
		t.w = min(2*NR, m.n-j)
	}
	return t
}

// mul goes panel by panel, each used by all rows from row i while it is in L1.
func (m *block) mul(i, rows int) {
	if cpu.Wide {
		m.mulWide(i, rows)
		return
	}
	if m.t.bs != NR { // only the kernels of few rows take what is no panel
		for ; rows > 0; i, rows = i+2, rows-2 {
			m.thin(i, min(2, rows))
		}
		return
	}
	full, rest := rows/MR, rows%MR
	for j := 0; j < m.n && rows > 2; j += NR {
		if full > 0 {
			t := m.at(i, j, full)
			t.six()
		}
		if rest > 2 {
			t := m.at(i+full*MR, j, 1)
			t.few(rest)
		}
	}
	if rest == 1 || rest == 2 {
		m.thin(i+full*MR, rest)
	}
}

// thin multiplies one or two rows. They have too few independent sums in one
// panel to keep the FMA units busy, so they take several panels at once.
func (m *block) thin(i, rows int) {
	j := 0
	for step := 4 * NR / rows; j+step <= m.n; j += step {
		t := m.at(i, j, 1)
		if rows == 1 {
			t.one64()
		} else {
			t.two32()
		}
	}
	if rows == 1 && j+2*NR <= m.n {
		t := m.at(i, j, 1)
		t.one32()
		j += 2 * NR
	}
	for ; j < m.n; j += NR {
		t := m.at(i, j, 1)
		t.few(rows)
	}
}

// mulStretchesVector is MulStretches for CPUs with vector kernels.
func mulStretchesVector(to *Sum[float32], a, b Stretched[float32], size Extent) {
	m := stretches(*to, a, b, size)
	m.mul(0, size.Rows)
}

// stretches is the block of MulStretches. The caller has checked bounds.
func stretches(to Sum[float32], a, b Stretched[float32], size Extent) block {
	k := size.K
	return block{dst: to.dst, start: to.start, a: a.Data, b: b.Data, n: size.Columns,
		t: tile{ldd: to.ld, lds: to.startLd, rs: 1, cs: a.Row, step: a.Tile, ps: b.Tile, bs: b.Row, k: k,
			more: size.N - 1, jumpA: a.Apart - k*a.Row, jumpB: b.Apart - k*b.Row}}
}
