package kernel

import (
	"fmt"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/internal/cpu"
)

// couplesOf are Normals of all sorts: equal means, no variances, far apart.
func couplesOf(n int) (c Couples[float32], mu, u, chance, mv []float32) {
	take := func(seed uint64) []float32 { return computetest.Values[float32](n, seed) }
	c = Couples[float32]{M1: take(1), V1: take(2), M2: take(3), V2: take(4)}
	mean, variance := make([]float32, n), make([]float32, n)
	mu, u = make([]float32, n), make([]float32, n)
	chance, mv = make([]float32, n), make([]float32, n)
	for i := range n {
		c.V1[i] *= c.V1[i]
		c.V2[i] *= c.V2[i]
		if i%7 == 3 {
			c.V1[i], c.V2[i] = 0, 0
		}
		if i%5 == 2 {
			c.M2[i] = c.M1[i]
		}
	}
	Differences(mean, variance, &c)
	LeakyMoments(Moments[float32]{Mean: mu, Var: u, MM: chance, MV: mv, VM: take(5), VV: take(6)}, 0, mean, variance)
	return c, mu, u, chance, mv
}

// Every family computes the larger of two Normals, its slopes and their reverse to the bits of the
// twins, at every length around the width of a vector.
func TestLarger(t *testing.T) {
	for _, n := range []int{1, 7, 8, 15, 16, 17, 50} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c, mu, u, chance, mv := couplesOf(n)
			run := func() (all [][]float32) {
				x := make([][]float32, 14)
				for i := range x {
					x[i] = computetest.Values[float32](n, uint64(30+i))
				}
				copy(x[5], chance)
				l := Larger[float32]{MM1: x[4], MM2: x[5], MV: mv, VM: x[6], VV1: x[7], VV2: x[8]}
				Differences(x[0], x[1], &c)
				LargerMoments(x[2], x[3], &c, mu, u)
				LargerSlopes(&l, &c, mu, u)
				LargerBack(x[9], x[10], x[11], x[12], &l)
				SubTo(x[13], x[9], x[10])
				return x
			}
			family := cpu.Family()
			cpu.Use("go")
			want := run()
			cpu.Use(family)
			computetest.EachFamily(t, func(t *testing.T) {
				for k, x := range run() {
					for i := range x {
						if x[i] != want[k][i] {
							t.Errorf("result %d of element %d is %v, want %v", k, i, x[i], want[k][i])
						}
					}
				}
			})
		})
	}
}
