package product

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// PackPanel fills panel j of r with the transpose of src, up to NR rows of
// length r.K and ld apart: element (k, j·NR+i) is src[i*ld+k].
func (r Right[T]) PackPanel(j int, src []T, ld int) {
	n := min(NR, r.N-j*NR)
	Right[T]{r.K, n, r.Data[j*NR*r.K:][:NR*r.K]}.Pack(src, 1, ld)
}

// Columns are the panels of r that hold columns lo ≤ j < hi; lo begins a panel.
func (r Right[T]) Columns(lo, hi int) Right[T] {
	return Right[T]{r.K, hi - lo, r.Data[lo*r.K:][:RightLen(r.K, hi-lo)]}
}

// ClearRows sets rows lo ≤ k < hi of r to zero.
func (r Right[T]) ClearRows(lo, hi int) {
	for j := 0; j < r.N && lo < hi; j += NR {
		clear(r.Data[j*r.K+lo*NR : j*r.K+hi*NR])
	}
}

// Right is a right operand in panels of NR columns: element (k, j) is
// Data[(j/NR*K+k)*NR + j%NR], and columns beyond N are zero. It is a plain
// value; Data may be a view over memory the caller owns, RightLen(K, N) long.
type Right[T compute.Float] struct {
	K, N int
	Data []T
}

// RightLen is the length of the Data of a Right of k rows and n columns.
func RightLen(k, n int) int { return (n + NR - 1) / NR * NR * k }

func (r Right[T]) As32() Right[float32] { return Right[float32]{r.K, r.N, cpu.As32(r.Data)} }

// NewRight returns a zero right operand of k rows and n columns.
func NewRight[T compute.Float](k, n int) Right[T] {
	return Right[T]{K: k, N: n, Data: compute.Make[T](RightLen(k, n))}
}

// NewRights sets all to zero right operands of k rows and n columns, in one stretch of
// memory.
func NewRights[T compute.Float](k, n int, all []*Right[T]) {
	size := RightLen(k, n)
	data := compute.Make[T](len(all) * size)
	for i, r := range all {
		*r = Right[T]{K: k, N: n, Data: data[i*size:][:size:size]}
	}
}

// Pack fills r from a strided matrix: element (k, j) is src[k*rs+j*cs].
func (r Right[T]) Pack(src []T, rs, cs int) { r.PackRows(0, r.K, src, rs, cs) }

// PackRows fills rows lo ≤ k < hi of r, element (k, j) from
// src[(k-lo)*rs+j*cs]. Disjoint ranges may be packed concurrently.
func (r Right[T]) PackRows(lo, hi int, src []T, rs, cs int) {
	n := r.N % NR
	if n > 0 && cs == 1 && lo < hi {
		whole := r.N - n
		packEnds(r.Data[whole*r.K+lo*NR:][:(hi-lo)*NR], src[whole:], rs, n)
		if whole == 0 {
			return
		}
		r.N = whole
		n = 0
	}
	if n > 0 {
		last := r.Data[(r.N-n)*r.K:]
		for k := lo; k < hi; k++ {
			clear(last[k*NR+n:][:NR-n])
		}
	}
	r.PackStream(lo, hi, src, rs, cs, false)
}

// packEnds packs the ends of rows, n < NR numbers of each, and zeros behind them. Eight, half a panel,
// are usual: small convolutions have as many filters.
func packEnds[T compute.Float](panel, src []T, rs, n int) {
	for from := 0; from < len(panel); from += NR {
		d := (*[NR]T)(panel[from:])
		if n == NR/2 {
			*(*[NR / 2]T)(d[:]) = *(*[NR / 2]T)(src)
			*(*[NR / 2]T)(d[NR/2:]) = [NR / 2]T{}
		} else {
			clear(d[copy(d[:n], src):])
		}
		src = src[min(rs, len(src)):]
	}
}

// packRows is PackRows for an operand whose columns beyond N are zero already, past the
// caches if stream is set.
func (r Right[T]) PackStream(lo, hi int, src []T, rs, cs int, stream bool) {
	whole, packed := r.N/NR, 0
	if cpu.Vector && cpu.Is32[T]() {
		packed = packVector(cpu.As32(r.Data[lo*NR:]), whole, r.K*NR, cpu.As32(src), rs, cs, hi-lo, stream)
	}
	from := 0
	if packed == hi-lo {
		from = whole * NR
	}
	for j := from; j < r.N; j++ {
		begin := packed
		if j >= whole*NR {
			begin = 0
		}
		top := j/NR*NR*r.K + lo*NR + j%NR
		for k := begin; k < hi-lo; k++ {
			r.Data[top+k*NR] = src[k*rs+j*cs]
		}
	}
}
