package gpu_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"utvi/data"
	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
)

// member is one of several trainings with networks of the same shapes. Number 3 has a row
// whose score is not finite, in a later step.
func member(t *testing.T, e engine.Engine[float32], layers nn.Chain, draws, batch, beside, i int) (*model.Model, *train.Trainer) {
	t.Helper()
	m, err := model.New(model.Config{Input: nn.Vec(3), Seed: uint64(i), Layers: layers})
	if err != nil {
		t.Fatal(err)
	}
	n := 6*batch + i
	x, y := make([]float32, 3*n), make([]float32, n)
	for j := range x {
		x[j] = float32(rng.Normal(rng.New(uint64(i)), uint64(j)))
	}
	for j := range y {
		y[j] = x[3*j]
	}
	if i == 3 {
		y[150] = 3e38
	}
	var s data.Source
	s, err = data.NewTable(gauss.Fixed(3, x), 1, y)
	if err != nil {
		t.Fatal(err)
	}
	if i == 1 { // the host fills its batches
		s = &data.Generator{N: n, In: 3, Out: 1, Generate: func(_ rng.Key, row uint64, xs, ys []float32) {
			at := int(row) % n
			copy(xs, x[3*at:])
			ys[0] = y[at]
		}}
	}
	c := settings(t, e, 6+i)
	c.Draws, c.Beside = draws, beside
	c.Data = s
	c.Batch = batch
	c.Seed = uint64(100 + i)
	c.Optimizer.Rate = optim.Constant(1e-3 * float64(i+1))
	tr, err := train.New(m, c)
	if err != nil {
		t.Fatal(err)
	}
	return m, tr
}

// Trainings that run side by side have the bits of each alone, also beside one whose
// numbers are not finite. If their jobs say that they are many, their arithmetic may be
// another, alone and side by side, and the results are close.
func TestSideBySide(t *testing.T) {
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	exact := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.Exact()}
	formula := nn.Apply{F: fn.MustFormula("x*sigmoid(a*x)", fn.Learned("a", 1.1)), Rule: moment.UT(2)}
	levels := nn.Embed{Categories: []nn.Category{{Unit: 1, Levels: 4, Width: 2}}}
	carried := nn.Correlated{Layers: nn.Chain{nn.Conv1D{Out: 2, Kernel: 1}, nn.Flatten{}, nn.Periodic{Frequencies: [][]float64{{0.3}, nil}}, nn.Dense{Out: 4}}}
	for name, layers := range map[string]nn.Chain{
		"small":   {levels, nn.Dense{Out: 92}, act, nn.Dense{Out: 92}, act, carried, formula, nn.Dense{Out: 1}, nn.Noise{}},
		"quartet": {nn.Conv1D{Out: 4, Kernel: 1}, act, nn.Dense{Out: 32}, act, nn.Dense{Out: 1}, nn.Noise{}},
		"wide":    {nn.Dense{Out: 64}, act, nn.Dense{Out: 257}, act, nn.Dense{Out: 1}},
	} {
		t.Run(name, func(t *testing.T) { sideBySide(t, layers, 0, 33, 0, false) })
	}
	t.Run("chain", func(t *testing.T) {
		sideBySide(t, nn.Chain{nn.Dense{Out: 20}, act, nn.Dense{Out: 36}, act, nn.Dense{Out: 1}, nn.Noise{}}, 0, 33, 100, false)
	})
	t.Run("drawn", func(t *testing.T) {
		sideBySide(t, nn.Chain{nn.Dense{Out: 70}, act, nn.Dense{Out: 70}, formula, nn.Dense{Out: 1}, nn.Noise{}}, 2, 33, 0, false)
	})
	crowd := func(layers nn.Chain, batch int) func(t *testing.T) {
		return func(t *testing.T) {
			few := sideBySide(t, layers, 0, batch, gpu.ManyFrom-1, false)
			many := sideBySide(t, layers, 0, batch, gpu.ManyFrom, true)
			for i := range few {
				near(t, i, few[i], many[i])
			}
		}
	}
	t.Run("crowd", crowd(nn.Chain{nn.Dense{Out: 96}, act, nn.Dense{Out: 64}, act, nn.Dense{Out: 1}, nn.Noise{}}, 33))
	t.Run("exact", crowd(nn.Chain{nn.Dense{Out: 32}, exact, nn.Dense{Out: 96}, exact, nn.Dense{Out: 1}}, 33))
	t.Run("many rows", func(t *testing.T) {
		if emulated(card(t)) {
			t.Skip("not run: the emulated card takes minutes for so many rows")
		}
		crowd(nn.Chain{nn.Dense{Out: 128}, act, nn.Dense{Out: 128}, act, nn.Dense{Out: 1}, nn.Noise{}}, 1000)(t)
	})
}

