package experiment

import (
	"math"

	"utvi/data"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/model"
	"utvi/rng"
)

// fcBorder is where the training inputs end: x ~ U[−0.5, 0.5].
const fcBorder = 0.5

// fcNoise is the standard deviation of the noise, 0.1 + 0.2·sin²(2πx − π/2).
func fcNoise(x float64) float64 {
	s := math.Sin(2*math.Pi*x - math.Pi/2)
	return 0.1 + 0.2*s*s
}

// fcRow draws y = x + ε.
func fcRow(key rng.Key, row uint64, x, y []float32) {
	x[0] = float32(fcBorder * (2*rng.Uniform(key, 2*row) - 1))
	at := float64(x[0])
	y[0] = float32(at + fcNoise(at)*rng.Normal(key, 2*row+1))
}

func fcSource(rows int) *data.Generator {
	return &data.Generator{N: rows, In: 1, Out: 1, Generate: fcRow}
}

// A fcSample is a fixed set of rows.
type fcSample struct {
	x gauss.Batch[float32]
	y []float32
}

func newFCSample(key rng.Key, rows int) fcSample {
	s := fcSample{gauss.Fixed(1, make([]float32, rows)), make([]float32, rows)}
	for i := range rows {
		fcRow(key, uint64(i), s.x.Mean[i:i+1], s.y[i:i+1])
	}
	return s
}

// truth is the score of the model that made the data.
func (s fcSample) truth() float64 {
	var sum float64
	for i, y := range s.y {
		x := float64(s.x.Mean[i])
		sd := fcNoise(x)
		sum += likelihood.Normal{}.Score([]float64{float64(y)}, []float64{x}, []float64{sd * sd})
	}
	return sum / float64(len(s.y))
}

// score returns a function that computes the mean negative log-likelihood of the
// rows under a network. It allocates once.
func (s fcSample) score(m *model.Model, l likelihood.Predictive) func() []float64 {
	p := m.NewPredictor(s.x.Rows)
	var y [1]float64
	var mean, variance [2]float64
	return func() []float64 {
		out := p.Predict(s.x)
		w := out.Width
		sum := 0.0
		for i := range s.y {
			y[0] = float64(s.y[i])
			for k := range w {
				mean[k], variance[k] = float64(out.Mean[i*w+k]), float64(out.Var[i*w+k])
			}
			sum += l.Score(y[:], mean[:w], variance[:w])
		}
		return []float64{sum / float64(len(s.y))}
	}
}
