//go:build amd64 || arm64

package kernel

func dot3Vector(e, a, b []float32) float32 { return dot3Asm(&e[0], &a[0], &b[0], len(e)) }
func restVector(e, total, g, v []float32)  { restAsm(&e[0], &total[0], &g[0], &v[0], len(e)) }
func mulAddVector(dst, x, y []float32)     { mulAddAsm(&dst[0], &x[0], &y[0], len(dst)) }

func injectBackVector(de, db, a, c, e []float32, h float32) {
	injectBackAsm(&de[0], &db[0], &a[0], &c[0], &e[0], len(de), h)
}

func restBackVector(dm, dv, de, v []float32, x *Slope[float32]) {
	restBackAsm(&dm[0], &dv[0], &de[0], &x.G[0], &v[0], &x.GM[0], &x.GV[0], &x.VM[0], &x.VV[0], len(dm))
}

func leakySlopesVector(gm, gv, mv, m, v []float32) {
	leakySlopesAsm(&gm[0], &gv[0], &mv[0], &m[0], &v[0], len(gm))
}

func slopeSumsVector(g, gv, f, ref, d []float32, a, b float32) {
	slopeSumsAsm(&g[0], &gv[0], &f[0], &ref[0], &d[0], len(g), a, b)
}

func slopeEndsVector(g, gv, s, v, m, mm []float32, small float32) {
	slopeEndsAsm(&g[0], &gv[0], &s[0], &v[0], &m[0], &mm[0], len(g), small)
}
