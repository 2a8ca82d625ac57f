package fit

import "math"

// maxBlock is how many emitters are solved for together, and in a bound.
const maxBlock = 10

// A system is a set of normal equations: lower triangle of a symmetric matrix, and a right side.
type system struct {
	n        int
	matrix   [(perEmitter*maxBlock + 1) * (perEmitter*maxBlock + 1)]float64
	gradient [perEmitter*maxBlock + 1]float64
}

func (s *system) reset(n int) {
	s.n = n
	clear(s.matrix[:n*n])
	clear(s.gradient[:n])
}

// add adds to the element of a row and a column that is not behind it.
func (s *system) add(row, column int, x float64) { s.matrix[row*s.n+column] += x }

// factor replaces the matrix by its Cholesky root. It reports false where the matrix is singular:
// emitters that cannot be told apart.
func (s *system) factor() bool {
	n := s.n
	for j := range n {
		row := s.matrix[j*n:][:j+1]
		d := row[j]
		limit := 1e-9 * d
		for k := range j {
			d -= row[k] * row[k]
		}
		if !(d > limit) || !(d > 0) {
			return false
		}
		root := math.Sqrt(d)
		row[j] = root
		inverse := 1 / root
		for i := j + 1; i < n; i++ {
			other := s.matrix[i*n:][:j+1]
			x := other[j]
			for k := range j {
				x -= other[k] * row[k]
			}
			other[j] = x * inverse
		}
	}
	return true
}

// forward solves L·x = b in place.
func (s *system) forward(b []float64) {
	for i := range s.n {
		x := b[i]
		row := s.matrix[i*s.n:][:i]
		for k, l := range row {
			x -= l * b[k]
		}
		b[i] = x / s.matrix[i*s.n+i]
	}
}

// solve replaces the gradient by the step.
func (s *system) solve() {
	b := s.gradient[:s.n]
	s.forward(b)
	for i := s.n - 1; i >= 0; i-- {
		x := b[i]
		for k := i + 1; k < s.n; k++ {
			x -= s.matrix[k*s.n+i] * b[k]
		}
		b[i] = x / s.matrix[i*s.n+i]
	}
}

// lastVariance is that of the last parameter, from the factored matrix.
func (s *system) lastVariance() float64 {
	root := s.matrix[s.n*s.n-1]
	return 1 / (root * root)
}

// covariance returns the covariance of the first parameters, from the factored matrix: with
// L·u = e, the covariance of two is the product of their u.
func (s *system) covariance(c *[perEmitter][perEmitter]float64) {
	var u [perEmitter][perEmitter*maxBlock + 1]float64
	for i := range u {
		u[i][i] = 1
		s.forward(u[i][:s.n])
	}
	for i := range c {
		for j := range c[i] {
			sum := 0.0
			for k := range s.n {
				sum += u[i][k] * u[j][k]
			}
			c[i][j] = sum
		}
	}
}
