package laplace

import (
	"utvi/internal/compute/product"
)

// A side is rows that kernels with other rows are computed of again and again.
type side struct {
	rows *Rows
	a, m []product.Right[float64] // of each layer
}

func newSide(rows *Rows) *side {
	s := &side{rows: rows}
	pack := func(x []float64, n, width int) product.Right[float64] {
		if x == nil || n == 0 {
			return product.Right[float64]{}
		}
		r := product.NewRight[float64](width, n)
		r.Pack(x, 1, width)
		return r
	}
	for _, f := range rows.Layers {
		s.a = append(s.a, pack(f.A, rows.N*rows.K, f.Out))
		s.m = append(s.m, pack(f.M, rows.N, f.In))
	}
	return s
}

// kernel writes Σ_layers (a·a')(m·m') of x and the rows of s to dst, x.N·x.K × s.rows.N·s.rows.K.
func (s *side) kernel(dst []float64, x *Rows) {
	width := s.rows.N * s.rows.K
	room := make([]float64, x.N*x.K*width)
	mm := make([]float64, x.N*s.rows.N)
	clear(dst[:x.N*x.K*width])
	if len(dst) == 0 || width == 0 {
		return
	}
	for l := range s.rows.Layers {
		f, g := &x.Layers[l], &s.rows.Layers[l]
		product.Mul(product.To(room, width), product.Rows(f.A, f.Out), x.N*x.K, s.a[l])
		if f.M != nil {
			product.Mul(product.To(mm, s.rows.N), product.Rows(f.M, f.In), x.N, s.m[l])
		}
		for q := range x.N * x.K {
			r := q / x.K
			to, from := dst[q*width:][:width], room[q*width:][:width]
			for j := range to {
				p := j / s.rows.K
				switch {
				case f.M != nil:
					to[j] += float64(from[j] * mm[r*s.rows.N+p])
				case f.Level == nil || f.Level[r] == g.Level[p]:
					to[j] += from[j]
				}
			}
		}
	}
}

// own writes the kernel of the quantities of each row with one another, N × K × K.
func (r *Rows) own(dst []float64) {
	clear(dst)
	for i := range r.Layers {
		f := &r.Layers[i]
		for row := range r.N {
			m := 1.0
			if f.M != nil {
				m = dot(f.M[row*f.In:][:f.In], f.M[row*f.In:][:f.In])
			}
			for k := range r.K {
				a := f.A[(row*r.K+k)*f.Out:][:f.Out]
				for l := range r.K {
					dst[(row*r.K+k)*r.K+l] += float64(m * dot(a, f.A[(row*r.K+l)*f.Out:][:f.Out]))
				}
			}
		}
	}
}

// dot sums in four chains, in float64.
func dot(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	i := 0
	for ; i+3 < len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return a + b + (c + d)
}
