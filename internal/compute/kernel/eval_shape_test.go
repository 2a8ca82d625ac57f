package kernel

import (
	"math"
	"testing"

	"utvi/internal/compute/internal/computetest"
)

// An element's bits depend on its x alone: not on the length, its place, its
// neighbours (among them some that are patched), nor on writing over x. Nothing
// is written beyond the slices.
func TestEvalShapes(t *testing.T) {
	pool := []float32{0.3, -1.7, 1e9, 4, float32(math.NaN()), -0.02, 200, -13.5, 0.999, 1e-42, float32(math.Inf(-1)), 2, -7e4, 0.5, 90, -3, 1e-7}
	const guard = 12345
	for op := OpUser + 1; op < NumOps; op++ {
		computetest.EachFamily(t, func(t *testing.T) {
			one := func(x float32) (f, df float32) {
				var y, dy [1]float32
				Eval(op, 0.25, []float32{x}, y[:], dy[:])
				return y[0], dy[0]
			}
			for n := range 40 {
				x := make([]float32, n)
				f := make([]float32, n+1)
				df := make([]float32, n+1)
				for i := range x {
					x[i] = pool[(i*5+n)%len(pool)]
				}
				f[n], df[n] = guard, guard
				over, slope := append([]float32(nil), x...), append([]float32(nil), x...)
				rest := make([]float32, n)
				Eval(op, 0.25, x, f[:n], df[:n])
				Eval(op, 0.25, over, over, nil)
				Eval(op, 0.25, slope, rest, slope)
				if f[n] != guard || df[n] != guard {
					t.Fatalf("op %d writes beyond length %d", op, n)
				}
				for i, v := range x {
					y, dy := one(v)
					if !computetest.Same32(f[i], y) || !computetest.Same32(df[i], dy) || !computetest.Same32(over[i], y) || !computetest.Same32(slope[i], dy) || !computetest.Same32(rest[i], y) {
						t.Fatalf("op %d, length %d, element %d: f(%v) = %v, %v; alone %v, %v; in place %v, %v",
							op, n, i, v, f[i], df[i], y, dy, over[i], slope[i])
					}
				}
			}
		})
	}
}

// One element out of a kernel's reach is found wherever it stands.
func TestEvalFindsFarElements(t *testing.T) {
	const n = 45
	computetest.EachFamily(t, func(t *testing.T) {
		for _, op := range []Op{OpSin, OpCos, OpNormalInverse} {
			for at := range n {
				var x, f, alone [n]float32
				x[at] = 1e7
				Eval(op, 0, x[:], f[:], nil)
				Eval(op, 0, x[at:at+1], alone[at:at+1], nil)
				if f[at] != alone[at] || f[at] == x[at] {
					t.Fatalf("op %d: f(%v) = %v at %d", op, x[at], f[at], at)
				}
			}
		}
	})
}

func TestEvalPanics(t *testing.T) {
	x := make([]float32, 3)
	for name, f := range map[string]func(){
		"user":   func() { Eval(OpUser, 0, x, x, nil) },
		"none":   func() { Eval(NumOps, 0, x, x, nil) },
		"length": func() { Eval(OpExp, 0, x, x[:2], nil) },
		"slope":  func() { Eval(OpExp, 0, x, x, x[:0]) },
		"moment": func() { LeakyMoments(Moments[float32]{Mean: x, Var: x[:1]}, 0, x, x) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(string); !ok {
					t.Errorf("%s: no panic with a string", name)
				}
			}()
			f()
		}()
	}
}

func TestEvalAllocates(t *testing.T) {
	x := make([]float32, 77)
	f := make([]float32, 77)
	df := make([]float32, 77)
	x[5] = 1e6 // is patched
	computetest.EachFamily(t, func(t *testing.T) {
		for op := OpUser + 1; op < NumOps; op++ {
			if n := testing.AllocsPerRun(20, func() { Eval(op, 1, x, f, df) }); n != 0 {
				t.Errorf("op %d allocates %v times", op, n)
			}
		}
	})
}

// Zero keeps its sign through the odd functions.
func TestEvalSignedZero(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, op := range []Op{OpIdentity, OpLeakyReLU, OpELU, OpGELU, OpSiLU, OpTanh, OpErf, OpSin, OpNormalInverse} {
			x := []float32{0, float32(math.Copysign(0, -1))}
			Eval(op, 1, x, x, nil)
			if x[0] != 0 || x[1] != 0 || math.Signbit(float64(x[0])) || !math.Signbit(float64(x[1])) {
				t.Errorf("op %d: ±0 yields %v", op, x)
			}
		}
	})
}
