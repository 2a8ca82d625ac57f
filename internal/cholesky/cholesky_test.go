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
