package gpu_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"testing"

	"utvi/data"
	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/cuda"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/vi"
)

// card returns the engine of card 0, or skips the test where there is none.
func card(t testing.TB) *gpu.Engine {
	t.Helper()
	e, err := gpu.Open("cuda")
	if err != nil {
		if os.Getenv(cuda.LibraryVariable) != "" {
			t.Fatal(err)
		}
		t.Skipf("not run: %v; set %s to the library of internal/cuda/emulator to run it on the processor", err, cuda.LibraryVariable)
	}
	return e
}

// emulated reports whether the card is emulated: there, a step takes a thousand times
// longer.
func emulated(e *gpu.Engine) bool { return e.Card() == "emulated card" }

// network returns a network with parameters.
func network(t testing.TB, in int, layers nn.Chain) engine.Network[float32] {
	t.Helper()
	n := engine.Network[float32]{Input: inputOf(in, layers), Layers: layers, Params: &vi.Params[float32]{}, Seed: rng.New(7)}
	if _, err := engine.Bind(n, &nn.Binder[float32]{}); err != nil {
		t.Fatal(err)
	}
	n.Params.Alloc()
	n.Params.Start(rng.New(5), vi.Std(0.1))
	return n
}

func clone(n engine.Network[float32]) engine.Network[float32] {
	p := &vi.Params[float32]{}
	for _, t := range n.Params.Tensors {
		c := *t
		p.Tensors = append(p.Tensors, &c)
	}
	p.Alloc()
	copy(p.Theta, n.Params.Theta)
	n.Params = p
	return n
}

func rows(n, width int, variances bool) gauss.Batch[float32] {
	b := gauss.New[float32](n, width)
	for i := range b.Mean {
		b.Mean[i] = float32(rng.Normal(rng.New(11), uint64(i)))
		b.Var[i] = float32(rng.Uniform(rng.New(12), uint64(i)))
	}
	if !variances {
		b.Var = nil
	}
	return b
}

// off returns the largest difference, relative to the largest number.
func off(got, want []float32) float64 {
	var largest, most float64
	for i, w := range want {
		largest = max(largest, math.Abs(float64(w)))
		if d := math.Abs(float64(got[i]) - float64(w)); !(d <= most) {
			most = d
		}
	}
	return most / (largest + 1e-30)
}

// mostlyOff is off, but one number in a thousand may differ by more: where a sigma point comes
// to lie on the other side of a kink, the gradients of its unit jump.
func mostlyOff(got, want []float32) float64 {
	var largest float64
	all := make([]float64, len(want))
	for i, w := range want {
		largest, all[i] = max(largest, math.Abs(float64(w))), math.Abs(float64(got[i])-float64(w))
		if math.IsNaN(all[i]) {
			return math.Inf(1)
		}
	}
	slices.Sort(all)
	return all[len(all)-1-len(all)/1000] / (largest + 1e-30)
}

type testCase struct {
	name       string
	in         int
	layers     nn.Chain
	likelihood likelihood.Likelihood
}

