//go:build !amd64

package product

import "utvi/internal/compute/internal/cpu"

func TakesTwo(rows, k, n int) bool { return false }

func MulTwo(dst []float32, ldd int, start []float32, lds int, a, a2 []float32, rows int, b, b2 Right[float32]) {
	panic(cpu.NotWide)
}

func MulColumnPanels(dst []float32, ldd int, a []float32, rows int, b Right[float32]) {
	panic(cpu.NotWide)
}

func MulColumnPanelsBy(dst []float32, ldd int, by, a, a2 []float32, rows int, b, b2 Right[float32]) {
	panic(cpu.NotWide)
}

func MulStretchesBy(dst []float32, ldd int, start, by []float32, a Stretched[float32], rows int, b Stretched[float32], columns, k, n int) {
	panic(cpu.NotWide)
}

func MulStretchesTwo(dst, mid []float32, ldd int, by []float32, a, a2 Stretched[float32], rows int, b, b2 Stretched[float32], columns, k, n int) {
	panic(cpu.NotWide)
}
