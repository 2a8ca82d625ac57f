package gpu_test

import (
	"math"
	"testing"

	"utvi/dist"
	"utvi/engine"
	"utvi/rng"
)

// The intervals of mixtures are those of package dist: of members that agree or lie far
// apart, with parts of very different widths, at common and at extreme levels.
func TestIntervals(t *testing.T) {
	e := card(t)
	shapes := []engine.Shape{{Weights: []float64{0.7, 0.2, 0.1}, Factors: []float64{0.5, 3, 100}}, {Weights: []float64{1}, Factors: []float64{1.3}}}
	const members, most, n = 3, 200, 150
	in, err := e.Abilities().NewIntervals(members, most, shapes)
	if err != nil {
		t.Fatal(err)
	}
	key := rng.New(2)
	var mean, variance [members][]float32
	for k := range members {
		mean[k], variance[k] = make([]float32, most), make([]float32, most)
		for i := range most {
			at := uint64(members*i + k)
			apart := math.Pow(10, 6*rng.Uniform(key.Sub(1, 0), uint64(i))-3)
			mean[k][i] = float32(apart * rng.Normal(key, at))
			variance[k][i] = float32(math.Exp(3 * rng.Normal(key.Sub(2, 0), at)))
		}
	}
	mean[1][7] = float32(math.NaN())
	lo, hi := make([]float64, most), make([]float64, most)
	for _, level := range []float64{0.9, 0.5, 0.999999} {
		if err := in.Find(level, n, mean[:], variance[:], lo, hi); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if i == 7 {
				if !math.IsNaN(lo[i]) && !math.IsNaN(hi[i]) {
					t.Errorf("the interval of a NaN is %v to %v", lo[i], hi[i])
				}
				continue
			}
			var m dist.Mixture
			for k := range members {
				s := shapes[i%len(shapes)]
				for j, w := range s.Weights {
					m.Add(w, float64(mean[k][i]), math.Sqrt(float64(variance[k][i])*s.Factors[j]))
				}
			}
			a, b := dist.Interval(&m, level)
			if far := 1e-9 * m.SD(); !(math.Abs(a-lo[i]) <= far && math.Abs(b-hi[i]) <= far) {
				t.Errorf("level %v, number %d: the card finds %v to %v, the CPU %v to %v", level, i, lo[i], hi[i], a, b)
			}
		}
	}
	if lo[n] != 0 || hi[n] != 0 {
		t.Error("more numbers were found than were asked for")
	}
}
