//go:build !amd64 && !arm64

package product

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// Without vector kernels nothing calls these: cpu.Vector is false.

// MaxDot is 0: no product is made by dot products.
const MaxDot = 0

// Packs reports that copying never pays.
func Packs[T compute.Float](rows, k, n int) bool { return false }

// PackTiles has no kernel.
func PackTiles(panels, a []float32, rows, k int) { panic(cpu.Missing) }

// MulSecond has no kernel.
func MulSecond(dst, v, mean, vari []float32) { panic(cpu.Missing) }

// MulColumn has no kernel.
func MulColumn(dst, start []float32, ld, startLd int, a []float32, row, rows int, column []float32) {
	panic(cpu.Missing)
}

func mulVector(to *Sum[float32], a *Left[float32], rows int, b *Right[float32]) { panic(cpu.Missing) }
func mulStretchesVector(to *Sum[float32], a, b Stretched[float32], size Extent) { panic(cpu.Missing) }
func packLeftVector(dst, src []float32, rows, width int) int                    { panic(cpu.Missing) }
func packVector(to []float32, panels, ps int, src []float32, rs, cs, k int, stream bool) int {
	panic(cpu.Missing)
}

func fmaLoop(n int) { panic(cpu.Missing) }
