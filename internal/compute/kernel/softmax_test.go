package kernel

import (
	"fmt"
	"math"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/computetest"
)

// testNodes are symmetric quadratures of mean 0 and variance near 1.
func testNodes[T compute.Float]() (n SoftmaxNodes[T]) {
	n.JoinX, n.JoinW = [2]T{1.25, 2.75}, [3]T{.5, .1875, .0625}
	n.LogisticW[0] = .125
	for q := range n.LogisticX {
		n.LogisticX[q] = .4375 * T(q+1)
		n.LogisticW[q+1] = .0625
	}
	return n
}

// normals16 are Normals with means of about the size and variances of about the spread.
func normals16[T compute.Float](seed uint64, size, spread float64) (x Normals16[T]) {
	m, v := computetest.Values[float32](16, seed), computetest.Values[float32](16, seed+1)
	for i := range x.M {
		x.M[i] = T(float32(size) * m[i])
		x.V[i] = T(float32(spread) * v[i] * v[i])
	}
	return x
}

// softmaxRun is a Join and a Logistic of two Normals, with the reverse of both.
func softmaxRun[T compute.Float](a, b *Normals16[T]) (l Joined[T], y Sigmoid[T], back [5]Normals16[T]) {
	n, work := testNodes[T](), SoftmaxWork[T]{}
	g := normals16[T](7, 1, 1)
	for i := range 3 {
		back[i] = normals16[T](uint64(8+i), 1, 1)
	}
	var sum Sixteen[T]
	Join(&l, a, b, &n, &work, true)
	Logistic(&y, &sum, a, b, &n, &work, true)
	JoinBack(&back[0], &back[1], &g, &l)
	shared := g.V
	LogisticBack(&back[2], &back[3], &g, &shared, &sum, &y)
	var plain Joined[T]
	var other Sigmoid[T]
	Join(&plain, a, b, &n, &work, false)
	Logistic(&other, &back[4].M, a, b, &n, &work, false)
	back[4].V = plain.M
	if plain.Normals16 != l.Normals16 || other.Normals16 != y.Normals16 || back[4].M != sum {
		panic("the moments depend on whether slopes are wanted")
	}
	return l, y, back
}

// Every family computes softmaxes and their reverse as the twins do in float64, also where
// exponentials vanish and where nothing varies: variances and slopes have their digits, however
// small the variances are.
func TestSoftmaxKernels(t *testing.T) {
	for c, size := range []float64{1e-3, 1, 30, 900} {
		for _, spread := range []float64{0, 1e-10, 1e-4, 1, 100} {
			a, b := normals16[float32](uint64(c), size, spread), normals16[float32](uint64(c+40), size, spread)
			a64, b64 := normals16[float64](uint64(c), size, spread), normals16[float64](uint64(c+40), size, spread)
			wantL, wantY, wantBack := softmaxRun(&a64, &b64)
			computetest.EachFamily(t, func(t *testing.T) {
				l, y, back := softmaxRun(&a, &b)
				sd := math.Sqrt(spread)
				close := func(name string, got *Sixteen[float32], want *Sixteen[float64], floor float64) {
					for i, w := range want {
						if x := float64(got[i]); !(math.Abs(x-w) <= 2e-5*math.Abs(w)+floor) {
							t.Errorf("size %v, spread %v: %s %d is %v, want %v", size, spread, name, i, x, w)
						}
					}
				}
				tiny := 1e-26
				close("mean of a sum", &l.M, &wantL.M, 2e-6)
				close("its variance", &l.V, &wantL.V, tiny)
				close("MB", &l.MB, &wantL.MB, 1e-6)
				close("VB", &l.VB, &wantL.VB, 1e-6*sd+tiny)
				close("MV", &l.MV, &wantL.MV, 1e-6)
				close("VVA", &l.VVA, &wantL.VVA, 2e-6)
				close("VVB", &l.VVB, &wantL.VVB, 2e-6)
				close("mean of a sigmoid", &y.M, &wantY.M, tiny)
				close("its variance", &y.V, &wantY.V, tiny)
				close("MM", &y.MM, &wantY.MM, tiny)
				close("MV", &y.MV, &wantY.MV, 1e-6)
				close("VM", &y.VM, &wantY.VM, 1e-6*sd+tiny)
				close("VV", &y.VV, &wantY.VV, 1e-6)
				for i := range back {
					if i != 2 && i != 3 || size < 10 { // sums divide there
						close(fmt.Sprint("gradient by the mean ", i), &back[i].M, &wantBack[i].M, 1e-4)
						close(fmt.Sprint("gradient by the variance ", i), &back[i].V, &wantBack[i].V, 1e-4)
					}
				}
			})
		}
	}
}

