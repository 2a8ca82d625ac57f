//go:build amd64 || arm64

package compute

func twiceMulVector(dst, x, y []float32) { twiceMulAsm(&dst[0], &x[0], &y[0], len(dst)) }
func mulToVector(dst, x, y []float32)    { mulToAsm(&dst[0], &x[0], &y[0], len(dst)) }
func addVector(x, y []float32)           { addAsm(&x[0], &y[0], len(x)) }
func addTwiceMulVector(x, y, z []float32) {
	addTwiceMulAsm(&x[0], &y[0], &z[0], len(x))
}

func anyBelowVector(s, m []float32, rel float32) bool {
	return anyBelowAsm(&s[0], &m[0], len(s), rel)
}

func squaresVector(x []float32) float32 { return squaresAsm(&x[0], len(x)) }

// backOneVector is backwardOne.
func backOneVector(dm, dv, m, columns, g, h []float32, rows, width int) {
	_, _, _, _ = dm[rows*width-1], dv[rows*width-1], m[rows*width-1], columns[3*width-1]
	_, _ = g[rows-1], h[rows-1]
	backOneAsm(&dm[0], &dv[0], &m[0], &columns[0], &g[0], &h[0], rows, width)
}

// packLeftVector packs the panels without missing columns and returns how many
// columns they are.
func packLeftVector(dst, src []float32, rows, width int) int {
	k := width / MR * MR
	_ = dst[k*rows-1]
	packLeftAsm(&dst[0], &src[0], rows, width, width/MR)
	return k
}
