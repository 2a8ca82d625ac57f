package tabular

import "math"

// fit finds the most probable curve given some rows and their shape: each round divides the
// rows among members and parts, and takes one step of Newton's method with these shares.
func (f *curveFit) fit(s ResidualMixture, bend float64, some func(row int) bool) {
	n := len(f.curve.Log)
	clear(f.curve.Log)
	u := make([]float64, n)
	slope, bow := make([]float64, n), make([][]float64, n)
	hess := make([][]float64, n)
	for i := range n {
		bow[i], hess[i] = make([]float64, n), make([]float64, n)
	}
	offset, line := s.lines()
	for range curveRounds {
		clear(slope)
		for i := range bow {
			clear(bow[i])
		}
		for i := range f.rows {
			if some(i) {
				f.pull(i, &offset, &line, slope, bow)
			}
		}
		// Of u: the slope rootᵀ·slope − u, the curvature rootᵀ·bow·root + 1.
		for i := range n {
			for j := range i + 1 {
				var sum float64
				for a := i; a < n; a++ {
					for b := max(j, a-1); b < min(n, a+2); b++ { // bow is a band
						sum += f.root[a][i] * bow[max(a, b)][min(a, b)] * f.root[b][j]
					}
				}
				hess[i][j] = bend * bend * sum
			}
			hess[i][i]++
		}
		step := make([]float64, n)
		for i := range n {
			for a := i; a < n; a++ {
				step[i] += bend * f.root[a][i] * slope[a]
			}
			step[i] -= u[i]
		}
		takeRoot(hess)
		substitute(hess, step)
		for i := range u {
			u[i] += step[i]
		}
		for a := range n {
			f.curve.Log[a] = 0
			for i := range a + 1 {
				f.curve.Log[a] += bend * f.root[a][i] * u[i]
			}
		}
	}
}

// pull adds what a row says about the factors at the knots: the slope of ln p, and the
// lower half of its curvature.
func (f *curveFit) pull(row int, offset, line *[shapeParts]float64, slope []float64, bow [][]float64) {
	top, all := f.density(row, offset, line)
	for k, p := range f.places[row] {
		x := f.row[k]
		var share, z2 float64 // z² in units of the parts' widths
		for j := range offset {
			q := f.counts[row] * math.Exp(x.log+offset[j]+line[j]*x.z2-top) / all
			share += q
			z2 -= 2 * q * line[j] * x.z2
		}
		first, second := (z2-share)/2, (z2+share)/4
		a, b := 1-p.weight, p.weight
		slope[p.knot] += a * first
		slope[p.knot+1] += b * first
		bow[p.knot][p.knot] += a * a * second
		bow[p.knot+1][p.knot] += a * b * second
		bow[p.knot+1][p.knot+1] += b * b * second
	}
}

// substitute replaces x by the solution of L·Lᵀ·y = x.
func substitute(l [][]float64, x []float64) {
	for i := range x {
		for k := range i {
			x[i] -= l[i][k] * x[k]
		}
		x[i] /= l[i][i]
	}
	for i := len(x) - 1; i >= 0; i-- {
		for k := i + 1; k < len(x); k++ {
			x[i] -= l[k][i] * x[k]
		}
		x[i] /= l[i][i]
	}
}
