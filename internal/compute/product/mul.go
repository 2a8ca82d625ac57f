// Package product multiplies matrices: right operands in panels, left ones as they lie or in
// panels, sums in one order whatever the family, the shape or the number of workers.
package product

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
)

// MR and NR are the rows and columns of the tile a product keeps in registers.
const MR, NR = 6, kernel.Panel

// Mul computes, for i < rows and j < b.N,
//
//	dst[i*ldd+j] = start[i*lds+j] + Σ_k a[i*rs+k*cs]·b(k,j)
//
// lds = 0 adds one row (a bias) to all rows, a nil start is zero, and start
// may be dst (accumulate) with lds = ldd; a must not overlap dst.
//
// Each element is one chain of multiply-adds from start through ascending k,
// so a row has the same bits whatever rows it is computed with. One exception:
// the vector kernels sum a product with N ≤ 4, cs = 1 and K > 4 in interleaved
// parts of k (see mulColumns), for every row alike, so that this holds there too.
//
// Mul allocates nothing and may be called concurrently.
func Mul[T compute.Float](dst []T, ldd int, start []T, lds int, a []T, rs, cs, rows int, b Right[T]) {
	mul(dst, ldd, start, lds, a, rs, cs, MR*rs, rows, b)
}

// MulPanels is Mul with a left operand in panels of MR rows, each as long as
// b has rows: element (i, k) of a is a[(i/MR*b.K+k)*MR + i%MR]. It is how sums
// over many k are fastest: both operands are read in order.
func MulPanels[T compute.Float](dst []T, ldd int, start []T, lds int, a []T, rows int, b Right[T]) {
	mul(dst, ldd, start, lds, a, 1, MR, MR*b.K, rows, b)
}

// mul is Mul with the distance in a from one tile of MR rows to the next.
func mul[T compute.Float](dst []T, ldd int, start []T, lds int, a []T, rs, cs, step, rows int, b Right[T]) {
	if rows <= 0 || b.N <= 0 {
		return
	}
	// One look at the far corner of each operand guards the kernels.
	_ = dst[(rows-1)*ldd+b.N-1]
	_ = b.Data[:RightLen(b.K, b.N)]
	if start != nil {
		_ = start[(rows-1)*lds+b.N-1]
	}
	if b.K > 0 {
		_ = a[(rows-1)/MR*step+(rows-1)%MR*rs+(b.K-1)*cs]
	}
	if cpu.Vector && b.K > 0 && cpu.Is32[T]() {
		mulVector(cpu.As32(dst), ldd, cpu.As32(start), lds, cpu.As32(a), rs, cs, step, rows, b.As32())
		return
	}
	mulGo(dst, ldd, start, lds, a, rs, cs, step, rows, b.Data, b.K*NR, NR, b.K, b.N)
}
