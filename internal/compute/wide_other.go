//go:build !amd64

package compute

const notWide = "compute: no wider kernels on this machine"

func takesTwo(rows, k, n int) bool { return false }
func mulTwo(dst []float32, ldd int, start []float32, lds int, a, a2 []float32, rows int, b, b2 Right[float32]) {
	panic(notWide)
}
func mulColumnPanels(dst []float32, ldd int, a []float32, rows int, b Right[float32]) { panic(notWide) }
func mulColumnPanelsBy(dst []float32, ldd int, by, a, a2 []float32, rows int, b, b2 Right[float32]) {
	panic(notWide)
}
func mulStretchesBy(dst []float32, ldd int, start, by []float32, a stretched[float32], rows int, b stretched[float32], columns, k, n int) {
	panic(notWide)
}
func mulStretchesTwo(dst, mid []float32, ldd int, by []float32, a, a2 stretched[float32], rows int, b, b2 stretched[float32], columns, k, n int) {
	panic(notWide)
}
func preparePanels(mean, rho []float32, to, turned [3][]float32, ps, panels int) { panic(notWide) }

func (p *LeakyPair) push(m, v, mean, variance []float32)                           { panic(notWide) }
func (p *LeakyPair) pull(m, v, gm, gv, dm, dv []float32, rows int)                 { panic(notWide) }
func (p *LeakyPair) pullOne(m, v, mean, columns, g, h, dm, dv []float32, rows int) { panic(notWide) }
func (p *LeakyPair) pushOuter(x, w, s, bm, bs, mean, variance, squares []float32, rows int) {
	panic(notWide)
}
func (p *LeakyPair) sumOuter(x, w, s, bm, bs, gm, gv, gw, gs, gbm, gbs []float32, rows int, add bool) {
	panic(notWide)
}

func stepRandomWide(a *AdamW, mu, rho, gmu, gs, m1mu, m2mu, m1rho, m2rho []float32) (kl, norm2 float64) {
	panic(notWide)
}
