//go:build amd64 || arm64

package product

// mulOne is the product with K = 1: the outer product of a column and a row.
func mulOne(dst []float32, ldd int, start []float32, lds int, a []float32, rs, step, rows int, b Right[float32]) {
	chunk := rows
	if step != MR*rs { // a is in panels
		chunk = MR
	}
	t := tile{ldd: ldd, lds: lds, rs: rs, b: &b.Data[0], w: b.N}
	for i := 0; i < rows; i += chunk {
		t.dst = &dst[i*ldd]
		t.a = &a[i/MR*step]
		t.count = min(chunk, rows-i)
		if start != nil {
			t.start = &start[i*lds]
		}
		mulOuter(t.ptr())
	}
}

// mulSecondVector adds to dst the row v times two panels of w̄²+s.
func MulSecond(dst, v, mean, vari []float32) {
	k := len(v)
	_ = dst[2*NR-1]
	_ = mean[2*NR*k-1]
	_ = vari[2*NR*k-1]
	t := tile{dst: &dst[0], a: &v[0], b: &mean[0], b2: &vari[0], ps: k * NR, k: k}
	mulSecond(t.ptr())
}
