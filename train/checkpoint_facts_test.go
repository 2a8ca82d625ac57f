package train_test

import (
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/data"
	"utvi/internal/atomicfile"
	"utvi/internal/safetensors"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// checkpointed is a configuration whose checkpoint was written at its last step.
func checkpointed(t *testing.T) train.Config {
	t.Helper()
	c := config()
	c.Steps = 3
	c.Checkpoint = filepath.Join(t.TempDir(), "run.ckpt")
	c.Prior = &vi.EmpiricalBayes{}
	run(t, network(moment.UT(2)), c)
	return c
}

// rewrite changes a checkpoint.
func rewrite(t *testing.T, path string, change func(f *safetensors.File)) {
	t.Helper()
	f, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	change(f)
	if err := atomicfile.Write(path, func(w io.Writer) error { return f.Write(w) }); err != nil {
		t.Fatal(err)
	}
}

// A checkpoint that does not fit is refused, and changes nothing.
func TestCheckpointOfAnotherRun(t *testing.T) {
	facts := func(old, new string) func(f *safetensors.File) {
		return func(f *safetensors.File) {
			s := f.Metadata["utvi.checkpoint"]
			f.Metadata["utvi.checkpoint"] = strings.Replace(s, old, new, 1)
			if f.Metadata["utvi.checkpoint"] == s {
				t.Errorf("%s is not in %s", old, s)
			}
		}
	}
	priors := func(s string) func(f *safetensors.File) {
		return func(f *safetensors.File) { f.Metadata["utvi.priors"] = s }
	}
	for want, change := range map[string]func(f *safetensors.File){
		"not a training checkpoint":              func(f *safetensors.File) { delete(f.Metadata, "utvi.checkpoint") },
		"format 2; this version reads format 1":  facts(`"format":1`, `"format":2`),
		"impossible step -1":                     facts(`"step":3`, `"step":-1`),
		"from step 4, beyond the 3":              facts(`"step":3`, `"step":4`),
		"from another network, dense 7":          facts(`"layers":"dense`, `"layers":"dense 7`),
		"a run with rows 641; this run has 640":  facts(`"rows":640`, `"rows":641`),
		"no tensor 0.dense.weight.mean ":         func(f *safetensors.File) { f.Tensors[0].Name = "other" },
		"no tensor 0.dense.weight.rho.ad":        func(f *safetensors.File) { shorten(f, "0.dense.weight.rho.adam2") },
		"the priors cannot be read":              priors("[1]"),
		"the priors must be standard deviations": priors("[1,1,1,0,1,1,1,1]"),
	} {
		c := checkpointed(t)
		rewrite(t, c.Checkpoint, change)
		m := network(moment.UT(2))
		before := slices.Clone(m.Params.Theta)
		if _, err := train.New(m, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if !same(before, m.Params.Theta) || m.Facts.Steps != 0 {
			t.Errorf("%s: the network was changed", want)
		}
	}
}

// shorten leaves a tensor one number less.
func shorten(f *safetensors.File, name string) {
	for i := range f.Tensors {
		if x := &f.Tensors[i]; x.Name == name {
			x.F32 = x.F32[1:]
			x.Shape = []int{len(x.F32)}
		}
	}
}

// Whatever makes another run makes its checkpoint another's.
func TestSettingsOfACheckpoint(t *testing.T) {
	c := checkpointed(t)
	for want, change := range map[string]func(c *train.Config){
		"with seed 9; this run has 10":              func(c *train.Config) { c.Seed = 10 },
		"with batch 100; this run has 99":           func(c *train.Config) { c.Batch = 99 },
		"with rows 640; this run has 641":           func(c *train.Config) { g := generator(); g.N = 641; c.Data = g },
		"with draws 0; this run has 2":              func(c *train.Config) { c.Draws = 2; c.Likelihood = likelihood.ExpectedNormal{Std: 0.1} },
		"this run has fixed":                        func(c *train.Config) { c.Prior = nil },
		"prior empirical-bayes(4,5)/1":              func(c *train.Config) { c.Prior = &vi.EmpiricalBayes{Every: 2} },
		"with likelihood normal; this run":          func(c *train.Config) { c.Likelihood = likelihood.Normal{Floor: 0.5} },
		"with optimiser ":                           func(c *train.Config) { c.Optimizer.Beta1 = 0.5 },
		"beyond the 2 steps of this training; set ": func(c *train.Config) { c.Steps = 2 },
	} {
		d := c
		change(&d)
		if _, err := train.New(network(moment.UT(2)), d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	m := network(moment.UT(2))
	tr, err := train.New(m, c)
	if err != nil || tr.Step() != 3 || m.Facts.Steps != 3 || m.Facts.Rows != 640 || m.Facts.Likelihood != "normal" || m.Facts.NLL == 0 {
		t.Errorf("continued at step %d, %v; the network knows %+v", tr.Step(), err, m.Facts)
	}
}

// The loss is what it is made of, epochs are counted in rows, and the KL weighs as the
// data have rows.
func TestStepsAddUp(t *testing.T) {
	c := config()
	c.Steps = 14
	c.KL = func(epoch, step int) float64 { return float64(100*epoch + step) }
	for i, s := range run(t, network(moment.UT(2)), c) {
		epoch := i*100/640 + 1
		if s.Step != i+1 || s.Epoch != epoch || s.Weight != float64(100*epoch+i+1) || math.Abs(s.Loss-(s.NLL+s.Weight*s.KL/640)) > 1e-12*math.Abs(s.Loss) {
			t.Errorf("step %d: %+v", i+1, s)
		}
	}
}

// Checkpoints are written as often as asked for, and at the end.
func TestCheckpointEvery(t *testing.T) {
	for every, want := range map[int][]int{0: {5}, 2: {2, 4, 5}, 5: {5}} {
		c := config()
		c.Steps = 5
		c.Checkpoint = filepath.Join(t.TempDir(), "c")
		c.CheckpointEvery = every
		tr, err := train.New(network(moment.UT(2)), c)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		last := -1
		for s, err := range tr.Steps(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			f, err := safetensors.ReadFile(c.Checkpoint)
			if err != nil {
				continue
			}
			if at := strings.Index(f.Metadata["utvi.checkpoint"], `"step":`); int(f.Metadata["utvi.checkpoint"][at+7]-'0') != last {
				last = int(f.Metadata["utvi.checkpoint"][at+7] - '0')
				got = append(got, s.Step)
			}
		}
		tr.Close()
		if !slices.Equal(got, want) {
			t.Errorf("every %d steps: written at %v, want %v", every, got, want)
		}
	}
}

func TestMoreRefusals(t *testing.T) {
	nan := math.NaN()
	for want, bend := range map[string]func(*train.Config){
		"-1 draws per step":                    func(c *train.Config) { c.Draws = -1 },
		"1048577 draws per step":               func(c *train.Config) { c.Draws = 1<<20 + 1 },
		"must be ≥ 0":                          func(c *train.Config) { c.CheckpointEvery = -1 },
		"α = -1":                               func(c *train.Config) { c.Prior = &vi.EmpiricalBayes{Alpha: -1} },
		"the floor is -1":                      func(c *train.Config) { c.Likelihood = likelihood.Normal{Floor: -1} },
		"end the network with nn.Apply":        func(c *train.Config) { c.Likelihood = likelihood.Weighted{Of: likelihood.Bernoulli{}}; two(c) },
		"end the network with nn.Apply{F: fn.": func(c *train.Config) { c.Likelihood = likelihood.Bernoulli{} },
	} {
		c := config()
		bend(&c)
		if _, err := train.New(plainSum(t), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, bend := range map[string]func(*train.Config){
		"the KL weight is NaN":  func(c *train.Config) { c.KL = func(_, _ int) float64 { return nan } },
		"the KL weight is -0.5": func(c *train.Config) { c.KL = func(_, _ int) float64 { return -0.5 } },
		"the KL weight is +Inf": func(c *train.Config) { c.KL = func(_, _ int) float64 { return math.Inf(1) } },
		"step 2: the learning rate is -1": func(c *train.Config) {
			c.Optimizer.Rate = func(step int) float64 { return float64(3 - 2*step) }
		},
	} {
		c := config()
		bend(&c)
		tr, err := train.New(plainSum(t), c)
		if err == nil {
			err = tr.Run(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// plainSum is a network that ends in weighted sums.
func plainSum(t *testing.T) *model.Model {
	t.Helper()
	m, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// two gives rows a second target.
func two(c *train.Config) {
	c.Data = &data.Generator{N: 640, In: 2, Out: 2, Generate: func(rng.Key, uint64, []float32, []float32) {}}
}
