package kernel

import (
	"math"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/computetest"
)

// guarded returns a slice of n ones with more ones behind it, and a check that
// nothing was written there.
func guarded[T compute.Float](n int) ([]T, func(t *testing.T)) {
	x := make([]T, n+16)
	for i := range x {
		x[i] = 1
	}
	return x[:n], func(t *testing.T) {
		t.Helper()
		for _, x := range x[n:] {
			if x != 1 {
				t.Fatalf("wrote behind %d elements", n)
			}
		}
	}
}

var lengths = []int{0, 1, 7, 8, 9, 16, 27, 64, 101}

func testArith[T compute.Float](t *testing.T) {
	for _, n := range lengths {
		x, y := computetest.Values[T](n, 1), computetest.Values[T](n, 2)
		twice, check := guarded[T](n)
		copy(twice, x)
		TwiceMul(twice, y)
		check(t)
		product, check := guarded[T](n)
		MulTo(product, x, y)
		check(t)
		scaled, check := guarded[T](n)
		ScaleTo(scaled, x, 0.7)
		check(t)
		sum, check := guarded[T](n)
		copy(sum, x)
		Add(sum, y)
		check(t)
		added, check := guarded[T](n)
		copy(added, y)
		AddTwiceMul(added, x, y)
		check(t)
		for i := range n {
			if a, b := x[i], y[i]; twice[i] != 2*a*b || product[i] != a*b || scaled[i] != 0.7*a || sum[i] != a+b || added[i] != b+T(2*a*b) {
				t.Fatalf("%d elements, number %d: %v and %v give %v, %v, %v, %v", n, i, a, b, twice[i], product[i], sum[i], added[i])
			}
		}
	}
}

func TestArith(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		testArith[float32](t)
		testArith[float64](t)
	})
}

// One element among many decides, wherever it is; zero and NaN never do.
func testAnyBelow[T compute.Float](t *testing.T) {
	const rel = 0.125
	nan := T(math.NaN())
	for _, n := range lengths {
		s, m := make([]T, n), make([]T, n)
		for at := range n {
			for _, c := range []struct {
				s, m T
				want bool
			}{{0.49, -3, true}, {0.49, 3, true}, {0.5, -3, false}, {0, 3, false}, {nan, 3, false}, {1e-9, nan, false}, {0.1, 0, true}} {
				for i := range s {
					s[i], m[i] = 2, T(i%3)
				}
				s[at], m[at] = c.s, c.m
				if AnyBelow(s, m, rel) != c.want {
					t.Errorf("%d elements, σ = %v at m = %v as number %d: want %v", n, c.s, c.m, at, c.want)
				}
			}
		}
		if AnyBelow(s[:0], m[:0], rel) {
			t.Error("one of none is below")
		}
	}
}

func TestAnyBelow(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		testAnyBelow[float32](t)
		testAnyBelow[float64](t)
	})
}

func testTame[T compute.Float](t *testing.T, huge T) {
	for _, n := range lengths {
		g := computetest.Values[T](n, 4)
		if !AllFinite(g) {
			t.Errorf("%d random numbers are wild", n)
		}
		for at := range g {
			for _, bad := range []T{T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), huge, -huge} {
				was := g[at]
				g[at] = bad
				if AllFinite(g) {
					t.Errorf("%d numbers, one %v as number %d, are tame", n, bad, at)
				}
				g[at] = was
			}
		}
	}
}

func TestTame(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		testTame[float32](t, 1e30)
		testTame[float64](t, 1e300)
	})
}

func BenchmarkArith(b *testing.B) {
	const n = 480
	x, y := computetest.Values[float32](n, 1), computetest.Values[float32](n, 2)
	s := make([]float32, n)
	for i := range s {
		s[i] = 1
	}
	for name, f := range map[string]func(){
		"TwiceMul":  func() { TwiceMul(x, s) },
		"MulTo":     func() { MulTo(x, y, s) },
		"Add":       func() { Add(x, s) },
		"AnyBelow":  func() { AnyBelow(s, y, 1e-4) },
		"AllFinite": func() { AllFinite(y) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		})
	}
}
