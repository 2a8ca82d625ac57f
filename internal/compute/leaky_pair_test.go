package compute

import (
	"math"
	"slices"
	"testing"

	"utvi/rng"
)

// eachPair runs f where there are kernels of pairs.
func eachPair(t *testing.T, f func(t *testing.T)) {
	eachFamily(t, func(t *testing.T) {
		if !wide {
			t.Skip("only AVX-512 has kernels of pairs")
		}
		f(t)
	})
}

// pairRules are symmetric rules of three points, as UT makes them of κ.
func pairRules() (rules [][2][]float32) {
	for _, κ := range []float64{0, 0.5, 2, 7} {
		x, w := float32(math.Sqrt(1+κ)), float32(0.5/(1+κ))
		rules = append(rules, [2][]float32{{0, -x, x}, {1 - 2*w, w, w}})
	}
	return rules
}

// A pair pulls gradients back as the Jacobian does, which other kernels compute; in panels with
// the same bits.
func TestPullPair(t *testing.T) {
	eachPair(t, func(t *testing.T) {
		for _, rule := range pairRules() {
			xi, w := rule[0], rule[1]
			for _, a := range []float32{0, 0.01, -1, 0.3, 1} {
				const rows, n = 5, 5 * 48
				m := values[float32](n, 1)
				v := values[float32](n, 2)
				gm := values[float32](n, 3)
				gv := values[float32](n, 4)
				for i := range v {
					v[i] = v[i] * v[i] * float32(i%5) // zero, too
				}
				m[0] = 0
				m[1] = 0
				v[1] = 0
				planes := make([]float32, 6*n)
				cut := func(i int) []float32 { return planes[i*n : (i+1)*n] }
				o := Moments[float32]{cut(0), cut(1), cut(2), cut(3), cut(4), cut(5)}
				LeakyThree(o, a, m, v, xi, w)
				want := [2][]float32{make([]float32, n), make([]float32, n)}
				VJP(gm, gv, o, want[0], want[1])
				p := NewLeakyPair(a, xi, w)
				for _, n := range []int{n, 1, 15, 16, 17, 33} {
					got := [2][]float32{make([]float32, n), make([]float32, n)}
					PullPair(p, m[:n], v[:n], gm[:n], gv[:n], got[0], got[1], 0)
					for k := range got {
						for i, x := range got[k] {
							scale := 1.0
							if k == 1 && v[i] > 0 { // slopes by the variance grow as 1/σ
								scale += 1 / math.Sqrt(float64(v[i]))
							}
							if d := math.Abs(float64(x - want[k][i])); !(d <= 4e-6*scale) {
								t.Fatalf("a = %v, ξ = %v: ∂ of N(%v, %v) by %d is %v, want %v", a, xi[2], m[i], v[i], k, x, want[k][i])
							}
						}
					}
					if n < rows*48 {
						continue
					}
					panels := [2][]float32{make([]float32, n), make([]float32, n)}
					PullPair(p, m, v, gm, gv, panels[0], panels[1], rows)
					for k := range got {
						for i, x := range got[k] {
							row, j := i/48, i%48
							if panels[k][(j/NR*rows+row)*NR+j%NR] != x {
								t.Fatal("other bits in panels")
							}
						}
					}
				}
			}
		}
	})
}

// With κ = 0 and a = 0, what comes back at m = 0 is ½σ and ¼/σ: both within 1 ulp, for all sizes.
func TestPairRoots(t *testing.T) {
	eachPair(t, func(t *testing.T) {
		rule := pairRules()[0]
		p := NewLeakyPair(0, rule[0], rule[1])
		const n = 1 << 12
		m := make([]float32, n)
		v := make([]float32, n)
		zero := make([]float32, n)
		one := make([]float32, n)
		dm, dv := make([]float32, n), make([]float32, n)
		check := func(name string, got, want, v float32) {
			if d := int64(math.Float32bits(got)) - int64(math.Float32bits(want)); d < -1 || d > 1 {
				t.Fatalf("%s of %v is %v, want %v", name, v, got, want)
			}
		}
		for round := range 200 {
			for i := range v {
				v[i] = math.Float32frombits(uint32(rng.Uniform(rng.New(uint64(round)), uint64(i)) * 0x7f7fffff)) // any number that is positive and finite
				one[i] = 1
			}
			v[0] = 0x1p-149
			v[1] = 0x1p-126
			v[2] = math.MaxFloat32
			v[3] = 1
			PullPair(p, m, v, zero, one, dm, dv, 0)
			for i, x := range dm {
				check("root", 2*x, float32(math.Sqrt(float64(v[i]))), v[i])
			}
			PullPair(p, m, v, one, zero, dm, dv, 0)
			for i, x := range dv {
				check("inverse root", 4*x, float32(1/math.Sqrt(float64(v[i]))), v[i])
			}
		}
	})
}

