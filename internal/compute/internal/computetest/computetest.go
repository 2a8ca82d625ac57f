// Package computetest holds what the tests of compute's packages share.
package computetest

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// EachFamily runs f over every kernel family, and skips those this machine cannot run.
func EachFamily(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer cpu.Use(cpu.Family())
	for _, family := range cpu.Families() {
		t.Run(family, func(t *testing.T) {
			if !cpu.Has(family) {
				t.Skipf("not run: this CPU has no %s, or GODEBUG denies it", family)
			}
			cpu.Use(family)
			f(t)
		})
	}
}

// EachWide runs f where there are kernels of AVX-512.
func EachWide(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	EachFamily(t, func(t *testing.T) {
		if !cpu.Wide {
			t.Skip("only AVX-512 has these kernels")
		}
		f(t)
	})
}

// Values are n standard Normals.
func Values[T compute.Float](n int, seed uint64) []T {
	src := rand.New(rand.NewPCG(seed, uint64(n)))
	x := make([]T, n)
	for i := range x {
		x[i] = T(src.NormFloat64())
	}
	return x
}

// Same32 is equality of bits, all NaN alike.
func Same32(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// Scan calls visit with float32 bit patterns over the whole range, subnormals,
// infinities and NaN included, and with the neighbourhoods of the places where
// kernels switch. UTVI_STRIDE sets how many patterns apart (1 is all of them).
func Scan(t *testing.T, visit func(x []float32)) {
	stride := uint64(1<<14 - 1)
	if s := os.Getenv("UTVI_STRIDE"); s != "" {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil || n == 0 {
			t.Fatalf("UTVI_STRIDE is %q, not a positive number", s)
		}
		stride = n
	}
	const chunk = 1 << 13
	x := make([]float32, 0, chunk)
	add := func(b uint32) {
		x = append(x, math.Float32frombits(b))
		if len(x) == chunk {
			visit(x)
			x = x[:0]
		}
	}
	for b := uint64(0); b < 1<<32; b += stride {
		add(uint32(b))
	}
	for _, v := range []float32{0, 1, 0.125, 0.875, 0.5, 2, 3.925, 4, 10.5, 11.3137, 15, 17, 53, 88, 88.7228, 89, 87.3365, 103.972, 104,
		112, 128, 0x1p-126, 0x1p-149, 1 << 16, math.MaxFloat32, float32(math.Inf(1)), float32(math.NaN())} {
		b := math.Float32bits(v)
		for d := range uint32(65) {
			add(b + d - 32)
			add((b + d - 32) ^ 1<<31)
		}
	}
	visit(x)
}

// PerElement reports the time per element of a benchmark over n elements.
func PerElement(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/elem")
}
