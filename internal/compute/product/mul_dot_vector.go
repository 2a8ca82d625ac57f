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
			MulColumn(part, Rows(a.data[k:], a.row), rows, column[:n])
			part = part.onward()
		}
	}
}

// MulColumn is the product of Rows with one column, which lies as it is.
func MulColumn(to Sum[float32], a Left[float32], rows int, column []float32) {
	to.check(rows, 1)
	_ = a.data[(rows-1)*a.row+len(column)-1]
	t := tile{dst: &to.dst[0], ldd: to.ld, rs: a.row, count: rows}
	for k := 0; k < len(column); k += dotBlock {
		t.k = min(dotBlock, len(column)-k)
		t.a = &a.data[k]
		t.b = &column[k]
		t.start = nil
		t.lds = to.startLd
		if to.start != nil {
			t.start = &to.start[0]
		}
		mulDot(t.ptr())
		to = to.onward()
	}
}
