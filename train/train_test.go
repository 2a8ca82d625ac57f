package train_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
)

// generator draws y = sin(3x) + noise.
func generator() *data.Generator {
	return &data.Generator{N: 640, In: 2, Out: 1, Generate: func(k rng.Key, row uint64, x, y []float32) {
		u := 2*rng.Uniform(k, 3*row) - 1
		x[0], x[1] = float32(u), float32(rng.Uniform(k, 3*row+1))
		y[0] = float32(math.Sin(3*u) + 0.1*rng.Normal(k, 3*row+2))
	}}
}

func network(rule moment.Rule) *model.Model {
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: rule}
	m, err := model.New(model.Config{
		Input: nn.Vec(2), Seed: 5,
		Layers: nn.Chain{nn.Dense{Out: 30}, act, nn.Dense{Out: 21}, nn.Apply{F: fn.Tanh(), Rule: moment.LearnedUT(2)}, nn.Dense{Out: 1}, nn.Scale{}},
	})
	if err != nil {
		panic(err)
	}
	return m
}

func config() train.Config {
	o := optim.Paper()
	o.Clip = 5
	return train.Config{Data: generator(), Batch: 100, Steps: 30, Seed: 9, Optimizer: o, KL: optim.PaperKL(5)}
}

func run(t testing.TB, m *model.Model, c train.Config) []train.Step {
	t.Helper()
	tr, err := train.New(m, c)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var steps []train.Step
	for s, err := range tr.Steps(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	return steps
}

func same(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// A training takes the cores that the program has, and leaves them as they are.
func TestCoresAreKept(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	c := config()
	c.Steps = 1
	run(t, network(moment.UT(2)), c)
	if n := runtime.GOMAXPROCS(0); n != 3 {
		t.Errorf("after a training there are %d cores, not 3", n)
	}
}

// Same seed, same bits, whatever the number of cores.
func TestCoresDoNotMatter(t *testing.T) {
	for _, rule := range []moment.Rule{moment.UT(2), moment.MonteCarlo(3), moment.Exact()} {
		var want []float32
		var steps []train.Step
		for _, procs := range []int{1, 2, 3, 7} {
			before := runtime.GOMAXPROCS(procs)
			m := network(rule)
			got := run(t, m, config())
			runtime.GOMAXPROCS(before)
			if want == nil {
				want, steps = m.Params.Theta, got
				continue
			}
			if !same(m.Params.Theta, want) || !slices.Equal(got, steps) {
				t.Errorf("%v: GOMAXPROCS %d changes the bits", rule, procs)
			}
		}
	}
}

func TestLossFalls(t *testing.T) {
	c := config()
	c.Steps = 1500
	steps := run(t, network(moment.UT(2)), c)
	early, late := steps[0].NLL, 0.0
	for _, s := range steps[len(steps)-100:] {
		late += s.NLL / 100
	}
	if !(late < -0.5) { // noise of 0.1 would allow −0.88
		t.Errorf("the negative log-likelihood went from %v to %v", early, late)
	}
}

// The trainer's KL and loss are the definitions.
func TestObjective(t *testing.T) {
	m := network(moment.UT(2))
	kl := m.Params.KL()
	c := config()
	c.Steps = 1
	s := run(t, m, c)[0]
	if math.Abs(s.KL-kl) > 1e-5*kl {
		t.Errorf("KL %v, want %v", s.KL, kl)
	}
	if want := s.NLL + s.Weight*s.KL/640; math.Abs(s.Loss-want) > 1e-12 {
		t.Errorf("loss %v, want NLL + w·KL/N = %v", s.Loss, want)
	}
}

func TestRefusals(t *testing.T) {
	m := network(moment.UT(2))
	for want, bend := range map[string]func(*train.Config){
		"no data; set Config.Data": func(c *train.Config) { c.Data = nil },
		"0 steps of 100 rows":      func(c *train.Config) { c.Steps = 0 },
		"30 steps of -1 rows":      func(c *train.Config) { c.Batch = -1 },
		"the data have 3 inputs":   func(c *train.Config) { c.Data = &data.Generator{N: 9, In: 3, Out: 1} },
		"the data have 2 targets":  func(c *train.Config) { c.Data = &data.Generator{N: 9, In: 2, Out: 2} },
		"an epoch has 0 rows":      func(c *train.Config) { c.Data = &data.Generator{In: 2, Out: 1} },
		"the weight decay is NaN":  func(c *train.Config) { c.Optimizer.Decay = math.NaN() },
		"Workers":                  func(c *train.Config) { c.Workers = -1 },
	} {
		c := config()
		bend(&c)
		if _, err := train.New(m, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	c := config()
	c.Steps, c.Workers = 1000, 2
	tr, err := train.New(network(moment.UT(2)), c)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	next := make(chan struct{})
	done := make(chan struct{})
	go func() { // one long loop, stepped from outside
		defer close(done)
		for range tr.Steps(context.Background()) {
			done <- struct{}{}
			<-next
		}
	}()
	<-done
	if n := testing.AllocsPerRun(50, func() { next <- struct{}{}; <-done }); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}

// Inputs with variances, from a table, with more rows than the batch divides.
func TestUncertainTable(t *testing.T) {
	x := gauss.New[float32](130, 2)
	y := make([]float32, 130)
	for i := range y {
		x.Mean[2*i], x.Mean[2*i+1] = float32(i)/130, float32(i%7)
		x.Var[2*i] = 0.01
		y[i] = x.Mean[2*i]
	}
	table, err := data.NewTable(x, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	c := config()
	c.Data = table
	c.KL = optim.WarmUpKL(20)
	c.Steps = 40
	c.Batch = 64
	steps := run(t, network(moment.UT(2)), c)
	if last := steps[len(steps)-1]; !(last.NLL < steps[0].NLL) {
		t.Errorf("the negative log-likelihood went from %v to %v", steps[0].NLL, last.NLL)
	}
}
