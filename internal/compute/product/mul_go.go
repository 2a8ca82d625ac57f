package product

import "utvi/internal/compute"

// panels are a right operand of the twin: element (k, j) is data[j/NR*apart + j%NR + k*row].
type panels[T compute.Float] struct {
	data       []T
	apart, row int
	k, n       int
}

// mulGo is the twin of the vector kernels: tiles of two rows and four columns
// held in registers. The conversion T(x*y) forbids the compiler to fuse, so
// that every machine without the vector kernels computes the same bits.
func mulGo[T compute.Float](to Sum[T], a Left[T], rows int, b panels[T]) {
	for j := 0; j < b.n; j += NR {
		panel := b.data[j/NR*b.apart:]
		n := min(NR, b.n-j)
		for i := 0; i < rows; i += 2 {
			// An odd last row is computed twice over the same place in a.
			two := i+1 < rows
			up := 0
			if two {
				up = a.row
			}
			for c := 0; c < n; c += 4 {
				m := min(4, n-c)
				var x, y [4]T
				if to.start != nil {
					copy(x[:m], to.start[i*to.startLd+j+c:])
					if two {
						copy(y[:m], to.start[(i+1)*to.startLd+j+c:])
					}
				}
				if b.k > 0 {
					x, y = tile2x4(x, y, a.data[i/MR*a.tile+i%MR*a.row:], up, a.column, panel[c:], b.row, b.k)
				}
				copy(to.dst[i*to.ld+j+c:][:m], x[:])
				if two {
					copy(to.dst[(i+1)*to.ld+j+c:][:m], y[:])
				}
			}
		}
	}
}

// tile2x4 adds to x and y the products of rows 0 and up of a with four columns
// of b.
func tile2x4[T compute.Float](x, y [4]T, a []T, up, cs int, b []T, bs, k int) (_, _ [4]T) {
	x0 := x[0]
	x1 := x[1]
	x2 := x[2]
	x3 := x[3]
	y0 := y[0]
	y1 := y[1]
	y2 := y[2]
	y3 := y[3]
	p := 0
	for q := 0; q < k*bs; q += bs {
		u, v := a[p], a[p+up]
		c := b[q:][:4:4]
		x0 += T(u * c[0])
		x1 += T(u * c[1])
		x2 += T(u * c[2])
		x3 += T(u * c[3])
		y0 += T(v * c[0])
		y1 += T(v * c[1])
		y2 += T(v * c[2])
		y3 += T(v * c[3])
		p += cs
	}
	return [4]T{x0, x1, x2, x3}, [4]T{y0, y1, y2, y3}
}
