package kernel

import (
	"math"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/internal/cpu"
)

// Every family computes softmaxes and their reverse as the twins do, also where exponentials
// vanish and where nothing varies.
func TestSoftmaxKernels(t *testing.T) {
	n := SoftmaxNodes{JoinX: [5]float64{0, -1.3, 1.3, -2.8, 2.8}, JoinW: [5]float64{.5, .2, .2, .05, .05}}
	for q := range n.LogisticX {
		n.LogisticX[q] = 0.7 * float64((q+1)/2) * float64(1-2*(q%2))
		n.LogisticW[q] = 1. / 15
	}
	normals := func(seed uint64, size, spread float64) (x Normals8) {
		copy(x.M[:], computetest.Values[float64](8, seed))
		copy(x.V[:], computetest.Values[float64](8, seed+1))
		for i := range x.V {
			x.M[i] *= size
			x.V[i] = spread * x.V[i] * x.V[i]
		}
		return x
	}
	for c, size := range []float64{1e-3, 1, 30, 900} {
		for _, spread := range []float64{1e-12, 1, 100} {
			a, b := normals(uint64(c), size, spread), normals(uint64(c+40), size, spread)
			g := normals(7, 1, 1)
			run := func() (all []float64) {
				var l Joined
				da, db := normals(8, 1, 1), normals(9, 1, 1)
				Join(&l, &a, &b, &n)
				JoinBack(&da, &db, &g, &a, &b, &l, &n)
				var f [LogisticOrder]Eight
				var y, d, certain Normals8
				Logistic(&y, &f, &a, &n)
				LogisticBack(&d, &g, &y, &a, &f, &n)
				none := Normals8{M: a.M}
				var sure Joined
				Join(&sure, &none, &none, &n)
				Logistic(&certain, &f, &none, &n)
				for _, x := range []*Normals8{&l.Normals8, &da, &db, &y, &d, &certain, &sure.Normals8} {
					all = append(append(all, x.M[:]...), x.V[:]...)
				}
				return all
			}
			family := cpu.Family()
			cpu.Use("go")
			want := run()
			cpu.Use(family)
			computetest.EachFamily(t, func(t *testing.T) {
				for i, x := range run() {
					if !(math.Abs(x-want[i]) <= 2e-15*math.Abs(want[i])+1e-14*max(1, size)*max(1, 1/spread*1e-6)) {
						t.Errorf("size %v, spread %v: result %d is %v, want %v", size, spread, i, x, want[i])
					}
				}
			})
		}
	}
}
