package kernel

import (
	"math"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/internal/cpu"
)

// A vector kernel that is missing must not pass by testing the Go twin only.
func TestEveryOpHasAVectorKernel(t *testing.T) {
	for op := OpUser + 1; cpu.Vector && op < NumOps; op++ {
		if vectorKernels[op] == nil {
			t.Errorf("op %d has no vector kernel", op)
		}
	}
}

// A worst is the largest error seen, as a part of the bound, with where it was
// and its size relative to the exact result and in units of the last place.
type worst struct {
	off, rel, ulp float64 // rel and ulp over normal results only
	x, got        float32
	want          float64
}

func (w *worst) add(b bound, x, got float32, want float64) {
	if o := b.off(x, got, want); o > w.off {
		w.off = o
		w.x = x
		w.got = got
		w.want = want
	}
	if a := math.Abs(want); a >= 0x1p-126 && a <= math.MaxFloat32 {
		e := math.Abs(float64(got) - want)
		w.rel, w.ulp = max(w.rel, e/a), max(w.ulp, e/ulp(a))
	}
}

func (w *worst) check(t *testing.T, what string) {
	t.Logf("%s: %.2g relative, %.2f ulp; %.2f of the bound at %g", what, w.rel, w.ulp, w.off, w.x)
	if w.off > 1 {
		t.Errorf("%s at %g [%08x]: %g, want %g", what, w.x, math.Float32bits(w.x), w.got, w.want)
	}
}

func TestEvalBounds(t *testing.T) {
	for _, e := range exacts() {
		t.Run(e.name(), func(t *testing.T) {
			computetest.EachFamily(t, func(t *testing.T) {
				var value, slope worst
				computetest.Scan(t, func(x []float32) {
					n := len(x)
					f := make([]float32, n)
					df := make([]float32, n)
					alone := make([]float32, n)
					Eval(e.op, e.a, x, f, df)
					Eval(e.op, e.a, x, alone, nil)
					for i, v := range x {
						value.add(e.val, v, f[i], e.f(float64(v)))
						slope.add(e.der, v, df[i], e.df(float64(v)))
						if !computetest.Same32(f[i], alone[i]) {
							t.Fatalf("f(%v) = %v alone, %v with its slope", v, alone[i], f[i])
						}
					}
				})
				value.check(t, "value")
				slope.check(t, "slope")
			})
		})
	}
}
