package gpu_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"utvi/data"
	"utvi/engine"
	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
)

// member is one of several trainings with networks of the same shapes. Number 3 has a row
// whose score is not finite, in a later step.
func member(t *testing.T, e engine.Engine[float32], layers nn.Chain, draws, batch, i int) (*model.Model, *train.Trainer) {
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
	if s, err = data.NewTable(gauss.Fixed(3, x), 1, y); err != nil {
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
	c.Draws = draws
	c.Data, c.Batch, c.Seed, c.Optimizer.Rate = s, batch, uint64(100+i), optim.Constant(1e-3*float64(i+1))
	tr, err := train.New(m, c)
	if err != nil {
		t.Fatal(err)
	}
	return m, tr
}

// Trainings that run side by side have the bits of each alone, also beside one whose
// numbers are not finite.
func TestSideBySide(t *testing.T) {
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	exact := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.Exact()}
	formula := nn.Apply{F: fn.MustFormula("x*sigmoid(a*x)", fn.Learned("a", 1.1)), Rule: moment.UT(2)}
	levels := nn.Embed{Categories: []nn.Category{{Unit: 1, Levels: 4, Width: 2}}}
	carried := nn.Correlated{Layers: nn.Chain{nn.Conv1D{Out: 2, Kernel: 1}, nn.Flatten{}, nn.Periodic{Frequencies: [][]float64{{0.3}, nil}}, nn.Dense{Out: 4}}}
	for name, layers := range map[string]nn.Chain{
		"small":   {levels, nn.Dense{Out: 92}, act, nn.Dense{Out: 92}, act, carried, formula, nn.Dense{Out: 1}, nn.Noise{}},
		"chain":   {nn.Dense{Out: 20}, act, nn.Dense{Out: 36}, act, nn.Dense{Out: 1}, nn.Noise{}},
		"crowd":   {nn.Dense{Out: 96}, act, nn.Dense{Out: 64}, act, nn.Dense{Out: 1}, nn.Noise{}},
		"exact":   {nn.Dense{Out: 32}, exact, nn.Dense{Out: 96}, exact, nn.Dense{Out: 1}},
		"quartet": {nn.Conv1D{Out: 4, Kernel: 1}, act, nn.Dense{Out: 32}, act, nn.Dense{Out: 1}, nn.Noise{}},
		"wide":    {nn.Dense{Out: 64}, act, nn.Dense{Out: 257}, act, nn.Dense{Out: 1}},
	} {
		t.Run(name, func(t *testing.T) { sideBySide(t, layers, 0, 33) })
	}
	t.Run("many rows", func(t *testing.T) {
		if emulated(card(t)) {
			t.Skip("not run: the emulated card takes minutes for so many rows")
		}
		sideBySide(t, nn.Chain{nn.Dense{Out: 128}, act, nn.Dense{Out: 128}, act, nn.Dense{Out: 1}, nn.Noise{}}, 0, 1000)
	})
	t.Run("drawn", func(t *testing.T) {
		sideBySide(t, nn.Chain{nn.Dense{Out: 70}, act, nn.Dense{Out: 70}, formula, nn.Dense{Out: 1}, nn.Noise{}}, 2, 33)
	})
}

func sideBySide(t *testing.T, layers nn.Chain, draws, batch int) {
	e := card(t)
	const n = 5
	type outcome struct {
		theta []float32
		steps []train.Step
		err   string
	}
	advance := func(m *model.Model, tr *train.Trainer, i int) (o outcome) {
		if err := tr.AdvanceTo(6+i, func(s train.Step) { o.steps = append(o.steps, s) }); err != nil {
			o.err = fmt.Sprint(err)
		}
		if err := tr.Sync(); err != nil {
			t.Error(err)
		}
		o.theta = slices.Clone(m.Params.Theta)
		return o
	}
	var alone, beside [n]outcome
	for i := range alone {
		m, tr := member(t, e, layers, draws, batch, i)
		alone[i] = advance(m, tr, i)
		tr.Close()
	}
	var models [n]*model.Model
	var all [n]*train.Trainer
	for i := range all {
		models[i], all[i] = member(t, e, layers, draws, batch, i)
	}
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { beside[i] = advance(models[i], all[i], i) })
	}
	group.Wait()
	if e.SideBySide() < 2 {
		t.Error("no trainings ran side by side")
	}
	name := t.Name()
	crowd := strings.HasSuffix(name, "crowd") || strings.HasSuffix(name, "exact") || strings.HasSuffix(name, "rows")
	if first := e.FirstBeside(); e.HasCrowds() && strings.HasPrefix(first, "crowd_") != crowd {
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
}
