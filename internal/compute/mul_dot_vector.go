//go:build amd64 || arm64

package compute

// maxDot is the largest N for which dot products along k beat a padded panel,
// and the largest K for which the panel is better all the same.
const maxDot = 4

// dotBlock is how much of a column is gathered from its panel at a time.
const dotBlock = 512

// mulColumns is the product with few columns and rows of a contiguous in k:
// one dot product per element. A column is cut into blocks of dotBlock, added
// one after the other to start. Within a block the sum runs, for every row
// alike, in four vectors of parts while as many k remain, then by vectors into the
// first; the parts are then added pairwise.
func mulColumns(dst []float32, ldd int, start []float32, lds int, a []float32, rs, rows int, b Right[float32]) {
	var column [dotBlock]float32
	t := tile{ldd: ldd, rs: rs, b: &column[0], count: rows}
	for j := range b.N {
		s, ls := start, lds
		for k := 0; k < b.K; k += dotBlock {
			t.k = min(dotBlock, b.K-k)
			for i := range t.k {
				column[i] = b.Data[(k+i)*NR+j]
			}
			t.dst, t.a, t.lds = &dst[j], &a[k], ls
			if s != nil {
				t.start = &s[j]
			} else {
				t.start = nil
			}
			mulDot(t.ptr())
			s, ls = dst, ldd
		}
	}
}
