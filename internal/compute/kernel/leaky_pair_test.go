package kernel

import (
	"math"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/rng"
)

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
	computetest.EachWide(t, func(t *testing.T) {
		for _, rule := range pairRules() {
			xi, w := rule[0], rule[1]
			for _, a := range []float32{0, 0.01, -1, 0.3, 1} {
				const rows, n = 5, 5 * 48
				m := computetest.Values[float32](n, 1)
				v := computetest.Values[float32](n, 2)
				gm := computetest.Values[float32](n, 3)
				gv := computetest.Values[float32](n, 4)
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
							if panels[k][(j/Panel*rows+row)*Panel+j%Panel] != x {
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
	computetest.EachWide(t, func(t *testing.T) {
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
