package laplace

import "math"

// Rows are the Jacobians of K quantities of N rows by all weights, in units of the weights' priors. They
// are kept as factors, layer by layer.
type Rows struct {
	N, K   int
	Mean   []float64 // of the quantities, N × K
	Layers []Factors
}

// Factors are the Jacobians by the weights of one layer: quantity k of row r varies by weight (i, j) as
// M_ri·A_rkj. M is nil where there is no i, or where row r has a 1 at i = Level[r] alone.
type Factors struct {
	Name    string // of the layer's first tensor
	In, Out int
	A       []float64 // N × K × Out
	M       []float64 // N × In
	Level   []int     // N

	trained []float64 // variances of the weights that training gave them, in units of the priors'
}

// Weights is the number of weights.
func (f *Factors) Weights() int { return max(1, f.In) * f.Out }

// Weights is the number of weights of all layers.
func (r *Rows) Weights() (n int) {
	for i := range r.Layers {
		n += r.Layers[i].Weights()
	}
	return n
}

// Combine returns the Jacobians of k sums of each row's quantities: root has N × k × K factors.
func (r *Rows) Combine(k int, root []float64) *Rows {
	c := &Rows{N: r.N, K: k, Mean: make([]float64, r.N*k)}
	combine(c.Mean, r.Mean, root, r.N, k, r.K, 1)
	for _, f := range r.Layers {
		g := f
		g.A = make([]float64, r.N*k*f.Out)
		combine(g.A, f.A, root, r.N, k, r.K, f.Out)
		c.Layers = append(c.Layers, g)
	}
	return c
}

func combine(to, from []float64, root []float64, n, k, all, width int) {
	for i := range n * k {
		dst := to[i*width:][:width]
		for l := range all {
			w := root[i*all+l]
			if w == 0 {
				continue
			}
			for c, x := range from[(i/k*all+l)*width:][:width] {
				dst[c] += float64(w * x)
			}
		}
	}
}

// Pick returns some of the rows.
func (r *Rows) Pick(rows []int) *Rows {
	p := &Rows{N: len(rows), K: r.K, Mean: gather(r.Mean, r.K, rows)}
	for _, f := range r.Layers {
		g := f
		g.A = gather(f.A, r.K*f.Out, rows)
		g.M = gather(f.M, f.In, rows)
		g.Level = gather(f.Level, 1, rows)
		p.Layers = append(p.Layers, g)
	}
	return p
}

func gather[E any](from []E, width int, rows []int) []E {
	if from == nil {
		return nil
	}
	to := make([]E, 0, len(rows)*width)
	for _, r := range rows {
		to = append(to, from[r*width:(r+1)*width]...)
	}
	return to
}

// layers returns the rows with some layers only.
func (r *Rows) layers(lo, hi int) *Rows {
	p := *r
	p.Layers = r.Layers[lo:hi]
	return &p
}

// Factorised returns the covariances of all quantities of all rows with one another that follow from the
// variances that training gave the weights, taken as independent: (N·K)² numbers.
func (r *Rows) Factorised() []float64 {
	n, p := r.N*r.K, r.Weights()
	all := make([][]float64, n)
	for q := range all {
		all[q] = make([]float64, p)
		r.Whole(q, all[q])
		at := 0
		for i := range r.Layers {
			for _, v := range r.Layers[i].trained {
				all[q][at] *= math.Sqrt(v)
				at++
			}
		}
	}
	cov := make([]float64, n*n)
	outer(cov, all, n, 1)
	return cov
}

// Whole writes the Jacobian of quantity q of all rows by every weight to j.
func (r *Rows) Whole(q int, j []float64) {
	at := 0
	row := q / r.K
	for i := range r.Layers {
		f := &r.Layers[i]
		a := f.A[q*f.Out:][:f.Out]
		for in := range max(1, f.In) {
			m := 1.0
			switch {
			case f.M != nil:
				m = f.M[row*f.In+in]
			case f.Level != nil && f.Level[row] != in:
				m = 0
			}
			for _, a := range a {
				j[at] = m * a
				at++
			}
		}
	}
}

// slice returns rows lo to hi−1, in the same memory.
func (r *Rows) slice(lo, hi int) *Rows {
	p := &Rows{N: hi - lo, K: r.K, Mean: r.Mean[lo*r.K : hi*r.K]}
	for _, f := range r.Layers {
		g := f
		g.A = f.A[lo*r.K*f.Out : hi*r.K*f.Out]
		if f.M != nil {
			g.M = f.M[lo*f.In : hi*f.In]
		}
		if f.Level != nil {
			g.Level = f.Level[lo:hi]
		}
		p.Layers = append(p.Layers, g)
	}
	return p
}
