package compute

// MR and NR are the rows and columns of the tile a product keeps in registers.
const MR, NR = 6, 16

// Right is a right operand in panels of NR columns: element (k, j) is
// Data[(j/NR*K+k)*NR + j%NR], and columns beyond N are zero. It is a plain
// value; Data may be a view over memory the caller owns, RightLen(K, N) long.
type Right[T Float] struct {
	K, N int
	Data []T
}

// RightLen is the length of the Data of a Right of k rows and n columns.
func RightLen(k, n int) int { return (n + NR - 1) / NR * NR * k }

func (r Right[T]) as32() Right[float32] { return Right[float32]{r.K, r.N, as32(r.Data)} }

// NewRight returns a zero right operand of k rows and n columns.
func NewRight[T Float](k, n int) Right[T] {
	return Right[T]{K: k, N: n, Data: Make[T](RightLen(k, n))}
}

// newRights sets all to zero right operands of k rows and n columns, in one stretch of
// memory.
func newRights[T Float](k, n int, all []*Right[T]) {
	size := RightLen(k, n)
	data := Make[T](len(all) * size)
	for i, r := range all {
		*r = Right[T]{K: k, N: n, Data: data[i*size:][:size:size]}
	}
}

// Pack fills r from a strided matrix: element (k, j) is src[k*rs+j*cs].
func (r Right[T]) Pack(src []T, rs, cs int) { r.PackRows(0, r.K, src, rs, cs) }

// PackRows fills rows lo ≤ k < hi of r, element (k, j) from
// src[(k-lo)*rs+j*cs]. Disjoint ranges may be packed concurrently.
func (r Right[T]) PackRows(lo, hi int, src []T, rs, cs int) {
	if n := r.N % NR; n > 0 {
		last := r.Data[(r.N-n)*r.K:]
		for k := lo; k < hi; k++ {
			clear(last[k*NR+n:][:NR-n])
		}
	}
	r.packRows(lo, hi, src, rs, cs, false)
}

// packRows is PackRows for an operand whose columns beyond N are zero already, past the
// caches if stream is set.
func (r Right[T]) packRows(lo, hi int, src []T, rs, cs int, stream bool) {
	whole, packed := r.N/NR, 0
	if vector && is32[T]() {
		packed = packVector(as32(r.Data[lo*NR:]), whole, r.K*NR, as32(src), rs, cs, hi-lo, stream)
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
func Mul[T Float](dst []T, ldd int, start []T, lds int, a []T, rs, cs, rows int, b Right[T]) {
	mul(dst, ldd, start, lds, a, rs, cs, MR*rs, rows, b)
}

// MulPanels is Mul with a left operand in panels of MR rows, each as long as
// b has rows: element (i, k) of a is a[(i/MR*b.K+k)*MR + i%MR]. It is how sums
// over many k are fastest: both operands are read in order.
func MulPanels[T Float](dst []T, ldd int, start []T, lds int, a []T, rows int, b Right[T]) {
	mul(dst, ldd, start, lds, a, 1, MR, MR*b.K, rows, b)
}

// mul is Mul with the distance in a from one tile of MR rows to the next.
func mul[T Float](dst []T, ldd int, start []T, lds int, a []T, rs, cs, step, rows int, b Right[T]) {
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
	if vector && b.K > 0 && is32[T]() {
		mulVector(as32(dst), ldd, as32(start), lds, as32(a), rs, cs, step, rows, b.as32())
		return
	}
	mulGo(dst, ldd, start, lds, a, rs, cs, step, rows, b.Data, b.K*NR, NR, b.K, b.N)
}
