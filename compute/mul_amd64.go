package compute

func mulVector(dst []float32, ldd int, start []float32, lds int, a []float32, rs, cs, rows int, b Right[float32]) {
	mulGo(dst, ldd, start, lds, a, rs, cs, rows, b)
}