func cases() []testCase {
	leaky := fn.LeakyReLU(0.01)
	all := []testCase{
		{"small", 1, nn.Chain{nn.Dense{Out: 128}, nn.Apply{F: leaky, Rule: moment.UT(2)}, nn.Dense{Out: 128}, nn.Apply{F: leaky, Rule: moment.UT(2)}, nn.Dense{Out: 1}}, likelihood.Normal{}},
		{"wide", 30, nn.Chain{nn.Dense{Out: 200}, nn.Apply{F: leaky}, nn.Dense{Out: 201}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 4}}, likelihood.Heteroscedastic{}},
		{"aligned", 36, nn.Chain{nn.Dense{Out: 256}, nn.Apply{F: leaky, Rule: moment.UT(2)}, nn.Dense{Out: 132}, nn.Apply{F: leaky}, nn.Dense{Out: 2}}, likelihood.Normal{}},
		{"cut", 257, nn.Chain{nn.Dense{Out: 256}, nn.Apply{F: leaky, Rule: moment.UT(2)}, nn.Residual{Branch: nn.Dense{Out: 256, NoBias: true}}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2}, nn.Scale{Start: 1.5}, nn.Multiply{By: []float64{2, 3}}, nn.Noise{}}, likelihood.Normal{}},
		{"fixed", 5, nn.Chain{nn.Dense{Out: 40, Fixed: true}, nn.Apply{F: fn.SiLU()}, nn.Dense{Out: 50, NoBias: true}, nn.Apply{F: fn.GELU(), Rule: moment.UT(1)}, nn.Dense{Out: 2, Fixed: true}, nn.Noise{}}, likelihood.Normal{}},
		{"learned", 3, nn.Chain{nn.Dense{Out: 20}, nn.Apply{F: fn.Sigmoid(), Rule: moment.LearnedUT(2)}, nn.Dropout{P: 0.1}, nn.Dense{Out: 2}, nn.Scale{Start: 1.5}, nn.Multiply{By: []float64{2, 3}}}, likelihood.ExpectedNormal{Std: 0.5}},
		{"counts", 3, nn.Chain{nn.Dense{Out: 33}, nn.Apply{F: fn.ELU(1), Rule: moment.GenUT(0.5, 4)}, nn.Dense{Out: 2}}, likelihood.Poisson{}},
		{"yes or no", 3, nn.Chain{nn.Dense{Out: 70}, nn.Apply{F: fn.ReLU()}, nn.Dense{Out: 2}, nn.Apply{F: fn.Sigmoid()}}, likelihood.Bernoulli{}},
		{"samples", 3, nn.Chain{nn.Dense{Out: 17}, nn.Apply{F: fn.Softplus(), Rule: moment.MonteCarlo(14)}, nn.Dense{Out: 1}}, likelihood.Normal{}},
	}
	for _, f := range []*moment.Func{fn.Identity(), fn.Exp(), fn.Sin(), fn.Cos(), fn.Square(), fn.NormalCDF(), fn.Erf(), fn.GELU(), fn.ELU(1), fn.ELU(0.4), fn.LeakyReLU(0.1)} {
		act := nn.Apply{F: f, Rule: moment.Exact()}
		all = append(all, testCase{"exact " + f.Name, 2, nn.Chain{nn.Dense{Out: 9}, act, nn.Dense{Out: 1}}, likelihood.Normal{}},
			testCase{"exact x + " + f.Name, 2, nn.Chain{nn.Dense{Out: 9}, nn.Residual{Branch: nn.Chain{act}}, nn.Dense{Out: 1}}, likelihood.Normal{}},
			testCase{"exact correlated x + " + f.Name, 2, nn.Correlate(nn.Chain{nn.Dense{Out: 9}, act, nn.Dense{Out: 5}, nn.Residual{Branch: act}, nn.Dense{Out: 1}}), likelihood.Normal{}})
	}
	all = append(append(all, layerCases()...), imageCases()...)
	for _, f := range []*moment.Func{fn.Identity(), fn.Abs(), fn.Erf(), fn.NormalCDF(), fn.Exp(), fn.Sin(), fn.Cos(), fn.Square(), fn.NormalInverse()} {
		for _, rule := range []moment.Rule{moment.GaussHermite(5), moment.Linear(), moment.MonteCarlo(5)} {
			all = append(all, testCase{fmt.Sprintf("%s %v", f.Name, rule), 2, nn.Chain{nn.Dense{Out: 9}, nn.Apply{F: f, Rule: rule}, nn.Dense{Out: 1}}, likelihood.Normal{}})
		}
	}
	return all
}

// Predictions are those of the CPU, to rounding.
func TestPredictions(t *testing.T) {
	e := card(t)
	for _, c := range chosen(slices.Concat(cases(), correlatedCases(), correlatedImages(), formulaCases())) {
		for _, variances := range []bool{false, true} {
			n, form := network(t, c.in, c.layers), nn.Fixed
			if variances {
				form = nn.Independent
			}
			x := rows(77, c.in, variances)
			predict := func(e engine.Engine[float32]) gauss.Batch[float32] {
				p, err := e.Compile(n, form)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				out := gauss.New[float32](x.Rows, p.Graph().Out.Size())
				p.NewPredictor(compute.NewPool(1), 100).Predict(x, out)
				return out
			}
			got, want := predict(e), predict(engine.CPU[float32]())
			if a, b := off(got.Mean, want.Mean), off(got.Var, want.Var); !(a < 2e-6 && b < 5e-6) {
				t.Errorf("%s, variances %v: means are off by %.1e, variances by %.1e", c.name, variances, a, b)
			}
		}
	}
}

// Goroutines may share a program: each has a predictor, and all predict the same.
func TestPredictorsTogether(t *testing.T) {
	c := cases()[0]
	p, err := card(t).Compile(network(t, c.in, c.layers), nn.Fixed)
	if err != nil {
		t.Fatal(err)
	}
	x := rows(40, c.in, false)
	var outs [4]gauss.Batch[float32]
	var group sync.WaitGroup
	for i := range outs {
		group.Go(func() {
			q := p.NewPredictor(compute.NewPool(1), 40)
			for range 3 {
				outs[i] = gauss.New[float32](x.Rows, 1)
				q.Predict(x, outs[i])
			}
		})
	}
	group.Wait()
	for i, o := range outs {
		if !slices.Equal(o.Mean, outs[0].Mean) || !slices.Equal(o.Var, outs[0].Var) || o.Mean[0] == 0 {
			t.Errorf("predictor %d differs", i)
		}
	}
}

