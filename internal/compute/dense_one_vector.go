//go:build amd64 || arm64

package compute

// forwardOneVector is forwardFused.
func forwardOneVector(mo, vo, m, v, columns, bm, bv []float32, rows, width int) {
	_, _, _, _ = mo[rows-1], vo[rows-1], m[rows*width-1], v[rows*width-1]
	_, _, _ = columns[3*width-1], bm[0], bv[0]
	forwardOneAsm(&mo[0], &vo[0], &m[0], &v[0], &columns[0], &bm[0], &bv[0], rows, width)
}

// backOneVector is backwardOne.
func backOneVector(dm, dv, m, columns, g, h []float32, rows, width int) {
	_, _, _, _ = dm[rows*width-1], dv[rows*width-1], m[rows*width-1], columns[3*width-1]
	_, _ = g[rows-1], h[rows-1]
	backOneAsm(&dm[0], &dv[0], &m[0], &columns[0], &g[0], &h[0], rows, width)
}

// gradOneVector is gradientFused.
func gradOneVector(gw, gs, vh, m, v, g, h []float32, rows, width int, add bool) {
	_, _, _ = gw[width-1], gs[width-1], vh[width-1]
	_, _, _, _ = m[rows*width-1], v[rows*width-1], g[rows-1], h[rows-1]
	more := 0
	if add {
		more = 1
	}
	gradOneAsm(&gw[0], &gs[0], &vh[0], &m[0], &v[0], &g[0], &h[0], rows, width, more)
}
