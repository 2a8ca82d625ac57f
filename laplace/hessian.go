package laplace

import "math"

// Precisions returns roots of Hessians for Combine, where row n tells quantity at[i] with the precision
// w[n·len(at)+i] = 1/(noise + v): v is the variance that the score has beside the noise.
func Precisions(w []float64, at []int, quantities int) (root []float64) {
	root = make([]float64, len(w)*quantities)
	for i, w := range w {
		root[i*quantities+at[i%len(at)]] = math.Sqrt(w)
	}
	return root
}

// Classes returns roots of diag(p) − p·pᵀ for Combine, the Hessians of −ln softmax by the logits, which
// are the means of rows, K a row.
func Classes(logits []float64, k int) (root []float64) {
	root = make([]float64, len(logits)*k)
	p := make([]float64, k)
	for at := 0; at < len(logits); at += k {
		x := logits[at:][:k]
		top, sum := math.Inf(-1), 0.0
		for _, l := range x {
			top = max(top, l)
		}
		for i, l := range x {
			p[i] = math.Exp(l - top)
			sum += p[i]
		}
		for i := range p {
			s := math.Sqrt(p[i] / sum)
			for j := range p {
				root[(at+i)*k+j] = -s * p[j] / sum
			}
			root[(at+i)*k+i] += s
		}
	}
	return root
}