// plainMoments are those of f at the points of a quadrature of N(0, 1).
func plainMoments(x, w []float64, f func(x float64) float64) (mean, variance float64) {
	each := func(visit func(f, w float64)) {
		visit(f(0), w[0])
		for i, x := range x {
			visit(f(x), w[i+1])
			visit(f(-x), w[i+1])
		}
	}
	each(func(f, w float64) { mean += w * f })
	each(func(f, w float64) { variance += w * (f - mean) * (f - mean) })
	return mean, variance
}

// The twins are the plain formulas of the quadrature, and the slopes those of finite differences.
func TestSoftmaxTwins(t *testing.T) {
	n := testNodes[float64]()
	joint := func(x [4]float64) [2]float64 {
		v := x[1] + x[3]
		sd := math.Sqrt(v)
		m, s := plainMoments(n.JoinX[:], n.JoinW[:], func(xi float64) float64 {
			t := x[2] - x[0] + sd*xi
			return max(t, 0) + math.Log1p(math.Exp(-math.Abs(t))) - x[1]/sd*xi
		})
		return [2]float64{x[0] + m, s + x[1]*x[3]/v}
	}
	alone := func(x [4]float64) [2]float64 {
		sd := math.Sqrt(x[1] + x[3])
		m, s := plainMoments(n.LogisticX[:], n.LogisticW[:], func(xi float64) float64 {
			return 1 / (1 + math.Exp(x[2]-x[0]-sd*xi))
		})
		return [2]float64{m, s}
	}
	for c, size := range []float64{0.1, 1, 10} {
		for _, spread := range []float64{0.1, 1, 10} {
			a, b := normals16[float64](uint64(c), size, spread), normals16[float64](uint64(c+40), size, spread)
			l, y, _ := softmaxRun(&a, &b)
			for i := range 16 {
				x := [4]float64{a.M[i], a.V[i], b.M[i], b.V[i]}
				check := func(name string, f func([4]float64) [2]float64, got [2]float64, slopes [4][2]float64) {
					want := f(x)
					for r, w := range want {
						if !(math.Abs(got[r]-w) <= 1e-13*max(1, size)) {
							t.Errorf("%s of %v: moment %d is %v, want %v", name, x, r, got[r], w)
						}
					}
					for k, slope := range slopes {
						h := 1e-5 * max(math.Abs(x[k]), 1e-2)
						up, down := x, x
						up[k] += h
						down[k] -= h
						above, below := f(up), f(down)
						for r := range want {
							if d := (above[r] - below[r]) / (2 * h); !(math.Abs(slope[r]-d) <= 1e-5) {
								t.Errorf("%s of %v: the slope of moment %d by %d is %v, want %v", name, x, r, k, slope[r], d)
							}
						}
					}
				}
				check("a sum", joint, [2]float64{l.M[i], l.V[i]}, [4][2]float64{
					{1 - l.MB[i], -l.VB[i]}, {l.MV[i], l.VVA[i]}, {l.MB[i], l.VB[i]}, {l.MV[i], l.VVB[i]},
				})
				check("a sigmoid", alone, [2]float64{y.M[i], y.V[i]}, [4][2]float64{
					{y.MM[i], y.VM[i]}, {y.MV[i], y.VV[i]}, {-y.MM[i], -y.VM[i]}, {y.MV[i], y.VV[i]},
				})
			}
		}
	}
}

// NaN in logits stays such: it is never a number that looks right.
func TestSoftmaxNotFinite(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		nan := float32(math.NaN())
		a, b := normals16[float32](1, 1, 1), normals16[float32](3, 1, 1)
		a.M[0], a.V[1] = nan, nan
		b.M[2], b.V[3] = nan, nan
		n, work := testNodes[float32](), SoftmaxWork[float32]{}
		var l Joined[float32]
		var y Sigmoid[float32]
		var sum Sixteen[float32]
		Join(&l, &a, &b, &n, &work, true)
		Logistic(&y, &sum, &a, &b, &n, &work, true)
		for i := range 4 {
			for name, x := range map[string]float32{"mean of a sum": l.M[i], "its slope": l.MB[i], "mean of a sigmoid": y.M[i], "sum": sum[i]} {
				if x == x {
					t.Errorf("NaN in place %d: the %s is %v", i, name, x)
				}
			}
		}
	})
}
