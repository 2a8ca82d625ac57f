package kernel

func (p *LeakyPair) push(m, v, mean, variance []float32) {
	elemLeakyPairAVX512(p.k[:], m, v, mean, variance)
}

func (p *LeakyPair) pull(m, v, gm, gv, dm, dv []float32, rows int) {
	if rows > 0 {
		elemLeakyPairPanelsAVX512(p.k[:], m, v, gm, gv, dm, dv, rows, len(m)/rows/Panel)
	} else {
		elemLeakyPairBackAVX512(p.k[:], m, v, gm, gv, dm, dv)
	}
}

func (p *LeakyPair) PullOne(m, v, mean, columns, g, h, dm, dv []float32, rows int) {
	_ = columns[3*len(m)/rows-1]
	elemLeakyPairOneAVX512(p.k[:], m, v, mean, columns, g, h, dm, dv, rows, len(m)/rows/Panel)
}

func (p *LeakyPair) PushOuter(x, w, s, bm, bs, mean, variance, squares []float32, rows int) {
	n := len(bm)
	_ = w[n-1]
	_ = s[n-1]
	_ = bs[n-1]
	elemLeakyPairOuterAVX512(p.k[:], x, w, s, bm, bs, mean, variance, squares, rows, n/Panel)
}

func (p *LeakyPair) SumOuter(x, w, s, bm, bs, gm, gv, gw, gs, gbm, gbs []float32, rows int, add bool) {
	n, more := len(bm), 0
	_ = w[n-1]
	_ = s[n-1]
	_ = bs[n-1]
	_ = gm[rows*n-1]
	_ = gv[rows*n-1]
	_ = gw[n-1]
	_ = gs[n-1]
	_ = gbm[n-1]
	_ = gbs[n-1]
	_ = x[rows-1]
	if add {
		more = 1
	}
	elemLeakyPairSumAVX512(p.k[:], x, w, s, bm, bs, gm, gv, gw, gs, gbm, gbs, rows, n/Panel, more)
}
