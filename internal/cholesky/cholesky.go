// Package cholesky factors covariances.
package cholesky

// Factor replaces the lower half of a symmetric matrix, given by rows, by its lower
// triangular root L, A = L·Lᵀ. It does not read or write the upper half. For each
// diagonal entry pivot turns the remainder s ≥ 0 into √s, or what the caller takes for
// it; entries below a pivot of zero become zero.
func Factor(a [][]float64, pivot func(i int, s float64) float64) {
	for i := range a {
		for j := range i + 1 {
			s := a[i][j]
			for k := range j {
				s -= float64(a[i][k] * a[j][k]) // not fused: the same bits everywhere
			}
			switch {
			case i == j:
				a[i][i] = pivot(i, s)
			case a[j][j] == 0:
				a[i][j] = 0
			default:
				a[i][j] = s / a[j][j]
			}
		}
	}
}
