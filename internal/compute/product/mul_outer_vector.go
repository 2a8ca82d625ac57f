//go:build amd64 || arm64

package product

// mulOne is the product with K = 1: the outer product of a column and a row.
func mulOne(to *Sum[float32], a *Left[float32], rows int, b *Right[float32]) {
	chunk := rows
	if a.tile != MR*a.row { // a is in panels
		chunk = MR
	}
	t := tile{ldd: to.ld, lds: to.startLd, rs: a.row, b: &b.Data[0], w: b.N}
	for i := 0; i < rows; i += chunk {
		t.dst = &to.dst[i*to.ld]
		t.a = &a.data[i/MR*a.tile]
		t.count = min(chunk, rows-i)
		if to.start != nil {
			t.start = &to.start[i*to.startLd]
		}
		mulOuter(t.ptr())
	}
}

// MulSecond adds to dst the row v times two panels of w̄²+s, made from those of w̄ and s.
func MulSecond(dst, v, mean, vari []float32) {
	k := len(v)
	_ = dst[2*NR-1]
	_ = mean[2*NR*k-1]
	_ = vari[2*NR*k-1]
	t := tile{dst: &dst[0], a: &v[0], b: &mean[0], b2: &vari[0], ps: k * NR, k: k}
	mulSecond(t.ptr())
}
