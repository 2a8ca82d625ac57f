package kernel

import (
	"math"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/rng"
)

// LeakyThree is Points, Eval and Combine, to rounding, at any length and with any
// slope; zero variances too.
func TestLeakyThree(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		xi, w := []float32{0, -1.2, 1.9}, []float32{0.5614035, 0.2688172, 0.1697793}
		for _, a := range []float32{0, 0.01, -1, 0.3, 1.5} {
			for _, n := range []int{0, 1, 7, 8, 9, 31, 40} {
				in := make([]float32, 2*n)
				for i := range n {
					in[i] = float32(rng.Normal(rng.New(1), uint64(i)))
					in[n+i] = float32(i%5) * 0.3
				}
				m, v := in[:n], in[n:]
				room := func() []float32 { return make([]float32, 3*n) }
				moments := func() Moments[float32] {
					p := make([]float32, 6*n)
					cut := func(i int) []float32 { return p[i*n : (i+1)*n] }
					return Moments[float32]{cut(0), cut(1), cut(2), cut(3), cut(4), cut(5)}
				}
				s := make([]float32, n)
				x := room()
				f := room()
				d := room()
				want := moments()
				if n > 0 {
					Points(m, v, s, x, xi)
					Eval(OpLeakyReLU, a, x, f, d)
					Combine(want, s, f, d, xi, w, 0, 1)
				}
				got, only := moments(), Moments[float32]{Mean: make([]float32, n), Var: make([]float32, n)}
				LeakyThree(got, a, m, v, xi, w)
				LeakyThree(only, a, m, v, xi, w)
				planes := func(o Moments[float32]) [][]float32 {
					return [][]float32{o.Mean, o.Var, o.MM, o.MV, o.VM, o.VV}
				}
				for p, g := range planes(got) {
					for i := range g {
						y := planes(want)[p][i]
						if d := math.Abs(float64(g[i] - y)); !(d <= 3e-6*(1+math.Abs(float64(y)))) {
							t.Fatalf("a = %v, n = %d, plane %d, N(%v, %v): %v, want %v", a, n, p, m[i], v[i], g[i], y)
						}
					}
				}
				for i := range n {
					if math.Abs(float64(only.Mean[i]-got.Mean[i])) > 1e-6 || math.Abs(float64(only.Var[i]-got.Var[i])) > 2e-6*float64(got.Var[i]) {
						t.Fatalf("a = %v, n = %d: without the Jacobian the moments differ", a, n)
					}
				}
			}
		}
	})
}

// However small σ is beside m, on one side of the kink σ' = g·σ.
func TestLeakyThreeDoesNotCancel(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		xi, w := []float32{0, -1.7320508, 1.7320508}, []float32{2. / 3, 1. / 6, 1. / 6}
		for _, m := range []float32{1, -3, 1000, -7e5} {
			for v := float32(1e-2); v > 1e-30; v /= 10 {
				mean, variance := make([]float32, 1), make([]float32, 1)
				LeakyThree(Moments[float32]{Mean: mean, Var: variance}, 0.3, []float32{m}, []float32{v}, xi, w)
				g := float64(1)
				if m < 0 {
					g = float64(float32(0.3))
				}
				if want := g * g * float64(v); math.Abs(float64(variance[0])-want) > 1e-6*want {
					t.Errorf("N(%v, %v): variance %v, want %v", m, v, variance[0], want)
				}
			}
		}
	})
}

func BenchmarkLeakyThree(b *testing.B) {
	const n = 512
	m, v := make([]float32, n), make([]float32, n)
	for i := range m {
		m[i], v[i] = float32(i%7)-3, float32(i%5)+0.1
	}
	p := make([]float32, 6*n)
	o := Moments[float32]{p[:n], p[n : 2*n], p[2*n : 3*n], p[3*n : 4*n], p[4*n : 5*n], p[5*n:]}
	xi, w := []float32{0, -1.7320508, 1.7320508}, []float32{2. / 3, 1. / 6, 1. / 6}
	run := func(b *testing.B, o Moments[float32]) {
		for b.Loop() {
			LeakyThree(o, 0.01, m, v, xi, w)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
	}
	b.Run("moments", func(b *testing.B) { run(b, Moments[float32]{Mean: o.Mean, Var: o.Var}) })
	b.Run("jacobian", func(b *testing.B) { run(b, o) })
}
