package compute

import (
	"math"
	"os"
	"strconv"
	"testing"
)

// A vector kernel that is missing must not pass by testing the Go twin only.
func TestEveryOpHasAVectorKernel(t *testing.T) {
	for op := OpUser + 1; hasVector && op < NumOps; op++ {
		if vectorKernels[op] == nil {
			t.Errorf("op %d has no vector kernel", op)
		}
	}
}

// scan calls visit with float32 bit patterns over the whole range, subnormals,
// infinities and NaN included, and with the neighbourhoods of the places where
// kernels switch. UTVI_STRIDE sets how many patterns apart (1 is all of them).
func scan(t *testing.T, visit func(x []float32)) {
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
			eachFamily(t, func(t *testing.T) {
				var value, slope worst
				scan(t, func(x []float32) {
					n := len(x)
					f := make([]float32, n)
					df := make([]float32, n)
					alone := make([]float32, n)
					Eval(e.op, e.a, x, f, df)
					Eval(e.op, e.a, x, alone, nil)
					for i, v := range x {
						value.add(e.val, v, f[i], e.f(float64(v)))
						slope.add(e.der, v, df[i], e.df(float64(v)))
						if !same32(f[i], alone[i]) {
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
