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
func mulColumns(to *Sum[float32], a *Left[float32], rows int, b *Right[float32]) {
	var column [dotBlock]float32
	for j := range b.N {
		part := to.at(0, j)
		for k := 0; k < b.K; k += dotBlock {
			n := min(dotBlock, b.K-k)
			for i := range n {
				column[i] = b.Data[(k+i)*NR+j]
			}
			MulColumn(part.dst, part.start, part.ld, part.startLd, a.data[k:], a.row, rows, column[:n])
			part = part.onward()
		}
	}
}

// MulColumn is the product of rows of a, which lie row apart, with one column, which lies as it is. It goes
// to dst, onto start or, where that is nil, zero: the fields of a Sum, which cost a tenth of so short a product.
func MulColumn(dst, start []float32, ld, startLd int, a []float32, row, rows int, column []float32) {
	_ = dst[(rows-1)*ld]
	_ = a[(rows-1)*row+len(column)-1]
	t := tile{dst: &dst[0], ldd: ld, lds: startLd, rs: row, count: rows}
	if start != nil {
		_ = start[(rows-1)*startLd]
		t.start = &start[0]
	}
	for k := 0; k < len(column); k += dotBlock {
		t.k = min(dotBlock, len(column)-k)
		t.a = &a[k]
		t.b = &column[k]
		mulDot(t.ptr())
		t.start = t.dst
		t.lds = t.ldd
	}
}
