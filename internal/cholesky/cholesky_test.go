package cholesky

import (
	"math"
	"testing"
)

func root(_ int, s float64) float64 {
	if s < 1e-12 {
		return 0
	}
	return math.Sqrt(s)
}

// L·Lᵀ is the matrix, also where a row depends on others.
func TestFactor(t *testing.T) {
	for _, want := range [][][]float64{
		{{4}},
		{{4, 0, 0}, {2, 5, 0}, {-1, 3, 9}},
		{{1, 0, 0, 0}, {2, 4, 0, 0}, {3, 6, 10, 0}, {0, 0, 1, 5}}, // the second row is twice the first
		{{0, 0}, {0, 2}},
	} {
		l := make([][]float64, len(want))
		for i, row := range want {
			l[i] = append([]float64(nil), row...)
			for j := i + 1; j < len(row); j++ {
				l[i][j] = 77 // not looked at
			}
		}
		Factor(l, root)
		for i := range want {
			for j := range want {
				if j > i {
					if l[i][j] != 77 {
						t.Errorf("entry (%d,%d) was written", i, j)
					}
					continue
				}
				var sum float64
				for k := range j + 1 {
					sum += l[i][k] * l[j][k]
				}
				if math.Abs(sum-want[i][j]) > 1e-12 {
					t.Errorf("entry (%d,%d) of L·Lᵀ is %g, want %g", i, j, sum, want[i][j])
				}
			}
		}
	}
}

// The gradient of a sum over the root, against differences in which both halves of the
// matrix move together.
func TestPull(t *testing.T) {
	a := [][]float64{{4, 0, 0}, {2, 5, 0}, {-1, 3, 9}}
	weight := func(i, j int) float64 { return math.Sin(float64(3*i + j + 1)) }
	factor := func() [][]float64 {
		l := make([][]float64, len(a))
		for i, row := range a {
			l[i] = append([]float64(nil), row...)
		}
		Factor(l, root)
		return l
	}
	d := [][]float64{{0, 77, 77}, {0, 0, 77}, {0, 0, 0}}
	for i := range d {
		for j := range i + 1 {
			d[i][j] = weight(i, j)
		}
	}
	Pull(factor(), d)
	for i := range a {
		for j := range i + 1 {
			at := func(h float64) (sum float64) {
				a[i][j] += h
				defer func() { a[i][j] -= h }()
				for i, row := range factor() {
					for j := range i + 1 {
						sum += weight(i, j) * row[j]
					}
				}
				return sum
			}
			want := (at(1e-5) - at(-1e-5)) / 2e-5
			got := d[i][j]
			if i != j {
				got += d[j][i]
			}
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("∂/∂a(%d,%d) is %v, want %v", i, j, got, want)
			}
		}
	}
}
