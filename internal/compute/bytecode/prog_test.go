package bytecode

import (
	"math"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/kernel"
)

// one instruction as a program: x and two parameters in, one or two results out.
func single(in Instr) *Program {
	in.X = 0
	in.Y = 1
	in.Z = 2
	in.Dst = 3
	p := &Program{Params: 2, Outs: 1, Slots: 4, Code: []Instr{in}}
	if in.Code == CodeEval {
		p.Outs = 2
		p.Slots = 5
		p.Code[0].Slope = 4
	}
	return p
}

func eachInstr(visit func(in Instr)) {
	for c := CodeCopy; c < CodeEval; c++ {
		visit(Instr{Code: c, Fn: kernel.OpNormalInverse})
	}
	for op := kernel.OpUser + 1; op < kernel.NumOps; op++ {
		visit(Instr{Code: CodeEval, Fn: op})
	}
}

// Every instruction computes its definition, in every family and wherever an
// element stands; specials and NaN among them.
func TestProgInstructions(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	pool := []float32{0, 1, -1, 0.3, -2.5, 7, 1e-40, -1e-40, 1e-6, 60, -60, 88.5, 1e10, -3e30, inf, -inf, nan, 0.9999, 1e-20, -0.9999}
	eachInstr(func(in Instr) {
		computetest.EachFamily(t, func(t *testing.T) {
			for _, n := range []int{1, 7, 8, 23, progChunk, progChunk + 9, 3 * progChunk} {
				x := make([]float32, n)
				y := make([]float32, n)
				z := make([]float32, n)
				for i := range x {
					x[i] = pool[i%len(pool)]
					y[i] = pool[(i/3+n)%len(pool)]
					z[i] = pool[(i/7+5)%len(pool)]
				}
				p := single(in)
				out := [][]float32{make([]float32, n+1), make([]float32, n+1)}[:p.Outs]
				for _, o := range out {
					o[n] = 12345
				}
				m := NewMachine[float32](p)
				m.Run(x, [][]float32{y, z}, out)
				over := append([]float32(nil), x...)
				m.Run(over, [][]float32{y, z}, append([][]float32{over}, out[1:]...))
				for i := range x {
					f, df := p.Code[0].step(float64(x[i]), float64(y[i]), float64(z[i]))
					want := []float64{f, df}
					for k, o := range out {
						if !agrees(o[i], want[k]) {
							t.Fatalf("code %d fn %d of (%v, %v, %v), result %d: %v, want %v", in.Code, in.Fn, x[i], y[i], z[i], k, o[i], want[k])
						}
					}
					if !computetest.Same32(over[i], out[0][i]) {
						t.Fatalf("code %d fn %d over x itself: %v, want %v", in.Code, in.Fn, over[i], out[0][i])
					}
				}
				if out[0][n] != 12345 {
					t.Fatalf("code %d writes beyond its output", in.Code)
				}
			}
		})
	})
}

// agrees allows rounding: 1e-6 relative, a fused product's last places, and what
// float32 cannot hold.
func agrees(got float32, want float64) bool {
	g := float64(got)
	switch {
	case math.IsNaN(want) || math.IsNaN(g):
		return math.IsNaN(want) && math.IsNaN(g)
	case math.Abs(want) > math.MaxFloat32 || math.IsInf(g, 0):
		return math.Abs(want) > 0.99*math.MaxFloat32 && math.Signbit(g) == math.Signbit(want) && math.Abs(g) > 0.99*math.MaxFloat32
	}
	return math.Abs(g-want) <= 1e-6*math.Abs(want)+1.5e-45
}