// What is computed together has the bits of one after the other.
func TestPairsOfDense(t *testing.T) {
	eachPair(t, func(t *testing.T) {
		rule := pairRules()[2]
		xi, w := rule[0], rule[1]
		p := NewLeakyPair(0.01, xi, w)
		for _, rows := range []int{1, 2, 8, 13, 128} {
			layer := func(in, out int) *Dense[float32] {
				d := NewDense[float32](in, out, true, true)
				scratch := make([]float32, max(d.PrepareScratch(), d.Scratch(rows)))
				for tile := range d.PrepareTiles() {
					d.Prepare(tile, values[float32](in*out, 1), values[float32](in*out, 2), scratch)
				}
				d.PrepareBias(values[float32](out, 3), values[float32](out, 4))
				return d
			}
			const width = 80
			n := rows * width
			room := func() [2][]float32 { return [2][]float32{make([]float32, n), make([]float32, n)} }
			m := values[float32](n, 5)
			v := values[float32](n, 6)
			mean := values[float32](n, 7)
			for i := range v {
				v[i] *= v[i]
			}
			g, h := values[float32](rows, 8), values[float32](rows, 9)

			last := layer(width, 1)
			got := room()
			want := room()
			back := room()
			last.Backward(rows, mean, g, h, back[0], back[1], nil)
			PullPair(p, m, v, back[0], back[1], want[0], want[1], rows)
			last.BackwardPair(p, rows, m, v, mean, g, h, got[0], got[1])
			if !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
				t.Errorf("%d rows: other bits on the way back through one output", rows)
			}

			first := layer(1, width)
			x, scratch := values[float32](rows, 10), make([]float32, max(first.Scratch(rows), first.GradScratch(rows)))
			tapes := [2][]float32{make([]float32, rows*first.TapeWidth()), make([]float32, rows*first.TapeWidth())}
			z := room()
			first.ForwardRecord(tapes[0], rows, x, nil, z[0], z[1], scratch)
			LeakyThree(Moments[float32]{Mean: want[0], Var: want[1]}, 0.01, z[0], z[1], xi, w)
			squares, wantSquares := make([]float32, n), make([]float32, n)
			Square(wantSquares, want[0])
			first.ForwardOuter(p, tapes[1], rows, x, got[0], got[1], squares)
			if !slices.Equal(squares, wantSquares) || !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
				t.Errorf("%d rows: other bits forward with one input", rows)
			}
			gm, gv := first.TapeGradient(tapes[0], rows)
			PullPair(p, z[0], z[1], m, mean, gm, gv, 0)
			gm, gv = first.TapeGradient(tapes[1], rows)
			copy(gm, m)
			copy(gv, mean)
			gradients := func() Gradients[float32] {
				return Gradients[float32]{make([]float32, width), make([]float32, width), make([]float32, width), make([]float32, width)}
			}
			a, b := gradients(), gradients()
			first.Gradient(0, []TapeBlock[float32]{{rows, tapes[0]}}, false, true, values[float32](width, 1), a, scratch)
			first.GradientOuter(p, []TapeBlock[float32]{{rows, tapes[1]}}, b, scratch)
			for k, x := range [][2][]float32{{a.Mean, b.Mean}, {a.Var, b.Var}, {a.BiasMean, b.BiasMean}, {a.BiasVar, b.BiasVar}} {
				if !slices.Equal(x[0], x[1]) {
					t.Errorf("%d rows: other bits of gradient %d with one input", rows, k)
				}
			}
		}
	})
}
