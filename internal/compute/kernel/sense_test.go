package kernel

import (
	"fmt"
	"math"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/computetest"
)

// Every kernel of sensitivities gives what its definition says, in both precisions, at
// every length around the width of a vector.
func TestSense(t *testing.T) {
	for _, n := range []int{1, 3, 7, 8, 9, 31, 32, 33, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			testSense[float32](t, n, 2e-6)
			testSense[float64](t, n, 1e-14)
		})
	}
}

func testSense[T compute.Float](t *testing.T, n int, eps float64) {
	in := make([][]T, 10)
	for k := range in {
		in[k] = computetest.Values[T](n, uint64(k+1))
	}
	pos := func(k int) []T {
		x := make([]T, n)
		for i, v := range in[k] {
			x[i] = T(math.Abs(float64(v))) + 0.1
		}
		return x
	}
	f := func(x []T, i int) float64 { return float64(x[i]) }
	near := func(what string, i int, got T, want, size float64) {
		t.Helper()
		if !(math.Abs(float64(got)-want) <= eps*(size+math.Abs(want))) {
			t.Errorf("%s[%d] is %v, want %v", what, i, got, want)
		}
	}
	clone := func(x []T) []T { return append([]T(nil), x...) }

	e := in[0]
	a := in[1]
	b := in[2]
	var want, size float64
	for i := range e {
		p := f(e, i) * f(a, i) * f(b, i)
		want, size = want+p, size+math.Abs(p)
	}
	near("Dot3", 0, Dot3(e, a, b), want, size)

	v := pos(3)
	g := in[4]
	total := pos(5)
	rest := make([]T, n)
	Rest(rest, total, g, v)
	for i := range rest {
		near("Rest", i, rest[i], max(0, f(total, i)-f(g, i)*f(g, i)*f(v, i)), f(total, i)+10)
	}

	sum := clone(in[6])
	MulAdd(sum, a, b)
	for i := range sum {
		near("MulAdd", i, sum[i], f(in[6], i)+f(a, i)*f(b, i), 4)
	}

	de, db := clone(in[6]), clone(in[7])
	InjectBack(de, db, a, b, e, 0.75)
	for i := range de {
		near("InjectBack de", i, de[i], f(in[6], i)+0.75*f(b, i)*f(a, i), 4)
		near("InjectBack db", i, db[i], f(in[7], i)+1.5*f(b, i)*f(e, i), 4)
	}

	dm, dv := clone(in[6]), make([]T, n)
	RestBack(dm, dv, e, v, &Slope[T]{g, a, b, in[8], in[9]})
	for i := range dm {
		d := f(in[6], i) - 2*f(g, i)*f(v, i)*f(e, i)
		near("RestBack dm", i, dm[i], d*f(a, i)+f(e, i)*f(in[8], i), 40)
		near("RestBack dv", i, dv[i], d*f(b, i)+f(e, i)*(f(in[9], i)-f(g, i)*f(g, i)), 40)
	}

	v[0] = 0
	gm, gv := make([]T, n), make([]T, n)
	LeakySlopes(gm, gv, a, b, v)
	for i := range gm {
		want := 0.0
		if v[i] > 0 {
			want = -f(a, i) * f(b, i) / f(v, i)
		}
		near("LeakySlopes gm", i, gm[i], 2*f(a, i), 1)
		near("LeakySlopes gv", i, gv[i], want, 1)
	}
	testSlopes(t, n, in, near)
}

func testSlopes[T compute.Float](t *testing.T, n int, in [][]T, near func(string, int, T, float64, float64)) {
	xi, w := []T{0, -1.5, 1.5, -2.5}, []T{0.4, 0.2, 0.3, 0.1}
	const small = 0.01
	s, v := make([]T, n), make([]T, n)
	for i := range s {
		s[i] = T(math.Abs(float64(in[0][i]))) + 0.2
		if i%5 == 2 {
			s[i] = small / 2
		}
		v[i] = s[i] * s[i]
	}
	f, d := computetest.Values[T](4*n, 21), computetest.Values[T](4*n, 22)
	g, gv := make([]T, n), make([]T, n)
	Slopes(g, gv, &Seen[T]{s, v, in[1], in[2], f, d, xi, w}, T(small))
	for i := range g {
		var a, b float64
		for p := range xi {
			a += float64(w[p]) * float64(xi[p]) * (float64(f[p*n+i]) - float64(f[i]))
			b += float64(w[p]) * float64(xi[p]) * float64(xi[p]) * float64(d[p*n+i])
		}
		a /= float64(s[i])
		b = (b - a) / (2 * float64(v[i]))
		if i%5 == 2 {
			a, b = float64(in[2][i]), 0
		}
		near("Slopes g", i, g[i], a, 40)
		near("Slopes gv", i, gv[i], b, 400)
	}
}
