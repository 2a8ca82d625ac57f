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

// PullOne pulls gradients back through a layer of one output, and then through the pair before it.
func (p *LeakyPair) PullOne(x *OneOutput, dm, dv []float32, rows int) {
	n := len(x.M)
	_ = x.Columns[3*n/rows-1]
	elemLeakyPairOneAVX512(p.k[:], x.M, x.V, x.Mean, x.Columns, x.G, x.H, dm, dv, rows, n/rows/Panel)
}

// PushOuter pushes rows of the one input through a layer and the pair behind it.
func (p *LeakyPair) PushOuter(l *OneInput, mean, variance, squares []float32, rows int) {
	l.check(rows)
	elemLeakyPairOuterAVX512(p.k[:], l.X, l.W, l.S, l.BiasMean, l.BiasVar, mean, variance, squares, rows, len(l.BiasMean)/Panel)
}

// SumOuter sums the gradients of a layer of one input from those of the pair behind it, gm and gv, or
// adds them to what to holds.
func (p *LeakyPair) SumOuter(l *OneInput, gm, gv []float32, to *OneInputGradients, rows int, add bool) {
	l.check(rows)
	n, more := len(l.BiasMean), 0
	_ = gm[rows*n-1]
	_ = gv[rows*n-1]
	_ = to.W[n-1]
	_ = to.S[n-1]
	_ = to.BiasMean[n-1]
	_ = to.BiasVar[n-1]
	if add {
		more = 1
	}
	elemLeakyPairSumAVX512(p.k[:], l.X, l.W, l.S, l.BiasMean, l.BiasVar, gm, gv, to.W, to.S, to.BiasMean, to.BiasVar, rows, n/Panel, more)
}
