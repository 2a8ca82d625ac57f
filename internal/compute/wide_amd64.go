package compute

import "unsafe"

// What only AVX-512 has kernels for.

func (p *LeakyPair) push(m, v, mean, variance []float32) {
	elemLeakyPairAVX512(p.k[:], m, v, mean, variance)
}

func (p *LeakyPair) pull(m, v, gm, gv, dm, dv []float32, rows int) {
	if rows > 0 {
		elemLeakyPairPanelsAVX512(p.k[:], m, v, gm, gv, dm, dv, rows, len(m)/rows/NR)
	} else {
		elemLeakyPairBackAVX512(p.k[:], m, v, gm, gv, dm, dv)
	}
}

func (p *LeakyPair) pullOne(m, v, mean, columns, g, h, dm, dv []float32, rows int) {
	_ = columns[3*len(m)/rows-1]
	elemLeakyPairOneAVX512(p.k[:], m, v, mean, columns, g, h, dm, dv, rows, len(m)/rows/NR)
}

func (p *LeakyPair) pushOuter(x, w, s, bm, bs, mean, variance, squares []float32, rows int) {
	n := len(bm)
	_ = w[n-1]
	_ = s[n-1]
	_ = bs[n-1]
	elemLeakyPairOuterAVX512(p.k[:], x, w, s, bm, bs, mean, variance, squares, rows, n/NR)
}

func (p *LeakyPair) sumOuter(x, w, s, bm, bs, gm, gv, gw, gs, gbm, gbs []float32, rows int, add bool) {
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
	elemLeakyPairSumAVX512(p.k[:], x, w, s, bm, bs, gm, gv, gw, gs, gbm, gbs, rows, n/NR, more)
}

// stepRandomWide is stepRandomVector: gradients and step of a number in one kernel, for ρ first.
func stepRandomWide(a *AdamW, mu, rho, gmu, gs, m1mu, m2mu, m1rho, m2rho []float32) (kl, norm2 float64) {
	const chunk = 512
	k := a.factors(a.Clip, 0)
	keepMean, keepRho := float32(1-a.LR*a.DecayMean), float32(1-a.LR*a.DecayRho)
	var room [3*chunk + 15]float32
	g := room[-uintptr(unsafe.Pointer(&room))%64/4:]
	gr := &g[0]
	rest := &g[chunk]
	y := &g[2*chunk]
	for lo := 0; lo < len(mu); lo += chunk {
		n := min(chunk, len(mu)-lo)
		stepRhoAVX512(gr, rest, y, &rho[lo], &gs[lo], &m1rho[lo], &m2rho[lo], n, &k, keepRho)
		x, z := stepMeanAVX512(gr, rest, y, &mu[lo], &gmu[lo], &m1mu[lo], &m2mu[lo], n, &k, keepMean)
		kl, norm2 = kl+x, norm2+z
	}
	return kl, norm2
}

// preparePanels packs NR rows of w̄, s and w̄²+s into panels of right operands, ps apart, and into
// one panel of each of their transposes.
func preparePanels(mean, rho []float32, to, turned [3][]float32, ps, panels int) {
	n := panels * NR
	_, _ = mean[NR*n-1], rho[NR*n-1]
	var at, back [3]*float32
	for i := range at {
		_, _ = to[i][(panels-1)*ps+NR*NR-1], turned[i][NR*n-1]
		at[i], back[i] = &to[i][0], &turned[i][0]
	}
	prepareAVX512(&mean[0], &rho[0], n, &at, &back, ps, panels)
}
