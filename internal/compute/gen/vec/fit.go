package vec

import "math"

// Fit returns the polynomial, lowest power first, that interpolates f at the
// Chebyshev nodes of [lo, hi]; its error is within a small factor of the best
// possible. Fit the quotient of a function by its leading factor: the error is
// then relative.
func Fit(f func(float64) float64, lo, hi float64, degree int) []float64 {
	x, y := nodes(f, lo, hi, degree+1)
	m := make([][]float64, len(x))
	for i, x := range x {
		m[i] = powers(x, degree)
	}
	return solve(m, y)
}

// FitRatio returns P and Q, Q[0] = 1, with P/Q = f at the Chebyshev nodes.
func FitRatio(f func(float64) float64, lo, hi float64, p, q int) (P, Q []float64) {
	x, y := nodes(f, lo, hi, p+q+1)
	m := make([][]float64, len(x))
	for i, x := range x {
		m[i] = powers(x, p)
		for _, w := range powers(x, q)[1:] {
			m[i] = append(m[i], -y[i]*w)
		}
	}
	c := solve(m, y)
	return c[:p+1], append([]float64{1}, c[p+1:]...)
}

// nodes are n Chebyshev nodes of [lo, hi] and the values of f there.
func nodes(f func(float64) float64, lo, hi float64, n int) (x, y []float64) {
	for k := range n {
		v := (lo+hi)/2 + (hi-lo)/2*math.Cos(math.Pi*(float64(k)+0.5)/float64(n))
		x, y = append(x, v), append(y, f(v))
	}
	return x, y
}

func powers(x float64, degree int) []float64 {
	p := []float64{1}
	for i := range degree {
		p = append(p, p[i]*x)
	}
	return p
}

// solve eliminates with row pivoting; it overwrites its arguments.
func solve(m [][]float64, y []float64) []float64 {
	n := len(y)
	for k := range n {
		best := k
		for i := k; i < n; i++ {
			if math.Abs(m[i][k]) > math.Abs(m[best][k]) {
				best = i
			}
		}
		m[k], m[best] = m[best], m[k]
		y[k], y[best] = y[best], y[k]
		for i := k + 1; i < n; i++ {
			f := m[i][k] / m[k][k]
			for j := k; j < n; j++ {
				m[i][j] -= f * m[k][j]
			}
			y[i] -= f * y[k]
		}
	}
	c := make([]float64, n)
	for k := n - 1; k >= 0; k-- {
		c[k] = y[k]
		for j := k + 1; j < n; j++ {
			c[k] -= m[k][j] * c[j]
		}
		c[k] /= m[k][k]
	}
	return c
}
