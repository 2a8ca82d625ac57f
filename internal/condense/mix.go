package condense

import (
	"math"

	"utvi/rng"
)

// mix makes m rows of the k rows of a group. With weights that sum up to k, A are the rows minus
// their mean, each times the root of its weight; the rows made are mean + c·Q·A with a random Q
// whose m rows are orthogonal to each other and, in sum, to 1. For m = k and equal weights, Q is
// orthogonal on what has mean 0 and the covariance stays exactly; for less it stays on average.
func (r Rows) mix(key rng.Key, rows []int, m int, out *Made) {
	k := len(rows)
	var total float64
	for _, i := range rows {
		total += r.Weights[i]
	}
	from := make([]int, k)
	rng.Perm(key.Sub(0, 1), from)
	for i := range m {
		out.From = append(out.From, rows[from[i]])
		out.Weights = append(out.Weights, total/float64(m))
	}
	q := rotation(key.Sub(0, 2), m, k)
	for j, x := range r.Numbers {
		mean := r.mean(x, rows)
		for i := range m {
			v := mean
			for l, row := range rows {
				if d := x[row] - mean; d == d && total > 0 {
					v += q[i][l] * d * math.Sqrt(r.Weights[row]*float64(k)/total)
				}
			}
			if x[rows[from[i]]] != x[rows[from[i]]] {
				v = math.NaN()
			}
			out.Numbers[j] = append(out.Numbers[j], v)
		}
	}
}

// mean is the weighted mean of the numbers that rows have, NaN without any.
func (r Rows) mean(x []float64, rows []int) float64 {
	var sum, all float64
	for _, i := range rows {
		if v := x[i]; v == v {
			sum += r.Weights[i] * v
			all += r.Weights[i]
		}
	}
	return sum / all
}

// rotation returns Q, m by k: H'·R·H, where the rows of H and H' are a basis of what has mean 0, of k
// and of m numbers, and R is random with orthonormal rows.
func rotation(key rng.Key, m, k int) [][]float64 {
	q := make([][]float64, m)
	for i := range q {
		q[i] = make([]float64, k)
	}
	if m < 2 {
		return q
	}
	basis := gramSchmidt(m-1, k, func(i, l int) float64 { return rng.Normal(key, uint64(i*k+l)) })
	scale := math.Sqrt(float64(m) / float64(k) * float64(k-1) / float64(m-1))
	for a, row := range basis {
		// Helmert: row a has a+1 times 1 and then −(a+1).
		norm := math.Sqrt(float64((a + 1) * (a + 2)))
		for i := range a + 2 {
			h := 1 / norm
			if i == a+1 {
				h = -float64(a+1) / norm
			}
			for l, v := range row {
				q[i][l] += scale * h * v
			}
		}
	}
	return q
}

// gramSchmidt returns n orthonormal vectors of k numbers with mean 0.
func gramSchmidt(n, k int, draw func(i, l int) float64) [][]float64 {
	var basis [][]float64
	for i := range n {
		v := make([]float64, k)
		var mean float64
		for l := range v {
			v[l] = draw(i, l)
			mean += v[l] / float64(k)
		}
		for l := range v {
			v[l] -= mean
		}
		for range 2 { // once more, for rounding
			for _, b := range basis {
				var dot float64
				for l := range v {
					dot += v[l] * b[l]
				}
				for l := range v {
					v[l] -= dot * b[l]
				}
			}
		}
		var norm float64
		for _, x := range v {
			norm += x * x
		}
		norm = math.Sqrt(norm)
		for l := range v {
			v[l] /= norm
		}
		basis = append(basis, v)
	}
	return basis
}
