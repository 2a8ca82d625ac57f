package product

import (
	"slices"
	"testing"
)

// TestStream: writing past the caches leaves the same panels, wherever they lie.
func TestStream(t *testing.T) {
	const k, n = 13, 37
	src := make([]float32, k*n)
	for i := range src {
		src[i] = float32(i + 1)
	}
	for _, stride := range [][2]int{{n, 1}, {1, k}} {
		want := NewRight[float32](k, n)
		want.Pack(src, stride[0], stride[1])
		for shift := range 9 {
			got := Right[float32]{k, n, make([]float32, shift+RightLen(k, n))[shift:]}
			got.PackStream(0, k, src, stride[0], stride[1], true)
			if !slices.Equal(got.Data, want.Data) {
				t.Errorf("strides %v, %d numbers from alignment: panels differ", stride, shift)
			}
		}
	}
}

// TestPackEnds: rows that do not fill a panel end in zeros, however they lie.
func TestPackEnds(t *testing.T) {
	const k = 5
	for n := 1; n <= 2*NR+1; n++ {
		rows, columns := make([]float64, k*n), make([]float64, k*n)
		want := make([]float64, RightLen(k, n))
		for i := range k {
			for j := range n {
				x := float64(i*n + j + 1)
				rows[i*n+j], columns[j*k+i] = x, x
				want[(j/NR*k+i)*NR+j%NR] = x
			}
		}
		for lies, pack := range map[string]func(r Right[float64]){
			"by rows":    func(r Right[float64]) { r.PackRows(0, 2, rows, n, 1); r.PackRows(2, k, rows[2*n:], n, 1) },
			"by columns": func(r Right[float64]) { r.Pack(columns, 1, k) },
		} {
			got := NewRight[float64](k, n)
			for i := range got.Data {
				got.Data[i] = -1
			}
			pack(got)
			if !slices.Equal(got.Data, want) {
				t.Errorf("%d columns %s: panels are %v, want %v", n, lies, got.Data, want)
			}
		}
	}
}
