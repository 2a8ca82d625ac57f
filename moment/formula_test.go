package moment_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// A kink that a parameter has moved counts where it is, not where it started: beside
// it the points are believed, away from it the limit of vanishing variance is taken.
func TestMovedKink(t *testing.T) {
	f := fn.MustFormula("max(x, a)", fn.Learned("a", 7))
	t.Run("float64", func(t *testing.T) { movedKink[float64](t, f, 1e-8) })
	t.Run("float32", func(t *testing.T) { movedKink[float32](t, f, 1e-6) })
}

func movedKink[T gauss.Float](t *testing.T, f *moment.Func, s float64) {
	const a = 0.5
	tile := moment.NewTile[T](f, moment.UT(2))
	v := s * s
	tile.Mean, tile.Var = []T{a, 1.5, -1.5, 7}, []T{T(v), T(v), T(v), T(v)}
	at := make([]T, 4)
	for i := range at {
		at[i] = a
	}
	tile.Params = [][]T{at}
	mean, variance := make([]T, 4), make([]T, 4)
	tile.Out = kernel.Moments[T]{Mean: mean, Var: variance}
	tile.Push()
	// On the kink: f − a is 0, 0 and √3σ at the points, up to the rounding of a + √3σ.
	if want := (3.0/6 - 3.0/36) * v; !(math.Abs(float64(variance[0])-want) < 0.1*want) {
		t.Errorf("on the kink the variance is %v, want %v", variance[0], want)
	}
	for i, want := range []float64{v, 0, v} {
		if got := float64(variance[i+1]); !(math.Abs(got-want) <= 1e-6*v) {
			t.Errorf("at %v the variance is %v, want %v", tile.Mean[i+1], got, want)
		}
	}
}
