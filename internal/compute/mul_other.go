//go:build !amd64 && !arm64

package compute

// Without vector kernels nothing calls these: vector is false.

func mulVector(dst []float32, ldd int, start []float32, lds int, a []float32, rs, cs, step, rows int, b Right[float32]) {
	panic("compute: no vector kernels")
}

func mulStretchesVector(dst []float32, ldd int, start []float32, lds int, a stretched[float32], rows int, b stretched[float32], columns, k, n int) {
	panic("compute: no vector kernels")
}

func packs[T Float](rows, k, n int) bool { return false }

func packTiles(panels, a []float32, rows, k int) { panic("compute: no vector kernels") }

func packVector(to []float32, panels, ps int, src []float32, rs, cs, k int, stream bool) int {
	panic("compute: no vector kernels")
}

func fmaLoop(n int) { panic("compute: no vector kernels") }

func mulSecondVector(dst, v, mean, vari []float32) { panic("compute: no vector kernels") }

const maxDot = 0

func mulColumn(dst []float32, ldd int, start []float32, lds int, a []float32, rs, rows int, column []float32) {
	panic("compute: no vector kernels")
}
