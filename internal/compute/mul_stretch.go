package compute

// A stretched is an operand of mulStretches: in every stretch, element (i, k) of a left
// operand is data[i/MR*tile + i%MR + k*row], element (k, j) of a right one
// data[j/NR*tile + j%NR + k*row]. So it may be in panels, or rows as they are. Whole tiles of
// NR columns are read.
type stretched[T Float] struct {
	data      []T
	apart     int // from one stretch to the next
	tile, row int
}

// last is the index of the last number that a product reads, behind so many tiles and a rest.
func (x stretched[T]) last(tiles, rest, k, n int) int {
	return (n-1)*x.apart + tiles*x.tile + rest + (k-1)*x.row
}

// mulStretches is Mul with a sum over n stretches of k. A tile of the result stays in
// registers from stretch to stretch; the bits are those of n products that add to one another.
func mulStretches[T Float](dst []T, ldd int, start []T, lds int, a stretched[T], rows int, b stretched[T], columns, k, n int) {
	if n <= 0 || k <= 0 || rows <= 0 || columns <= 0 {
		return
	}
	// One look at the far corner of each operand guards the kernels.
	_ = dst[(rows-1)*ldd+columns-1]
	_ = a.data[a.last((rows-1)/MR, (rows-1)%MR, k, n)]
	_ = b.data[b.last((columns-1)/NR, NR-1, k, n)]
	if start != nil {
		_ = start[(rows-1)*lds+columns-1]
	}
	if vector && is32[T]() {
		mulStretchesVector(as32(dst), ldd, as32(start), lds, a.as32(), rows, b.as32(), columns, k, n)
		return
	}
	for i := range n {
		mulGo(dst, ldd, start, lds, a.data[i*a.apart:], 1, a.row, a.tile, rows, b.data[i*b.apart:], b.tile, b.row, k, columns)
		start, lds = dst, ldd
	}
}

func (x stretched[T]) as32() stretched[float32] {
	return stretched[float32]{as32(x.data), x.apart, x.tile, x.row}
}
