//go:build amd64 || arm64

package kernel

func pointsVector(m, v, s, x, xi []float32) {
	pointsAsm(&m[0], &v[0], &s[0], &x[0], &xi[0], len(xi), len(m))
}

func pointsEachVector(m, v, s, x, xi []float32) {
	pointsEachAsm(&m[0], &v[0], &s[0], &x[0], &xi[0], len(xi)/len(m), len(m))
}

func combineVector(o *Moments[float32], s, f, d, xi, w []float32, ref int, c float32) {
	n, points := len(o.Mean), len(xi)
	f0 := &f[ref*n]
	switch {
	case points == 3 && xi[ref] == 0:
		combineThree(o, s, f, d, xi, w, ref, c)
	case o.MM == nil:
		combineN(&o.Mean[0], &o.Var[0], &f[0], f0, &w[0], points, n, c)
	default:
		combineNJ(&o.Mean[0], &o.Var[0], &f[0], f0, &w[0], points, n, c,
			&s[0], &d[0], &d[ref*n], &xi[0], &o.MM[0], &o.MV[0], &o.VM[0], &o.VV[0])
	}
}

// combineThree puts the reference first.
func combineThree(o *Moments[float32], s, f, d, xi, w []float32, ref int, c float32) {
	n := len(o.Mean)
	i, j := 1, 2 // the other two, in their order
	if ref > 0 {
		i = 0
	}
	if ref == 2 {
		j = 1
	}
	k := [10]float32{w[ref], w[i], w[j], c * w[ref], c * w[i], c * w[j],
		w[i] * xi[i] / 2, w[j] * xi[j] / 2, xi[i], xi[j]}
	if o.MM == nil {
		combine3(&o.Mean[0], &o.Var[0], &f[ref*n], &f[i*n], &f[j*n], n, &k)
		return
	}
	combine3J(&o.Mean[0], &o.Var[0], &f[ref*n], &f[i*n], &f[j*n], n, &k,
		&s[0], &d[ref*n], &d[i*n], &d[j*n], &o.MM[0], &o.MV[0], &o.VM[0], &o.VV[0])
}

func addSamplesVector(a *Samples[float32], f, d, xi []float32, first bool) {
	points, begin := len(f)/a.n, 0
	w := 1 / float32(points)
	if first {
		begin = 1
	}
	if d == nil {
		sampleSum(&a.ref[0], &a.e[0], &a.ee[0], &f[0], points, a.n, w, begin)
		return
	}
	sampleSumJ(&a.ref[0], &a.e[0], &a.ee[0], &f[0], points, a.n, w, begin,
		&d[0], &xi[0], &a.g[0], &a.xg[0], &a.eg[0], &a.exg[0])
}

func samplesMoments(a *Samples[float32], o *Moments[float32], s []float32, w, c float32) {
	if o.MM == nil {
		sampleMoments(&o.Mean[0], &o.Var[0], &a.ref[0], &a.e[0], &a.ee[0], a.n, w, c)
		return
	}
	sampleMomentsJ(&o.Mean[0], &o.Var[0], &a.ref[0], &a.e[0], &a.ee[0], a.n, w, c,
		&s[0], &a.slope[0], &a.g[0], &a.xg[0], &a.eg[0], &a.exg[0], &o.MM[0], &o.MV[0], &o.VM[0], &o.VV[0])
}

func vjpVector(gm, gv []float32, o *Moments[float32], dm, dv []float32) {
	vjpAsm(&gm[0], &gv[0], &o.MM[0], &o.MV[0], &o.VM[0], &o.VV[0], &dm[0], &dv[0], len(gm))
}

func squareVector(dst, x []float32) { squareAsm(&dst[0], &x[0], len(x)) }
