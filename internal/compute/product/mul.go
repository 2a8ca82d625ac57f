// Package product multiplies matrices: right operands in panels, left ones as they lie or in
// panels, sums in one order whatever the family, the shape or the number of workers.
package product

import (
	"unsafe"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
)

// MR and NR are the rows and columns of the tile a product keeps in registers.
const MR, NR = 6, kernel.Panel

// A Sum is where a product goes and what its sums begin with, in rows that lie so far apart.
type Sum[T compute.Float] struct {
	dst     []T
	ld      int
	start   []T // nil: zero
	startLd int // 0: one row, a bias, for all
}

// To writes a product to rows ld apart.
func To[T compute.Float](dst []T, ld int) Sum[T] { return Sum[T]{dst: dst, ld: ld} }

// Onto adds a product to what rows ld apart hold.
func Onto[T compute.Float](dst []T, ld int) Sum[T] {
	return Sum[T]{dst: dst, ld: ld, start: dst, startLd: ld}
}

// From begins the sums with rows of start, ld apart: 0 for one row, a bias. A nil start is zero.
func (s Sum[T]) From(start []T, ld int) Sum[T] {
	s.start = start
	s.startLd = ld
	return s
}

// onward is the sum that goes on from what this one leaves.
func (s Sum[T]) onward() Sum[T] { return Onto(s.dst, s.ld) }

// at is the sum from row i and column j on.
func (s Sum[T]) at(i, j int) Sum[T] {
	s.dst = s.dst[i*s.ld+j:]
	if s.start != nil {
		s.start = s.start[i*s.startLd+j:]
	}
	return s
}

// check looks at the far corner of what a product of so many rows and columns touches: kernels
// in assembly do not look.
func (s *Sum[T]) check(rows, columns int) {
	_ = s.dst[(rows-1)*s.ld+columns-1]
	if s.start != nil {
		_ = s.start[(rows-1)*s.startLd+columns-1]
	}
}

// as32 is s as what it is where T is float32. Operands are six to eight words, which Go copies
// through memory: for one row that takes a tenth of a product, so from here on pointers go.
func (s *Sum[T]) as32() *Sum[float32] { return (*Sum[float32])(unsafe.Pointer(s)) }

// A Left is a left operand: element (i, k) is data[i/MR*tile + i%MR*row + k*column].
type Left[T compute.Float] struct {
	data              []T
	row, column, tile int
}

// Rows is a left operand of rows that lie ld apart.
func Rows[T compute.Float](data []T, ld int) Left[T] { return Strided(data, ld, 1) }

// Strided is a left operand whose element (i, k) is data[i*row + k*column].
func Strided[T compute.Float](data []T, row, column int) Left[T] {
	return Left[T]{data, row, column, MR * row}
}

// Panels is a left operand in panels of MR rows, each k long: element (i, k) is
// data[(i/MR*k+k)*MR + i%MR]. It is how sums over many k are fastest: both operands are read
// in order.
func Panels[T compute.Float](data []T, k int) Left[T] { return Left[T]{data, 1, MR, MR * k} }

func (a *Left[T]) as32() *Left[float32] { return (*Left[float32])(unsafe.Pointer(a)) }

// Mul computes, for i < rows and j < b.N, a sum's start plus Σ_k a(i,k)·b(k,j). a must not
// overlap what is written.
//
// Each element is one chain of multiply-adds from start through ascending k,
// so a row has the same bits whatever rows it is computed with. One exception:
// the vector kernels sum a product of Rows with N ≤ 4 and K > 4 in interleaved
// parts of k (see mulColumns), for every row alike, so that this holds there too.
//
// Mul allocates nothing and may be called concurrently.
func Mul[T compute.Float](to Sum[T], a Left[T], rows int, b Right[T]) {
	if rows <= 0 || b.N <= 0 {
		return
	}
	to.check(rows, b.N)
	_ = b.Data[:RightLen(b.K, b.N)]
	if b.K > 0 {
		_ = a.data[(rows-1)/MR*a.tile+(rows-1)%MR*a.row+(b.K-1)*a.column]
	}
	if cpu.Vector && b.K > 0 && cpu.Is32[T]() {
		mulVector(to.as32(), a.as32(), rows, (*Right[float32])(unsafe.Pointer(&b)))
		return
	}
	mulGo(to, a, rows, panels[T]{b.Data, b.K * NR, NR, b.K, b.N})
}
