package compute

// MulStretches is MulPanels with a sum over n stretches of k, each b.K long, that lie da
// apart in a and db apart in b.Data. A tile of the result stays in registers from stretch
// to stretch; the bits are those of n products that add to one another.
func MulStretches[T Float](dst []T, ldd int, start []T, lds int, a []T, da, rows int, b Right[T], db, n int) {
	if n <= 0 || rows <= 0 || b.N <= 0 {
		return
	}
	if size := RightLen(b.K, b.N); vector && is32[T]() && n > 1 && b.K > 1 {
		// One look at the far corner of each operand guards the kernels.
		_, _, _ = dst[(rows-1)*ldd+b.N-1], b.Data[(n-1)*db:][:size], a[(n-1)*da+((rows-1)/MR*b.K+b.K-1)*MR+(rows-1)%MR]
		if start != nil {
			_ = start[(rows-1)*lds+b.N-1]
		}
		mulStretchesVector(as32(dst), ldd, as32(start), lds, as32(a), da, rows, Right[float32]{b.K, b.N, as32(b.Data)}, db, n)
		return
	}
	for i := range n {
		MulPanels(dst, ldd, start, lds, a[i*da:], rows, Right[T]{b.K, b.N, b.Data[i*db:]})
		start, lds = dst, ldd
	}
}