// The functions that only programs have keep 5e-7 over all of float32.
func TestProgBounds(t *testing.T) {
	for name, c := range map[string]Code{"log": CodeLog, "log1p": CodeLog1p, "expm1": CodeExpm1, "atan": CodeAtan, "sqrt": CodeSqrt} {
		p := &Program{Outs: 1, Slots: 2, Code: []Instr{{Code: c, Dst: 1}}}
		m := NewMachine[float32](p)
		computetest.EachFamily(t, func(t *testing.T) {
			worst, where := 0.0, float32(0)
			computetest.Scan(t, func(x []float32) {
				f := make([]float32, len(x))
				m.Run(x, nil, [][]float32{f})
				for i, v := range x {
					want, _ := p.Code[0].step(float64(v), 0, 0)
					if !agrees(f[i], want) {
						t.Fatalf("%s(%v) = %v, want %v", name, v, f[i], want)
					}
					if a := math.Abs(want); a > 0x1p-126 && a <= math.MaxFloat32 {
						if e := math.Abs(float64(f[i])-want) / a; e > worst {
							worst, where = e, v
						}
					}
				}
			})
			t.Logf("%s: %.2g relative, at %v", name, worst, where)
			if !(worst < 5e-7) {
				t.Errorf("%s is %.2g off at %v", name, worst, where)
			}
		})
	}
}

// An output may be x, though x is read after the output is written.
func TestProgOverX(t *testing.T) {
	// f = 2·x; g = f − x
	p := &Program{Consts: []float64{2}, Outs: 2, Slots: 4, Code: []Instr{
		{Code: CodeMul, X: 0, Y: 1, Dst: 2},
		{Code: CodeSub, X: 2, Y: 0, Dst: 3},
	}}
	computetest.EachFamily(t, func(t *testing.T) {
		const n = 2*progChunk + 5
		x, g := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = float32(i)
		}
		NewMachine[float32](p).Run(x, nil, [][]float32{x, g})
		for i := range x {
			if x[i] != float32(2*i) || g[i] != float32(i) {
				t.Fatalf("at %d: %v and %v", i, x[i], g[i])
			}
		}
	})
}

// A program of several instructions agrees at a number, in float64 and in float32,
// and with parameters that differ from element to element.
func TestProgRoads(t *testing.T) {
	// q = x·x + 1; f = a·x/q; g = tanh f, with its slope
	p := &Program{Params: 1, Consts: []float64{1}, Outs: 2, Slots: 7, Code: []Instr{
		{Code: CodeMulAdd, X: 0, Y: 0, Z: 2, Dst: 5},
		{Code: CodeDiv, X: 0, Y: 5, Dst: 5},
		{Code: CodeMul, X: 1, Y: 5, Dst: 6},
		{Code: CodeEval, Fn: kernel.OpTanh, X: 6, Dst: 3, Slope: 4},
	}}
	const n = 700
	x, a := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], a[i] = float64(i%37)/9-2, 1+float64(i%5)
	}
	f, g := make([]float64, n), make([]float64, n)
	NewMachine[float64](p).Run(x, [][]float64{a}, [][]float64{f, g})
	computetest.EachFamily(t, func(t *testing.T) {
		x32 := make([]float32, n)
		a32 := make([]float32, n)
		f32 := make([]float32, n)
		g32 := make([]float32, n)
		compute.Convert(x32, x)
		compute.Convert(a32, a)
		m := NewMachine[float32](p)
		params, out := [][]float32{a32}, [][]float32{f32, g32}
		m.Run(x32, params, out)
		for i := range x {
			var at [2]float64
			p.At(x[i], a[i:i+1], at[:])
			y := a[i] * x[i] / (x[i]*x[i] + 1)
			if at[0] != f[i] || at[1] != g[i] || math.Abs(f[i]-math.Tanh(y)) > 1e-15 {
				t.Fatalf("at %v: %v, over slices %v %v", x[i], at, f[i], g[i])
			}
			if math.Abs(float64(f32[i])-f[i]) > 1e-6 || math.Abs(float64(g32[i])-g[i]) > 1e-6 {
				t.Fatalf("float32 at %v: %v %v, want %v %v", x[i], f32[i], g32[i], f[i], g[i])
			}
		}
		if k := testing.AllocsPerRun(5, func() { m.Run(x32, params, out) }); k != 0 {
			t.Errorf("Run allocates %v times", k)
		}
	})
	if k := testing.AllocsPerRun(5, func() { var at [2]float64; p.At(1, a, at[:]) }); k != 0 {
		t.Errorf("At allocates %v times", k)
	}
}
