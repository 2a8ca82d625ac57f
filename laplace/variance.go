package laplace

import "math"

// Covariance returns the covariances of all quantities of all rows with one another that come from the
// weights: (N·K)² numbers, symmetric.
func (p *Posterior) Covariance(x *Rows) []float64 {
	n := x.N * x.K
	cov := make([]float64, n*n)
	for i := range p.blocks {
		b := &p.blocks[i]
		part := x.layers(b.lo, b.hi)
		plus, minus := b.features(part, p.scale)
		if b.inverse == nil {
			k := make([]float64, n*n)
			newSide(part).kernel(k, part)
			axpy(cov, p.scale, k)
		}
		outer(cov, plus, n, 1)
		outer(cov, minus, n, -1)
	}
	return cov
}

// Variance returns the covariances of the quantities of each row, N × K × K.
func (p *Posterior) Variance(x *Rows) []float64 {
	all := make([]float64, x.N*x.K*x.K)
	const rows = 64
	for lo := 0; lo < x.N; lo += rows {
		p.variance(all[lo*x.K*x.K:], x.slice(lo, min(x.N, lo+rows)))
	}
	return all
}

func (p *Posterior) variance(dst []float64, x *Rows) {
	dst = dst[:x.N*x.K*x.K]
	own := make([]float64, len(dst))
	for i := range p.blocks {
		b := &p.blocks[i]
		part := x.layers(b.lo, b.hi)
		plus, minus := b.features(part, p.scale)
		if b.inverse == nil {
			part.own(own)
			axpy(dst, p.scale, own)
		}
		within(dst, plus, x.K, 1)
		within(dst, minus, x.K, -1)
	}
	for i := range x.N * x.K {
		at := &dst[i*x.K+i%x.K]
		*at = max(*at, 0)
	}
}

// features are vectors whose products add to the covariances of outputs, or take from them: one for each
// quantity of each row.
func (b *blockOf) features(x *Rows, scale float64) (plus, minus [][]float64) {
	if b.inverse != nil {
		return b.ofWeights(x, scale), nil
	}
	k := make([]float64, x.N*x.K*b.n)
	b.landmarks.kernel(k, x)
	for q := range x.N * x.K {
		phi := make([]float64, b.n)
		mulLower(phi, b.root, k[q*b.n:][:b.n], scale)
		minus = append(minus, phi)
		if b.back != nil {
			left := make([]float64, b.n)
			mulLower(left, b.back, phi, 1)
			plus = append(plus, left)
		}
	}
	return plus, minus
}

func (b *blockOf) ofWeights(x *Rows, scale float64) (plus [][]float64) {
	j := make([]float64, b.n)
	for q := range x.N * x.K {
		x.Whole(q, j)
		u := make([]float64, b.n)
		mulLower(u, b.inverse, j, 1)
		for i := range u {
			u[i] *= math.Sqrt(scale)
		}
		plus = append(plus, u)
	}
	return plus
}

// outer adds sign·u·u' of all pairs of vectors to a matrix of n × n.
func outer(to []float64, u [][]float64, n int, sign float64) {
	for i := range u {
		for j := range i + 1 {
			d := float64(sign * dot(u[i], u[j]))
			to[i*n+j] += d
			if i != j {
				to[j*n+i] += d
			}
		}
	}
}

// within adds sign·u·u' of the vectors of each row.
func within(to []float64, u [][]float64, k int, sign float64) {
	for i := range u {
		for l := range k {
			to[i*k+l] += float64(sign * dot(u[i], u[i/k*k+l]))
		}
	}
}
