//go:build amd64 || arm64

package product

import (
	"unsafe"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// From packK × packN on, copying a into panels pays: rows far apart share
// cache sets, and a is read once per panel of b.
const packK, packN = 512, 256

// mulPacked copies a, block by block, into panels of MR rows on the stack.
func mulPacked(to *Sum[float32], a *Left[float32], rows int, b *Right[float32]) {
	var panels [rowBlock * kBlock]float32 // more would go to the heap
	for i := 0; i < rows; i += rowBlock {
		part := to.at(i, 0)
		n := min(rowBlock, rows-i)
		for k := 0; k < b.K; k += kBlock {
			depth := min(kBlock, b.K-k)
			for r := 0; r < n; r += MR {
				packTile(panels[r*depth:], a.data[(i+r)*a.row+k*a.column:], a.row, a.column, min(MR, n-r), depth)
			}
			m := block{dst: part.dst, start: part.start, a: panels[:], b: b.Data[k*NR:], n: b.N}
			m.t = tile{ldd: part.ld, lds: part.startLd, rs: 1, cs: MR, step: MR * depth, ps: b.K * NR, bs: NR, k: depth}
			m.mul(0, n)
			part = part.onward()
		}
	}
}

// Packs reports whether copying rows of k numbers for products with n columns pays.
func Packs[T compute.Float](rows, k, n int) bool {
	return cpu.Vector && cpu.Is32[T]() && k >= packK && n >= packN && rows > MR
}

// PackTiles copies rows of a, k long, into panels of MR rows.
func PackTiles(panels, a []float32, rows, k int) {
	for r := 0; r < rows; r += MR {
		packTile(panels[r*k:], a[r*k:], k, 1, min(MR, rows-r), k)
	}
}

// packTile copies up to MR rows of a into one panel.
func packTile(panel, a []float32, rs, cs, rows, k int) {
	done := 0
	if rows == MR && cs == 1 && k >= 8 {
		packSix(&panel[0], &a[0], rs, k/8)
		done = k - k%8
	}
	for i := done; i < k; i++ {
		for r := range rows {
			panel[i*MR+r] = a[r*rs+i*cs]
		}
	}
}

// packVector packs what it can of k rows of src into whole panels of a right operand, ps
// apart, and returns how many rows it did: element (k, j) is src[k*rs+j*cs]. If stream is
// set it writes past the caches; whatever hands the panels to another goroutine, an atomic
// operation in the end, completes such writes first.
func packVector(to []float32, panels, ps int, src []float32, rs, cs, k int, stream bool) int {
	if panels == 0 || k == 0 {
		return 0
	}
	stream = stream && uintptr(unsafe.Pointer(&to[0]))%64 == 0
	_ = to[(panels-1)*ps+k*NR-1]
	switch {
	case cs == 1:
		_ = src[(k-1)*rs+panels*NR-1]
		if stream {
			stream1(&to[0], &src[0], rs, k, panels, ps)
		} else {
			pack1(&to[0], &src[0], rs, k, panels, ps)
		}
		return k
	case rs == 1 && k >= 4:
		_ = src[(panels*NR-1)*cs+k-1]
		for j := range panels {
			if stream {
				stream16(&to[j*ps], &src[j*NR*cs], cs, k/4)
			} else {
				pack16(&to[j*ps], &src[j*NR*cs], cs, k/4)
			}
		}
		return k - k%4
	}
	return 0
}

// packLeftVector packs the panels without missing columns and returns how many
// columns they are.
func packLeftVector(dst, src []float32, rows, width int) int {
	k := width / MR * MR
	_ = dst[k*rows-1]
	packLeftAsm(&dst[0], &src[0], rows, width, width/MR)
	return k
}
