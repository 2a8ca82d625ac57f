//go:build amd64 || arm64

package kernel

func twiceMulVector(dst, x, y []float32)         { twiceMulAsm(&dst[0], &x[0], &y[0], len(dst)) }
func mulToVector(dst, x, y []float32)            { mulToAsm(&dst[0], &x[0], &y[0], len(dst)) }
func scaleToVector(dst, x []float32, by float32) { scaleToAsm(&dst[0], &x[0], len(dst), by) }
func subToVector(dst, x, y []float32)            { subToAsm(&dst[0], &x[0], &y[0], len(dst)) }
func addVector(x, y []float32)                   { addAsm(&x[0], &y[0], len(x)) }
func addTwiceMulVector(x, y, z []float32) {
	addTwiceMulAsm(&x[0], &y[0], &z[0], len(x))
}

func anyBelowVector(s, m []float32, rel float32) bool {
	return anyBelowAsm(&s[0], &m[0], len(s), rel)
}

func squaresVector(x []float32) float32 { return squaresAsm(&x[0], len(x)) }
