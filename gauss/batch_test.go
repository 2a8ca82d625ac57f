package gauss_test

import (
	"slices"
	"testing"

	"utvi/gauss"
)

func TestSliceShares(t *testing.T) {
	b := gauss.New[float64](3, 2)
	s := b.Slice(1, 2)
	s.Mean[1], s.Var[0] = 5, 7
	if s.Rows != 1 || s.Width != 2 || !slices.Equal(b.Mean, []float64{0, 0, 0, 5, 0, 0}) || !slices.Equal(b.Var, []float64{0, 0, 7, 0, 0, 0}) {
		t.Errorf("%v of %v", s, b)
	}
	if s := gauss.Fixed(2, b.Mean).Slice(1, 3); s.Var != nil || s.Rows != 2 || s.Mean[1] != 5 {
		t.Errorf("%v", s)
	}
}

func TestMisusePanics(t *testing.T) {
	for name, f := range map[string]func(){
		"width 0":     func() { gauss.Fixed(0, []float32{1}) },
		"ragged rows": func() { gauss.Fixed(2, []float32{1, 2, 3}) },
		"rows -1":     func() { gauss.New[float32](-1, 2) },
		"few stds":    func() { gauss.FromStd(1, []float32{1, 2}, []float32{1}) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(string); !ok {
					t.Errorf("%s: no panic with a string", name)
				}
			}()
			f()
		}()
	}
}
