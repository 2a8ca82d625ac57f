package train_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/train"
	"utvi/vi"
)

// noisy is a network whose noise is a layer, wide enough for several ranges of
// parameters and tiles.
func noisy(t testing.TB) *model.Model {
	t.Helper()
	act := nn.Apply{F: fn.LeakyReLU(0.01)}
	m, err := model.New(model.Config{
		Input: nn.Vec(2), Seed: 5,
		Layers: nn.Chain{nn.Dense{Out: 130}, act, nn.Dense{Out: 129}, nn.Apply{F: fn.Tanh(), Rule: moment.LearnedUT(2)}, nn.Dense{Out: 1}, nn.Scale{}, nn.Noise{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func drawing(draws int) train.Config {
	c := config()
	c.Draws, c.Steps = draws, 12
	c.Prior = &vi.EmpiricalBayes{Every: 5}
	return c
}

func TestDrawsAndPriorsDoNotDependOnCores(t *testing.T) {
	var want *model.Model
	var steps []train.Step
	for _, workers := range []int{1, 2, 3, 7} {
		m, c := noisy(t), drawing(3)
		c.Workers = workers
		got := run(t, m, c)
		if want == nil {
			want, steps = m, got
			continue
		}
		if !same(m.Params.Theta, want.Params.Theta) || !slices.Equal(got, steps) {
			t.Errorf("%d workers change the bits", workers)
		}
	}
}

func TestResumeDraws(t *testing.T) {
	whole := noisy(t)
	want := run(t, whole, drawing(2))
	c := drawing(2)
	c.Checkpoint = filepath.Join(t.TempDir(), "run.ckpt")
	c.CheckpointEvery = 3
	var m *model.Model
	for _, stop := range []int{4, 9, 100} {
		m = noisy(t)
		tr, err := train.New(m, c)
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range tr.Steps(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if s != want[s.Step-1] {
				t.Fatalf("step %d: %+v, want %+v", s.Step, s, want[s.Step-1])
			}
			if s.Step >= stop {
				break
			}
		}
		tr.Close()
	}
	if !same(m.Params.Theta, whole.Params.Theta) {
		t.Error("the continued run has other bits")
	}
	for i, x := range whole.Params.Tensors {
		if got := m.Params.Tensors[i].Prior; got != x.Prior || x.Random && x.Prior.Std == 1 {
			t.Errorf("the prior of %s is %+v, want %+v", x.Name, got, x.Prior)
		}
	}
	c.Draws = 3
	if _, err := train.New(noisy(t), c); err == nil || !strings.Contains(err.Error(), "draws 2") {
		t.Errorf("another number of draws: %v", err)
	}
	c.Draws, c.Prior = 2, nil
	if _, err := train.New(noisy(t), c); err == nil || !strings.Contains(err.Error(), "empirical-bayes(4,5)/5") {
		t.Errorf("another prior: %v", err)
	}
}

func TestDrawingDoesNotAllocate(t *testing.T) {
	c := drawing(2)
	c.Steps, c.Workers = 1000, 2
	tr, err := train.New(noisy(t), c)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if n := testing.AllocsPerRun(20, func() {
		if _, err := tr.Advance(); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}

// linear is y = w·x + b + noise: everything expected is known.
func linear(t testing.TB) (*model.Model, train.Config) {
	t.Helper()
	m, err := model.New(model.Config{Input: nn.Vec(2), Seed: 3, Init: vi.Std(0.3), Layers: nn.Chain{nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	g := generator()
	g.N = 64
	return m, train.Config{Data: g, Batch: 64, Steps: 1, Seed: 4, Likelihood: likelihood.ExpectedNormal{Std: 0.5}}
}

// The mean of many draws is the expectation that propagation computes in closed
// form, in loss and gradient norm: over eight seeds, within five standard errors.
func TestDrawsAreUnbiased(t *testing.T) {
	const seeds = 8
	var sum, sum2 [2]float64
	for seed := range uint64(seeds) {
		exact, c := linear(t)
		c.Seed = seed
		want := run(t, exact, c)[0]
		drawn, _ := linear(t)
		c.Draws = 1000
		got := run(t, drawn, c)[0]
		for i, d := range []float64{got.NLL - want.NLL, got.GradNorm - want.GradNorm} {
			sum[i] += d / seeds
			sum2[i] += d * d / seeds
		}
	}
	for i, what := range []string{"loss", "gradient norm"} {
		se := math.Sqrt((sum2[i] - sum[i]*sum[i]) / (seeds - 1))
		t.Logf("%s: off by %.4f ± %.4f", what, sum[i], se)
		if math.Abs(sum[i]) > 5*se || se > 0.05 {
			t.Errorf("%s: off by %.4f ± %.4f", what, sum[i], se)
		}
	}
}

// Bayes by backprop and moment propagation agree on what they learn.
func TestDrawsLearn(t *testing.T) {
	c := config()
	c.Steps, c.Draws = 1500, 2
	m, err := model.New(model.Config{Input: nn.Vec(2), Seed: 5, Layers: nn.Chain{
		nn.Dense{Out: 30}, nn.Apply{F: fn.LeakyReLU(0.01)}, nn.Dense{Out: 21}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	c.Likelihood = likelihood.Heteroscedastic{}
	late := 0.0
	for _, s := range run(t, m, c)[c.Steps-100:] {
		late += s.NLL / 100
	}
	if !(late < -0.5) { // noise of 0.1 would allow −0.88
		t.Errorf("the negative log-likelihood is %v", late)
	}
}

func TestDrawsNeedNoise(t *testing.T) {
	c := config()
	c.Draws = 2
	_, err := train.New(network(moment.UT(2)), c)
	if err == nil || !strings.Contains(err.Error(), "end the network with nn.Noise") {
		t.Errorf("a network without noise: %v", err)
	}
	c.Draws = -1
	if _, err := train.New(network(moment.UT(2)), c); err == nil || !strings.Contains(err.Error(), "-1 draws") {
		t.Errorf("a negative number of draws: %v", err)
	}
}