// A job decides by its number alone whether a training has the kernels of many dense nets: the same ones
// alone and side by side.
func TestManyFrom(t *testing.T) {
	e := card(t)
	if !e.HasManyDense() {
		t.Skip("not run: many dense nets have kernels of their own on Hopper's cards")
	}
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	_, s := someRows(t, 40, 1, 1, false)
	for beside, crowd := range map[int]bool{0: false, gpu.ManyFrom - 1: false, gpu.ManyFrom: true, 100: true} {
		n := network(t, 1, nn.Chain{nn.Dense{Out: 32}, act, nn.Dense{Out: 32}, act, nn.Dense{Out: 1}})
		tr, err := e.Train(n, engine.Job{Data: s, Likelihood: likelihood.Normal{}, Optimizer: optim.Paper(), Batch: 40, Seed: rng.New(9), Pool: compute.NewPool(1), Beside: beside})
		if err != nil {
			t.Fatal(err)
		}
		alone, err := gpu.FirstAlone(tr)
		if side := gpu.FirstKernel(tr); err != nil || alone != side || strings.HasPrefix(alone, "crowd_") != crowd {
			t.Errorf("of %d: alone %s, side by side %s; %v", beside, alone, side, err)
		}
		tr.(interface{ Close() error }).Close()
	}
}

// A trained is what a training left.
type trained struct {
	theta []float32
	steps []train.Step
	err   string
}

// near compares a training with the same one in another arithmetic: the reports of its steps, and
// its parameters on average, since AdamW moves a parameter whose gradient is nearly zero
// either way.
func near(t *testing.T, number int, a, b trained) {
	t.Helper()
	if a.err != b.err || len(a.steps) != len(b.steps) {
		t.Errorf("training %d of few ends with %q after %d steps; of many with %q after %d", number, a.err, len(a.steps), b.err, len(b.steps))
		return
	}
	off := func(x, y float64) float64 { return math.Abs(x-y) / (math.Abs(x) + 1) }
	for i, x := range a.steps {
		y := b.steps[i]
		if d := max(off(x.NLL, y.NLL), off(x.KL, y.KL), off(x.GradNorm, y.GradNorm)); !(d < 1e-4) {
			t.Errorf("training %d, step %d: %+v of few, %+v of many", number, x.Step, x, y)
		}
	}
	var sum float64
	for i, x := range a.theta {
		sum += off(float64(x), float64(b.theta[i]))
	}
	if mean := sum / float64(len(a.theta)); !(mean < 1e-4) {
		t.Errorf("training %d: parameters of few and of many differ by %.2g on average", number, mean)
	}
}

// sideBySide compares trainings alone and side by side, whose jobs say that so many run beside one
// another; crowd: then they run the kernels of many dense nets. It returns what each left.
func sideBySide(t *testing.T, layers nn.Chain, draws, batch, planned int, crowd bool) []trained {
	e := card(t)
	defer gpu.SetGroupRuns(2, 3)() // so that few trainings share runs
	const n = 5
	advance := func(m *model.Model, tr *train.Trainer, i int) (o trained) {
		if err := tr.AdvanceTo(6+i, func(s train.Step) { o.steps = append(o.steps, s) }); err != nil {
			o.err = fmt.Sprint(err)
		}
		if err := tr.Sync(); err != nil {
			t.Error(err)
		}
		o.theta = slices.Clone(m.Params.Theta)
		return o
	}
	var alone, beside [n]trained
	for i := range alone {
		m, tr := member(t, e, layers, draws, batch, planned, i)
		alone[i] = advance(m, tr, i)
		tr.Close()
	}
	var models [n]*model.Model
	var all [n]*train.Trainer
	for i := range all {
		models[i], all[i] = member(t, e, layers, draws, batch, planned, i)
	}
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { beside[i] = advance(models[i], all[i], i) })
	}
	group.Wait()
	if e.SideBySide() < 2 {
		t.Error("no trainings ran side by side")
	}
	if first := e.FirstBeside(); e.HasManyDense() && strings.HasPrefix(first, "crowd_") != crowd {
		t.Errorf("%s ran side by side", first)
	}
	for i := range all {
		all[i].Close()
		a, b := alone[i], beside[i]
		if !slices.Equal(a.theta, b.theta) || !slices.Equal(a.steps, b.steps) || a.err != b.err {
			t.Errorf("training %d differs side by side: error %q, alone %q; %d and %d steps", i, b.err, a.err, len(b.steps), len(a.steps))
		}
	}
	if alone[3].err == "" {
		t.Error("the numbers of training 3 should not be finite")
	}
	return alone[:]
}
