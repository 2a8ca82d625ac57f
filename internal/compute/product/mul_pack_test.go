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
