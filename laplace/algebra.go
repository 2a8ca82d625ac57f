package laplace

import "math"

// axpy adds a·x to y.
func axpy(y []float64, a float64, x []float64) {
	x = x[:len(y)]
	for i := range y {
		y[i] += float64(a * x[i])
	}
}

// factor replaces the lower half of an n × n matrix by its lower triangular root, and clears the rest.
// A pivot that rounding made negative becomes next to nothing.
func factor(a []float64, n int) {
	for i := range n {
		row := a[i*n:][:i+1]
		for j := range i {
			row[j] = (row[j] - dot(row[:j], a[j*n:][:j])) / a[j*n+j]
		}
		row[i] = math.Sqrt(max(row[i]-dot(row[:i], row[:i]), 1e-14*row[i], 1e-300))
		clear(a[i*n+i+1 : (i+1)*n])
	}
}

// invert returns the inverse of a lower triangular matrix.
func invert(l []float64, n int) []float64 {
	inv := make([]float64, n*n)
	for i := range n {
		row := inv[i*n:][:i+1]
		for k := range i {
			axpy(row[:k+1], -l[i*n+k], inv[k*n:])
		}
		for k := range i {
			row[k] /= l[i*n+i]
		}
		row[i] = 1 / l[i*n+i]
	}
	return inv
}

// mulLower writes scale·l·x for a lower triangular l to y.
func mulLower(y, l, x []float64, scale float64) {
	n := len(y)
	for i := range y {
		y[i] = scale * dot(l[i*n:][:i+1], x[:i+1])
	}
}
