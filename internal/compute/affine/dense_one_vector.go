//go:build amd64 || arm64

package affine

// forwardOneVector is forwardFused.
func forwardOneVector(mo, vo, m, v, columns, bm, bv []float32, rows, width int) {
	_ = mo[rows-1]
	_ = vo[rows-1]
	_ = m[rows*width-1]
	_ = v[rows*width-1]
	_ = columns[3*width-1]
	_ = bm[0]
	_ = bv[0]
	forwardOneAsm(&mo[0], &vo[0], &m[0], &v[0], &columns[0], &bm[0], &bv[0], rows, width)
}

// backOneVector is backwardOne.
func backOneVector(dm, dv, m, columns, g, h []float32, rows, width int) {
	_ = dm[rows*width-1]
	_ = dv[rows*width-1]
	_ = m[rows*width-1]
	_ = columns[3*width-1]
	_, _ = g[rows-1], h[rows-1]
	backOneAsm(&dm[0], &dv[0], &m[0], &columns[0], &g[0], &h[0], rows, width)
}

// gradOneVector is gradientFused.
func gradOneVector(gw, gs, vh, m, v, g, h []float32, rows, width int, add bool) {
	_ = gw[width-1]
	_ = gs[width-1]
	_ = vh[width-1]
	_ = m[rows*width-1]
	_ = v[rows*width-1]
	_ = g[rows-1]
	_ = h[rows-1]
	more := 0
	if add {
		more = 1
	}
	gradOneAsm(&gw[0], &gs[0], &vh[0], &m[0], &v[0], &g[0], &h[0], rows, width, more)
}
