package cholesky

// Pull is the reverse of Factor: it turns the gradients by the root l, in the lower half
// of d, into those by the matrix A. They fill d and are symmetric: a change dA changes
// the loss by Σ d·dA. Pivots that were not their own root are differentiated as if they
// were; one of zero has no gradient.
func Pull(l, d [][]float64) {
	for i := len(l) - 1; i >= 0; i-- {
		for j := i; j >= 0; j-- {
			pivot, a := l[j][j], 0.0
			switch {
			case pivot == 0:
			case i == j:
				a = d[i][i] / (2 * pivot)
			default:
				a = d[i][j] / pivot
				d[j][j] -= float64(a * l[i][j])
			}
			for k := range j {
				d[i][k] -= float64(a * l[j][k])
				d[j][k] -= float64(a * l[i][k])
			}
			d[i][j] = a
		}
	}
	for i := range d {
		for j := range i {
			d[i][j] /= 2
			d[j][i] = d[i][j]
		}
	}
}
