package golden

import (
	"context"
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// noisyLine draws y = x + ε, the task of the paper's regression.
func noisyLine(key rng.Key, row uint64, x, y []float32) {
	x[0] = float32(rng.Uniform(key, 2*row) - 0.5)
	y[0] = x[0] + float32((0.1+x[0]*x[0])*float32(rng.Normal(key, 2*row+1)))
}

func perceptron(rule moment.Rule, width, outputs int, seed uint64) model.Config {
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: rule}
	return model.Config{
		Input:  nn.Vec(1),
		Layers: nn.Chain{nn.Dense{Out: width}, act, nn.Dense{Out: width}, act, nn.Dense{Out: outputs}},
		Seed:   seed,
	}
}

// trained trains a network and checks every step of it.
func trained(t *testing.T, net model.Config, c train.Config) *model.Model {
	t.Helper()
	m, err := model.New(net)
	if err != nil {
		t.Fatal(err)
	}
	proceed(t, "steps", m, c)
	return m
}

// proceed trains m as far as c says, from the checkpoint if there is one.
func proceed(t *testing.T, name string, m *model.Model, c train.Config) {
	t.Helper()
	trainer, err := train.New(m, c)
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	var seen []float64
	for s, err := range trainer.Steps(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, s.NLL, s.KL, s.Loss, s.GradNorm)
	}
	check(t, name, seen)
}

// batches are inputs as fixed numbers and with standard deviations.
func batches(rows, width int, scale float32) map[string]gauss.Batch[float32] {
	fixed, uncertain := gauss.New[float32](rows, width), gauss.New[float32](rows, width)
	key := rng.New(77)
	for i := range fixed.Mean {
		x := scale * float32(2*rng.Uniform(key, uint64(2*i))-1)
		s := 0.2 * scale * float32(rng.Uniform(key, uint64(2*i+1)))
		fixed.Mean[i] = x
		uncertain.Mean[i] = x
		uncertain.Var[i] = s * s
	}
	uncertain.Var[0] = 0
	fixed.Var = nil
	return map[string]gauss.Batch[float32]{"fixed": fixed, "uncertain": uncertain}
}

// checkPredictions asks for more rows than a block has, and again for one.
func checkPredictions(t *testing.T, name string, m *model.Model, scale float32) {
	t.Helper()
	for kind, x := range batches(101, m.Inputs(), scale) {
		check(t, name+"/"+kind, numbers(m.NewPredictor(x.Rows).Predict(x)))
		check(t, name+"/"+kind+" row", numbers(m.NewPredictor(1).Predict(x.Slice(7, 8))))
	}
}

// The paper's regression: 1–128–128–1, leaky ReLU, three sigma points.
func TestRegression(t *testing.T) {
	needRecord(t)
	m := trained(t, perceptron(moment.UT(2), 128, 1, 11), train.Config{
		Data:      &data.Generator{N: 10 * 128, In: 1, Out: 1, Generate: noisyLine},
		Optimizer: optim.Paper(), KL: optim.PaperKL(100), Batch: 128, Steps: 60, Seed: 12,
	})
	checkPredictions(t, "predictions", m, 1)
}

// The same task, small, with every rule.
func TestRules(t *testing.T) {
	needRecord(t)
	for _, name := range []string{"ut(0.5)", "learned-ut(2)", "gh(5)", "genut(0.5,3.5)", "mc(3)", "linear", "exact"} {
		t.Run(name, func(t *testing.T) {
			rule, err := moment.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			m := trained(t, perceptron(rule, 20, 1, 13), train.Config{
				Data:      &data.Generator{N: 300, In: 1, Out: 1, Generate: noisyLine},
				Optimizer: optim.Paper(), Batch: 50, Steps: 10, Seed: 14,
			})
			checkPredictions(t, "predictions", m, 1)
		})
	}
}

// The other ways to train: drawn networks, fitted priors, uncertain inputs,
// clipped gradients, other decays and schedules.
func TestTrainings(t *testing.T) {
	needRecord(t)
	o := optim.Paper()
	o.Rate = optim.WarmUp(3, optim.Cosine(0.01, 12))
	o.Clip = 0.5
	o.DecayOn = optim.DecayMeans
	lines := &data.Generator{N: 240, In: 1, Out: 1, Generate: noisyLine}
	for name, c := range map[string]struct {
		outputs int
		train   train.Config
	}{
		"draws":     {2, train.Config{Data: lines, Draws: 2, Likelihood: likelihood.Heteroscedastic{}}},
		"prior":     {1, train.Config{Data: lines, Prior: &vi.EmpiricalBayes{}, KL: optim.WarmUpKL(6)}},
		"uncertain": {1, train.Config{Data: uncertainLines(t), Optimizer: o}},
		"expected":  {1, train.Config{Data: uncertainLines(t), Likelihood: likelihood.ExpectedNormal{Std: 0.2}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.train.Batch = 64
			c.train.Steps = 12
			c.train.Seed = 15
			m := trained(t, perceptron(moment.UT(2), 24, c.outputs, 16), c.train)
			checkPredictions(t, "predictions", m, 1)
		})
	}
}

func uncertainLines(t *testing.T) data.Source {
	t.Helper()
	const rows = 150
	x, y := gauss.New[float32](rows, 1), make([]float32, rows)
	key := rng.New(5)
	for i := range rows {
		noisyLine(key, uint64(i), x.Mean[i:i+1], y[i:i+1])
		x.Var[i] = 0.01 * float32(i%3)
	}
	table, err := data.NewTable(x, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	return table
}
