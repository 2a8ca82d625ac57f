//go:build !amd64 && !arm64

package product

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// Without vector kernels nothing calls these: vector is false.

func mulVector(dst []float32, ldd int, start []float32, lds int, a []float32, rs, cs, step, rows int, b Right[float32]) {
	panic("compute: no vector kernels")
}

func mulStretchesVector(dst []float32, ldd int, start []float32, lds int, a Stretched[float32], rows int, b Stretched[float32], columns, k, n int) {
	panic("compute: no vector kernels")
}

func Packs[T compute.Float](rows, k, n int) bool { return false }

func PackTiles(panels, a []float32, rows, k int) { panic("compute: no vector kernels") }

func packVector(to []float32, panels, ps int, src []float32, rs, cs, k int, stream bool) int {
	panic("compute: no vector kernels")
}

func fmaLoop(n int) { panic("compute: no vector kernels") }

func MulSecond(dst, v, mean, vari []float32) { panic("compute: no vector kernels") }

const MaxDot = 0

func MulColumn(dst []float32, ldd int, start []float32, lds int, a []float32, rs, rows int, column []float32) {
	panic("compute: no vector kernels")
}

func packLeftVector(dst, src []float32, rows, width int) int { panic(cpu.Missing) }
