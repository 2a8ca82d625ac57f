//go:build amd64 || arm64

package product

// MaxDot is the largest N for which dot products along k beat a padded panel,
// and the largest K for which the panel is better all the same.
const MaxDot = 4

// dotBlock is how much of a column is gathered from its panel at a time.
const dotBlock = 512

// mulColumns is the product with few columns and rows of a contiguous in k:
// one dot product per element. A column is cut into blocks of dotBlock, added
// one after the other to start. Within a block the sum runs, for every row
// alike, in four vectors of parts while as many k remain, then by vectors into the
// first; the parts are then added pairwise.
func mulColumns(dst []float32, ldd int, start []float32, lds int, a []float32, rs, rows int, b Right[float32]) {
	var column [dotBlock]float32
	for j := range b.N {
		s, ls := start, lds
		if s != nil {
			s = s[j:]
		}
		for k := 0; k < b.K; k += dotBlock {
			n := min(dotBlock, b.K-k)
			for i := range n {
				column[i] = b.Data[(k+i)*NR+j]
			}
			MulColumn(dst[j:], ldd, s, ls, a[k:], rs, rows, column[:n])
			s, ls = dst[j:], ldd
		}
	}
}

// MulColumn is the product with one column, which lies as it is.
func MulColumn(dst []float32, ldd int, start []float32, lds int, a []float32, rs, rows int, column []float32) {
	// One look at the far corner of each operand guards the kernel.
	_, _ = dst[(rows-1)*ldd], a[(rows-1)*rs+len(column)-1]
	if start != nil {
		_ = start[(rows-1)*lds]
	}
	t := tile{dst: &dst[0], ldd: ldd, rs: rs, count: rows}
	for k := 0; k < len(column); k += dotBlock {
		t.k = min(dotBlock, len(column)-k)
		t.a, t.b = &a[k], &column[k]
		t.start, t.lds = nil, lds
		if start != nil {
			t.start = &start[0]
		}
		mulDot(t.ptr())
		start, lds = dst, ldd
	}
}
