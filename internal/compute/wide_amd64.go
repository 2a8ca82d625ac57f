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
	_, _, _ = w[n-1], s[n-1], bs[n-1]
	elemLeakyPairOuterAVX512(p.k[:], x, w, s, bm, bs, mean, variance, squares, rows, n/NR)
}

func (p *LeakyPair) sumOuter(x, w, s, bm, bs, gm, gv, gw, gs, gbm, gbs []float32, rows int, add bool) {
	n, more := len(bm), 0
	_, _, _, _, _ = w[n-1], s[n-1], bs[n-1], gm[rows*n-1], gv[rows*n-1]
	_, _, _, _, _ = gw[n-1], gs[n-1], gbm[n-1], gbs[n-1], x[rows-1]
	if add {
		more = 1
	}
	elemLeakyPairSumAVX512(p.k[:], x, w, s, bm, bs, gm, gv, gw, gs, gbm, gbs, rows, n/NR, more)
}

// mulColumnPanels is Mul with a left operand in panels of NR columns: element (i, k) of a is
// a[(k/NR*rows+i)*NR + k%NR]. Each panel is a stretch of k; b.K is a multiple of NR. If by is not
// nil, the sums begin with 2·start∘by.
func mulColumnPanels(dst []float32, ldd int, start []float32, lds int, by, a []float32, rows int, b Right[float32]) {
	_, _, _ = dst[(rows-1)*ldd+b.N-1], a[rows*b.K-1], b.Data[RightLen(b.K, b.N)-1]
	for i := 0; i < rows; i += rowBlock {
		m := block{dst: dst[i*ldd:], a: a[i*NR:], b: b.Data, n: b.N}
		if start != nil {
			m.start = start[i*lds:]
		}
		if by != nil {
			m.by = by[i*lds:]
		}
		m.t = tile{ldd: ldd, lds: lds, rs: NR, cs: 1, step: MR * NR, ps: b.K * NR, bs: NR, k: NR,
			more: b.K/NR - 1, jumpA: (rows - 1) * NR}
		m.mulBy(min(rowBlock, rows-i))
	}
}

// mulBy is mul of all rows. The kernels of one and two rows know no by.
func (m *block) mulBy(rows int) {
	if rest := rows % (2 * MR); m.by != nil && rest != 8 && (rest%MR == 1 || rest%MR == 2) {
		lds := m.t.lds
		for i := rows - rest%MR; i < rows; i++ {
			TwiceMulTo(m.dst[i*m.t.ldd:][:m.n], m.start[i*lds:], m.by[i*lds:])
		}
		last := *m
		last.by, last.start, last.t.lds = nil, m.dst, m.t.ldd
		last.mul(rows-rest%MR, rest%MR)
		rows -= rest % MR
	}
	m.mul(0, rows)
}

// mulStretchesBy is mulStretches whose sums begin with 2·start∘by.
func mulStretchesBy(dst []float32, ldd int, start, by []float32, lds int, a stretched[float32], rows int, b stretched[float32], columns, k, n int) {
	_, _, _ = dst[(rows-1)*ldd+columns-1], start[(rows-1)*lds+columns-1], by[(rows-1)*lds+columns-1]
	_, _ = a.data[a.last((rows-1)/MR, (rows-1)%MR, k, n)], b.data[b.last((columns-1)/NR, NR-1, k, n)]
	m := block{dst: dst, start: start, by: by, a: a.data, b: b.data, n: columns}
	m.t = tile{ldd: ldd, lds: lds, rs: 1, cs: a.row, step: a.tile, ps: b.tile, bs: b.row, k: k,
		more: n - 1, jumpA: a.apart - k*a.row, jumpB: b.apart - k*b.row}
	m.mulBy(rows)
}

// stepRandomWide is stepRandomVector: gradients and step of a number in one kernel, for ρ first.
func stepRandomWide(a *AdamW, mu, rho, gmu, gs, m1mu, m2mu, m1rho, m2rho []float32) (kl, norm2 float64) {
	const chunk = 512
	k := a.factors(a.Clip, 0)
	keepMean, keepRho := float32(1-a.LR*a.DecayMean), float32(1-a.LR*a.DecayRho)
	var room [3*chunk + 15]float32
	g := room[-uintptr(unsafe.Pointer(&room))%64/4:]
	gr, rest, y := &g[0], &g[chunk], &g[2*chunk]
	for lo := 0; lo < len(mu); lo += chunk {
		n := min(chunk, len(mu)-lo)
		stepRhoAVX512(gr, rest, y, &rho[lo], &gs[lo], &m1rho[lo], &m2rho[lo], n, &k, keepRho)
		x, z := stepMeanAVX512(gr, rest, y, &mu[lo], &gmu[lo], &m1mu[lo], &m2mu[lo], n, &k, keepMean)
		kl, norm2 = kl+x, norm2+z
	}
	return kl, norm2
}
