package tabular

import (
	"math"

	"utvi/likelihood"
	"utvi/model"
)

// boundNoise bounds the noise that a network predicts by what it predicts for training
// rows.
func boundNoise(m *model.Model, d Data) {
	l, ok := likelihood.Inner(m.Likelihood).(likelihood.Heteroscedastic)
	if !ok {
		return
	}
	k := d.Outputs()
	l.Range = nil
	seen := &likelihood.NoiseRange{Least: make([]float64, k), Most: make([]float64, k)}
	for i := range k {
		seen.Least[i] = math.Inf(1)
	}
	x, p := d.pick(d.some(usualRows)).X, m.NewPredictor(chunk)
	mean := make([]float32, k)
	doubt := make([]float32, k)
	noise := make([]float32, k)
	for lo := 0; lo < x.Rows; lo += chunk {
		out := p.Predict(x.Slice(lo, min(x.Rows, lo+chunk)))
		for i := range out.Rows {
			at := i * out.Width
			l.Split(out.Mean[at:at+out.Width], out.Var[at:at+out.Width], mean, doubt, noise)
			for t, v := range noise {
				seen.Least[t], seen.Most[t] = min(seen.Least[t], float64(v)), max(seen.Most[t], float64(v))
			}
		}
	}
	l.Range = seen
	setLikelihood(m, l)
}

// setLikelihood gives a network another likelihood inside its wrapper, if it has one.
func setLikelihood(m *model.Model, l likelihood.Likelihood) {
	if w, ok := m.Likelihood.(likelihood.Wrapper); ok {
		m.Likelihood = w.Wrap(l)
		return
	}
	m.Likelihood = l
}
