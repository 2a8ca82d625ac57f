//go:build !amd64

package product

import "utvi/internal/compute/internal/cpu"

// What only AVX-512 has; nothing calls it where cpu.Wide is false.

// TakesTwo reports that MulTwo takes nothing.
func TakesTwo(rows, k, n int) bool { return false }

// MulTwo has no kernel.
func MulTwo(to Sum[float32], a, a2 []float32, rows int, b, b2 Right[float32]) { panic(cpu.NotWide) }

// MulColumnPanels has no kernel.
func MulColumnPanels(to Sum[float32], a []float32, rows int, b Right[float32]) { panic(cpu.NotWide) }

// MulColumnPanelsBy has no kernel.
func MulColumnPanelsBy(to Sum[float32], by, a, a2 []float32, rows int, b, b2 Right[float32]) {
	panic(cpu.NotWide)
}

// MulStretchesBy has no kernel.
func MulStretchesBy(to Sum[float32], by []float32, a, b Stretched[float32], size Extent) {
	panic(cpu.NotWide)
}

// MulStretchesTwo has no kernel.
func MulStretchesTwo(to Sum[float32], mid, by []float32, first, second Factors, size Extent) {
	panic(cpu.NotWide)
}
