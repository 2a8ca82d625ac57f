package gpu_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"utvi/data"
	"utvi/engine"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/localization"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

func sine(t testing.TB) data.Source {
	t.Helper()
	const n = 500
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		u := 2*rng.Uniform(rng.New(1), uint64(i)) - 1
		x[i], y[i] = float32(u), float32(math.Sin(3*u)+0.1*rng.Normal(rng.New(2), uint64(i)))
	}
	s, err := data.NewTable(gauss.Fixed(1, x), 1, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func smallNet(t testing.TB, rule moment.Rule) *model.Model {
	t.Helper()
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: rule}
	m, err := model.New(model.Config{Input: nn.Vec(1), Seed: 5, Layers: nn.Chain{nn.Dense{Out: 32}, act, nn.Dense{Out: 32}, act, nn.Dense{Out: 1}, nn.Noise{}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func settings(t testing.TB, e engine.Engine[float32], steps int) train.Config {
	o := optim.Paper()
	o.Clip = 50
	return train.Config{Engine: e, Data: sine(t), Batch: 64, Steps: steps, Seed: 9, Optimizer: o, Prior: &vi.EmpiricalBayes{Every: 10}, Likelihood: likelihood.Normal{}, Workers: 1}
}

func run(t testing.TB, m *model.Model, c train.Config, to int, ahead bool) []train.Step {
	t.Helper()
	tr, err := train.New(m, c)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var steps []train.Step
	if ahead {
		if err := tr.AdvanceTo(to, func(s train.Step) { steps = append(steps, s) }); err != nil {
			t.Fatal(err)
		}
	}
	for tr.Step() < to {
		s, err := tr.Advance()
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	if err := tr.Save(); err != nil {
		t.Fatal(err)
	}
	return steps
}

// Same card, same seed, same bits: step by step, without waiting, and continued from a
// checkpoint.
func TestSameBits(t *testing.T) {
	e := card(t)
	for _, rule := range []moment.Rule{moment.UT(2), moment.MonteCarlo(3)} {
		sameBits(t, e, rule.String(), 45, 0, 0, func() *model.Model { return smallNet(t, rule) })
	}
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	sameBits(t, e, "one of many", 45, 0, 100, func() *model.Model { return smallNet(t, moment.UT(2)) })
	sameBits(t, e, "drawn", 9, 2, 0, func() *model.Model { return smallNet(t, moment.UT(2)) })
	sameBits(t, e, "wide", 7, 0, 0, func() *model.Model {
		m, err := model.New(model.Config{Input: nn.Vec(1), Seed: 3, Layers: nn.Chain{nn.Dense{Out: 64}, act, nn.Dense{Out: 257}, act, nn.Dense{Out: 1}, nn.Noise{}}})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

func sameBits(t *testing.T, e engine.Engine[float32], name string, steps, draws, beside int, net func() *model.Model) {
	t.Helper()
	settings := func(t testing.TB, e engine.Engine[float32], steps int) train.Config {
		c := settings(t, e, steps)
		c.Draws, c.Beside = draws, beside
		return c
	}
	a := net()
	b := net()
	c := net()
	want := run(t, a, settings(t, e, steps), steps, false)
	got := run(t, b, settings(t, e, steps), steps, true)
	if !slices.Equal(a.Params.Theta, b.Params.Theta) {
		t.Errorf("%s: without waiting, the parameters differ", name)
	}
	for i := range want { // the host sums the scores of single steps
		want[i].NLL, want[i].Loss = got[i].NLL, got[i].Loss
	}
	if !slices.Equal(want, got) {
		t.Errorf("%s: without waiting, the reports differ", name)
	}
	half := settings(t, e, steps)
	half.Checkpoint = filepath.Join(t.TempDir(), "run.ckpt")
	run(t, c, half, steps/2, true)
	c = net()
	run(t, c, half, steps, true)
	if !slices.Equal(a.Params.Theta, c.Params.Theta) {
		t.Errorf("%s: continued from a checkpoint, the parameters differ", name)
	}
}

// A training moves between card and CPU in the middle, and learns as well.
func TestMoves(t *testing.T) {
	e := card(t)
	steps := 400
	if emulated(e) {
		steps = 120
	}
	late := func(s []train.Step) float64 {
		sum := 0.0
		for _, x := range s[len(s)-50:] {
			sum += x.NLL / 50
		}
		return sum
	}
	cpu := late(run(t, smallNet(t, moment.UT(2)), settings(t, nil, steps), steps, true))
	onCard := late(run(t, smallNet(t, moment.UT(2)), settings(t, e, steps), steps, true))
	c := settings(t, nil, steps)
	c.Checkpoint = filepath.Join(t.TempDir(), "run.ckpt")
	run(t, smallNet(t, moment.UT(2)), c, steps/2, true)
	c.Engine = e
	moved := late(run(t, smallNet(t, moment.UT(2)), c, steps, true))
	t.Logf("late losses: CPU %.4f, card %.4f, moved %.4f", cpu, onCard, moved)
	if math.Abs(onCard-cpu) > 0.05 || math.Abs(moved-cpu) > 0.05 {
		t.Errorf("late losses: CPU %.4f, card %.4f, moved from CPU to card %.4f", cpu, onCard, moved)
	}
}

// Numbers that are not finite end a training with their place, and the parameters are
// those of the last good step.
func TestNotFinite(t *testing.T) {
	e := card(t)
	x, y := make([]float32, 64), make([]float32, 64)
	y[40] = 3e38
	s, err := data.NewTable(gauss.Fixed(1, x), 1, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, ahead := range []bool{false, true} {
		m := smallNet(t, moment.UT(2))
		before := slices.Clone(m.Params.Theta)
		c := settings(t, e, 5)
		c.Data, c.Prior = s, nil
		tr, err := train.New(m, c)
		if err != nil {
			t.Fatal(err)
		}
		if ahead {
			err = tr.AdvanceTo(5, nil)
		} else {
			_, err = tr.Advance()
		}
		if err == nil || !strings.Contains(err.Error(), "step 1") {
			t.Errorf("error %v", err)
		}
		if err := tr.Sync(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(before, m.Params.Theta) {
			t.Error("the parameters have changed")
		}
		tr.Close()
	}
}

// What the engine cannot run is refused with the name of the layer.
func TestRefusals(t *testing.T) {
	e := card(t)
	code := &moment.Func{Name: "code", F: math.Cbrt}
	long := "x"
	for i := range 40 {
		long = fmt.Sprintf("tanh(%s + %d*sin(x))", long, i+2)
	}
	f, err := fn.Named(long)
	if err != nil {
		t.Fatal(err)
	}
	for want, layers := range map[string]nn.Chain{
		"layer 1.apply: the cuda engine cannot run it: its function is Go code": {nn.Dense{Out: 3}, nn.Apply{F: code}, nn.Dense{Out: 1}},
		"the formula has": {nn.Dense{Out: 3}, nn.Apply{F: f}, nn.Dense{Out: 1}},
		"layer 1.joint: the cuda engine cannot run it: the rule axes(31) has": {nn.Dense{Out: 400}, nn.Joint{Map: fn.Softmax(), Rule: moment.JointAxes(31)}, nn.Dense{Out: 1}},
		"the map sum is Go code; softmax runs":                                {nn.Dense{Out: 3}, nn.Joint{Map: &moment.Map{Name: "sum", Out: 1, F: func(x, y []float64) { y[0] = x[0] + x[1] }}}},
		"its location here is Go code; photon-node runs":                      {nn.Dense{Out: 3}, nn.Conditional{Target: 0, Given: []int{1}, Location: &moment.Map{Name: "here", Out: 2, F: func(x, y []float64) { y[0], y[1] = x[0], 1 }}}, nn.Dense{Out: 1}},
		"the joint rule axes(3); fifth, joint-ut(1)":                          {nn.Dense{Out: 3}, nn.Conditional{Target: 0, Given: []int{1, 2}, Location: localization.PhotonNode(100, 1, 8), Joint: true, Rule: moment.JointAxes(3)}, nn.Dense{Out: 1}},
		"layer 1.stochastic: the cuda engine cannot run it: it is a layer of kind stochastic, which only the CPU runs": {nn.Dense{Out: 3},
			nn.Stochastic{Name: "bend", F: func(x, theta float64) float64 { return x * theta }}, nn.Dense{Out: 1}},
		"its function is Go code; formulas": {nn.Dense{Out: 3}, nn.Apply{F: &moment.Func{Name: "own", F: fn.Identity().F, Exact: fn.Identity().Exact}, Rule: moment.Exact()}, nn.Dense{Out: 1}},
	} {
		m, err := model.New(model.Config{Input: nn.Vec(1), Layers: layers})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Compile(m.Network(), nn.Fixed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if _, err := train.New(m, settings(t, e, 5)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// allocations is how often a call of f allocates: the least of several counts, since what earlier
// tests left may be freed meanwhile.
func allocations(f func()) float64 {
	n := testing.AllocsPerRun(12, f)
	for try := 0; n != 0 && try < 4; try++ {
		n = min(n, testing.AllocsPerRun(12, f))
	}
	return n
}

// A step allocates no memory on the host.
func TestStepsDoNotAllocate(t *testing.T) {
	tr, err := train.New(smallNet(t, moment.UT(2)), settings(t, card(t), 1000))
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	n := allocations(func() {
		if _, err := tr.Advance(); err != nil {
			t.Error(err)
		}
	})
	if n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}