func source(t testing.TB, c testCase, variances, table bool) data.Source {
	t.Helper()
	n := network(t, c.in, c.layers)
	p, err := engine.CPU[float32]().Compile(n, nn.Fixed)
	if err != nil {
		t.Fatal(err)
	}
	k, err := c.likelihood.Targets(p.Graph().Out.Size())
	if err != nil {
		t.Fatal(err)
	}
	const many = 300
	x, y := rows(many, c.in, variances), make([]float32, many*k)
	for i := range y {
		y[i] = float32(rng.Uniform(rng.New(3), uint64(i)))
		switch c.likelihood.Kind() {
		case "poisson", "count":
			y[i] = float32(int(7 * y[i]))
		case "categorical":
			y[i] = float32(int(2 * y[i]))
		}
	}
	if table {
		s, err := data.NewTable(x, k, y)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return &data.Generator{N: many, In: c.in, Out: k, Generate: func(_ rng.Key, row uint64, xr, yr []float32) {
		i := int(row % many)
		copy(xr, x.Mean[i*c.in:])
		copy(yr, y[i*k:(i+1)*k])
	}}
}

// Scores, gradients and steps are those of the CPU, to rounding.
func TestSteps(t *testing.T) {
	for _, c := range chosen(slices.Concat(cases(), correlatedCases(), correlatedImages(), formulaCases())) {
		compareSteps(t, c, 0)
	}
}

// compareSteps compares three steps with those of the CPU, with rows that the host fills and
// with those of an uncertain table; draws is the number of drawn networks.
func compareSteps(t *testing.T, c testCase, draws int) {
	t.Helper()
	e := card(t)
	batch := 200
	if emulated(e) {
		batch = 72 // several blocks, and a part of one
	}
	for _, table := range []bool{false, true} {
		o := optim.Paper()
		if table {
			o.Clip = 0.5
		}
		start := network(t, c.in, c.layers)
		if table { // and priors that are centred on other weights
			for _, x := range start.Params.Tensors {
				if x.Random {
					x.Center = make([]float32, x.Len())
					for i, m := range x.Mean {
						x.Center[i] = 0.5 * m
					}
				}
			}
		}
		train := func(e engine.Engine[float32]) (tr engine.Trainer, first []float32, s engine.Score, g engine.Change) {
			tr, err := e.Train(clone(start), engine.Job{Data: source(t, c, table, table), Likelihood: c.likelihood, Optimizer: o, Batch: batch, Seed: rng.New(9), Draws: draws, Pool: compute.NewPool(1)})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for step := range 3 {
				if step == 1 {
					if err := tr.Sync(); err != nil {
						t.Fatal(err)
					}
					first = slices.Clone(tr.State().First.Theta)
					tr.FitPriors(vi.EmpiricalBayes{})
				}
				s = tr.Gradient(step + 1)
				if s.Err != nil || !s.Finite {
					t.Fatalf("%s: %+v", c.name, s)
				}
				g = tr.Update(engine.Update{Step: step + 1, Rate: 1e-2, KL: 1e-3})
				if g.Err != nil || !g.Finite {
					t.Fatalf("%s: %+v", c.name, g)
				}
			}
			if err := tr.Sync(); err != nil {
				t.Fatal(err)
			}
			return tr, first, s, g
		}
		a, fa, sa, ga := train(e)
		b, fb, sb, gb := train(engine.CPU[float32]())
		if d := off(fa, fb); d > 1e-4 {
			t.Errorf("%s, table %v: the gradients of the first step are off by %.1e", c.name, table, d)
		}
		if d := math.Abs(sa.NLL - sb.NLL); d > 2e-4*(1+math.Abs(sb.NLL)) || sa.Floored != sb.Floored {
			t.Errorf("%s, table %v: the score is %+v, on the CPU %+v", c.name, table, sa, sb)
		}
		if math.Abs(ga.KL-gb.KL) > 1e-5*gb.KL || math.Abs(ga.GradNorm-gb.GradNorm) > 1e-3*gb.GradNorm {
			t.Errorf("%s, table %v: the change is %+v, on the CPU %+v", c.name, table, ga, gb)
		}
		x, y := a.State(), b.State()
		if d := mostlyOff(x.First.Theta, y.First.Theta); d > 1e-4 {
			t.Errorf("%s, table %v: the first moments are off by %.1e", c.name, table, d)
		}
		if d := mostlyOff(x.Second.Theta, y.Second.Theta); d > 2e-4 {
			t.Errorf("%s, table %v: the second moments are off by %.1e", c.name, table, d)
		}
		for i, p := range x.Params.Tensors {
			if q := y.Params.Tensors[i]; math.Abs(p.Prior.Std-q.Prior.Std) > 1e-5*q.Prior.Std {
				t.Errorf("%s: the prior of %s is %v, on the CPU %v", c.name, p.Name, p.Prior, q.Prior)
			}
		}
	}
}
