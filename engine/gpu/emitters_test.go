package gpu_test

import (
	"math"
	"slices"
	"testing"

	"utvi/engine/gpu"
	"utvi/gauss"
	"utvi/internal/localization"
	"utvi/rng"
)

// A card draws the emitters that the host would draw.
func TestEmitters(t *testing.T) {
	e := card(t)
	key := rng.New(4).Sub(0, 0)
	for _, c := range []localization.Emitters{
		{Side: 8, Spread: 2, Blur: 1.05, Photons: 100},
		{Side: 16, Spread: 3, Blur: 2, Photons: 300}, // several groups of photons
	} {
		const steps, batch, first = 3, 37, 5
		n := steps * batch
		got := gauss.Fixed(c.Side*c.Side, make([]float32, n*c.Side*c.Side))
		y := make([]float32, 3*n)
		if err := gpu.DrawEmitters(e, c.Source(1000), key, first, batch, got.Mean, y); err != nil {
			t.Fatal(err)
		}
		s := c.Source(1000)
		for step := range steps {
			x, want := gauss.Fixed(got.Width, make([]float32, batch*got.Width)), make([]float32, 3*batch)
			s.Begin(key, uint64(first+step), batch)
			s.Fill(0, batch, x, want)
			if !slices.Equal(x.Mean, got.Slice(step*batch, (step+1)*batch).Mean) {
				t.Errorf("%+v, step %d: the images differ", c, first+step)
			}
			for i, w := range want {
				if g := y[3*step*batch+i]; math.Abs(float64(g-w)) > 1e-6*math.Abs(float64(w)) {
					t.Errorf("%+v, step %d: target %d of row %d is %v, on the CPU %v", c, first+step, i%3, i/3, g, w)
				}
			}
		}
	}
}
