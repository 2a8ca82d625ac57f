package calibrate

import (
	"math"
	"testing"

	"utvi/dist"
	"utvi/rng"
)

// classes are rows whose class is drawn from probabilities that the prediction raises to
// a power: 1/power is the temperature that mends it.
func classes(seed uint64, n int, power float64) ClassRows {
	key := rng.New(seed)
	return Unweighted(func(yield func(int, dist.Categorical) bool) {
		truth, p := make(dist.Categorical, 3), make(dist.Categorical, 3)
		for i := range n {
			var total, bent float64
			for k := range truth {
				truth[k] = math.Exp(1.5 * rng.Normal(key, uint64(4*i+k)))
				p[k] = math.Pow(truth[k], power)
				total += truth[k]
				bent += p[k]
			}
			u, class := rng.Uniform(key.Sub(1, 0), uint64(i))*total, 0
			for class < 2 && u > truth[class] {
				u -= truth[class]
				class++
			}
			for k := range p {
				p[k] /= bent
			}
			if !yield(class, p) {
				return
			}
		}
	})
}

func classNLL(rows ClassRows, temperature float64) (sum float64) {
	t, q := Temperature{T: temperature}, make(dist.Categorical, 3)
	for r := range rows {
		t.Apply(q, r.Prediction)
		sum -= r.Weight * q.LogPMF(r.Target)
	}
	return sum
}

func TestTemperature(t *testing.T) {
	for _, power := range []float64{0.4, 1, 2.5} {
		rows := classes(3, 2000, power)
		fit, err := FitTemperature(rows)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "temperature", fit.T, power, 0.1*power)
		best := classNLL(rows, fit.T)
		var plain float64
		for r := range rows {
			plain -= r.Prediction.LogPMF(r.Target)
		}
		near(t, "the likelihood at temperature 1", classNLL(rows, 1), plain, 1e-9*plain)
		if best > plain {
			t.Errorf("power %g: worse by %g", power, best-plain)
		}
		for _, by := range []float64{0.97, 1.03} {
			if classNLL(rows, fit.T*by) <= best {
				t.Errorf("power %g: %v, but %g times that is better", power, fit, by)
			}
		}
	}
}

// Rows that no temperature suits: always right, where colder is always better, but 20 rows show no more
// than that about one in 22 is wrong (T = 0.27), and always wrong.
func TestTemperatureBounds(t *testing.T) {
	for class, bounds := range [][2]float64{{0.2, 0.35}, {mostT * (1 - 1e-9), mostT}} {
		fit, err := FitTemperature(Unweighted(func(yield func(int, dist.Categorical) bool) {
			for range 20 {
				if !yield(class, dist.Categorical{0.7, 0.3}) {
					return
				}
			}
		}))
		if err == nil {
			err = fit.check()
		}
		if err != nil {
			t.Fatal(err)
		}
		if !(fit.T >= bounds[0] && fit.T <= bounds[1]) {
			t.Errorf("class %d: %v, want %v", class, fit, bounds)
		}
	}
}

func TestTemperatureApply(t *testing.T) {
	p := dist.Categorical{0.2, 0.7, 0.1}
	(&Temperature{T: 0.5}).Apply(p, p)
	for k, want := range []float64{0.04 / 0.54, 0.49 / 0.54, 0.01 / 0.54} {
		near(t, "probability", p[k], want, 1e-12)
	}
	hard := dist.Categorical{1, 0}
	(&Temperature{T: 100}).Apply(hard, hard)
	if !(hard[1] > 0.3 && hard[1] < 0.5) {
		t.Errorf("%v", hard)
	}
}
