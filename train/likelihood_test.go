package train_test

import (
	"math"
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
)

// trained1D trains a network of one input on y drawn by target, x ~ U[−1, 1], and
// returns its predictive moments at points.
func trained1D(t *testing.T, l likelihood.Predictive, draws, outputs int, target func(x float64, k rng.Key, row uint64) float64, at ...float32) (mean, variance []float64) {
	t.Helper()
	act := nn.Apply{F: fn.Tanh()}
	m, err := model.New(model.Config{Input: nn.Vec(1), Seed: 2, Layers: nn.Chain{nn.Dense{Out: 24}, act, nn.Dense{Out: 24}, act, nn.Dense{Out: outputs}}})
	if err != nil {
		t.Fatal(err)
	}
	g := &data.Generator{N: 100_000, In: 1, Out: 1, Generate: func(k rng.Key, row uint64, x, y []float32) {
		x[0] = float32(2*rng.Uniform(k, 2*row) - 1)
		y[0] = float32(target(float64(x[0]), k, 2*row+1))
	}}
	o := optim.Paper()
	o.Rate, o.DecayOn = optim.Cosine(5e-3, 1500), optim.DecayNone
	run(t, m, train.Config{Data: g, Likelihood: l, Optimizer: o, Batch: 128, Steps: 1500, Draws: draws})
	out := m.NewPredictor(len(at)).Predict(gauss.Fixed(1, at))
	for i := range at {
		row := make([]float64, 2*outputs)
		for j := range outputs {
			row[j], row[outputs+j] = float64(out.Mean[i*outputs+j]), float64(out.Var[i*outputs+j])
		}
		var y, v [1]float64
		l.Predict(row[:outputs], row[outputs:], y[:], v[:])
		mean, variance = append(mean, y[0]), append(variance, v[0])
	}
	return mean, variance
}

// A head for the noise learns it, by moments and by draws.
func TestHeteroscedasticLearnsTheNoise(t *testing.T) {
	noise := func(x float64) float64 { return 0.2 + 0.15*x }
	at := []float32{-0.8, 0, 0.8}
	for _, draws := range []int{0, 2} {
		mean, variance := trained1D(t, likelihood.Heteroscedastic{}, draws, 2, func(x float64, k rng.Key, row uint64) float64 {
			return math.Sin(2*x) + noise(x)*rng.Normal(k, row)
		}, at...)
		for i, x := range at {
			m, s := math.Sin(2*float64(x)), noise(float64(x))
			t.Logf("%d draws, x = %v: %.3f ± %.3f, truly %.3f ± %.3f", draws, x, mean[i], math.Sqrt(variance[i]), m, s)
			if math.Abs(mean[i]-m) > 0.1 || math.Abs(math.Sqrt(variance[i])/s-1) > 0.25 {
				t.Errorf("%d draws, x = %v: %.3f ± %.3f, truly %.3f ± %.3f", draws, x, mean[i], math.Sqrt(variance[i]), m, s)
			}
		}
	}
}

func TestPoissonLearnsTheRate(t *testing.T) {
	at := []float32{-0.8, 0, 0.8}
	rate := func(x float64) float64 { return math.Exp(1 + x) }
	mean, _ := trained1D(t, likelihood.Poisson{}, 0, 1, func(x float64, k rng.Key, row uint64) float64 {
		return float64(rng.Poisson(k, row, rate(x)))
	}, at...)
	for i, x := range at {
		if want := rate(float64(x)); math.Abs(mean[i]/want-1) > 0.15 {
			t.Errorf("x = %v: rate %v, truly %v", x, mean[i], want)
		}
	}
}

// What uncertain inputs add to the variance is neither noise nor doubt: y = 3u + noise, and only x = u + an
// error of known size is seen.
func TestUncertainInputsAreNotNoise(t *testing.T) {
	const rows, width, slope, noise, inputs = 2000, 4.0, 0.5, 0.03, 0.12
	key := rng.New(5)
	x, y := gauss.New[float32](rows, 1), make([]float32, rows)
	var truth float64 // what y varies by around the line, by noise and by errors of x
	for i := range uint64(rows) {
		u := width * (rng.Uniform(key, 3*i) - 0.5)
		x.Mean[i], x.Var[i] = float32(u+inputs*rng.Normal(key, 3*i+1)), inputs*inputs
		y[i] = float32(slope*u + noise*rng.Normal(key, 3*i+2))
		e := float64(y[i] - slope*x.Mean[i])
		truth += e * e / rows
	}
	table, err := data.NewTable(x, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []likelihood.Likelihood{likelihood.Heteroscedastic{}, likelihood.Heteroscedastic{Common: 0.3}} {
		append := nn.Append{Count: 1, Start: -6}
		if l.(likelihood.Heteroscedastic).Common > 0 {
			append.Count = 2
		}
		m, err := model.New(model.Config{Input: nn.Vec(1), Layers: nn.Chain{nn.Dense{Out: 1}, append}, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		o := optim.Paper()
		o.Rate, o.DecayOn = optim.Cosine(0.02, 4000), optim.DecayNone
		run(t, m, train.Config{Data: table, Likelihood: l, Optimizer: o, Batch: 256, Steps: 4000})
		e, err := model.NewEnsemble(m)
		if err != nil {
			t.Fatal(err)
		}
		h, err := e.NewHead(1)
		if err != nil {
			t.Fatal(err)
		}
		p := h.Predict(x.Slice(0, 1))
		const part = slope * slope * inputs * inputs
		if math.Abs(float64(p.Inputs[0])/part-1) > 0.1 || math.Abs(float64(p.Noise[0])-(truth-part)) > 0.1*truth || math.Abs(float64(p.Var[0])/truth-1) > 0.1 {
			t.Errorf("%v: the variance is %.5f, of which inputs %.5f and noise %.5f; want %.5f, %.5f and %.5f", l, p.Var[0], p.Inputs[0], p.Noise[0], truth, part, truth-part)
		}
	}
}
