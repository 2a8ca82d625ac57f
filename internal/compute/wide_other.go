//go:build !amd64

package compute

const notWide = "compute: no wider kernels on this machine"

func mulColumnPanels(dst []float32, ldd int, start []float32, lds int, by, a []float32, rows int, b Right[float32]) {
	panic(notWide)
}
func mulStretchesBy(dst []float32, ldd int, start, by []float32, lds int, a stretched[float32], rows int, b stretched[float32], columns, k, n int) {
	panic(notWide)
}

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
