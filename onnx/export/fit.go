package export

import "math"

// fit returns the polynomial, lowest power first, that interpolates f at the Chebyshev
// nodes of [lo, hi]. Fitting the quotient of a function by its leading factor makes the
// error relative.
func fit(f func(float64) float64, lo, hi float64, degree int) []float64 {
	n := degree + 1
	m, y := make([][]float64, n), make([]float64, n)
	for k := range n {
		x := (lo+hi)/2 + (hi-lo)/2*math.Cos(math.Pi*(float64(k)+0.5)/float64(n))
		y[k] = f(x)
		for p := 1.0; len(m[k]) < n; p *= x {
			m[k] = append(m[k], p)
		}
	}
	return solve(m, y)
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
				m[i][j] -= float64(f * m[k][j])
			}
			y[i] -= float64(f * y[k])
		}
	}
	c := make([]float64, n)
	for k := n - 1; k >= 0; k-- {
		c[k] = y[k]
		for j := k + 1; j < n; j++ {
			c[k] -= float64(m[k][j] * c[j])
		}
		c[k] /= m[k][k]
	}
	return c
}
