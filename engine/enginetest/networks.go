package enginetest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/data"
	"utvi/engine"
	"utvi/fn"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/vi"
)

// A subject is a network that engines run.
type subject struct {
	name       string
	in         nn.Shape
	layers     nn.Layer
	likelihood likelihood.Likelihood
	required   bool // no engine may refuse it
}

func leaky() nn.Apply { return nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)} }

// plain is the network that every engine runs.
func plain() subject {
	return subject{"dense layers", nn.Vec(3), nn.Chain{nn.Dense{Out: 20}, leaky(), nn.Dense{Out: 13}, nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}, nn.Dense{Out: 2}}, likelihood.Normal{}, true}
}

// subjects are small networks: the ways through an engine, not its speed.
func subjects() []subject {
	smooth := nn.Apply{F: fn.GELU(), Rule: moment.GaussHermite(5)}
	return []subject{
		plain(),
		{"no chain", nn.Vec(4), nn.Residual{Branch: nn.Chain{nn.Dense{Out: 6}, leaky(), nn.Dense{Out: 4}}}, likelihood.Normal{}, false},
		{"one unit", nn.Vec(1), nn.Chain{nn.Dense{Out: 1}}, likelihood.Normal{}, true},
		{"learned noise", nn.Vec(2), nn.Chain{nn.Dense{Out: 9}, leaky(), nn.Dense{Out: 2}}, likelihood.Heteroscedastic{}, false},
		{"fixed weights", nn.Vec(4), nn.Chain{nn.Dense{Out: 9, Fixed: true}, leaky(), nn.Dense{Out: 2, Fixed: true, NoBias: true}, nn.Noise{}}, likelihood.Normal{}, false},
		{"residual", nn.Vec(3), nn.Chain{nn.Dense{Out: 11}, nn.Residual{Branch: nn.Chain{nn.Dense{Out: 11}, smooth}}, nn.LayerNorm{}, nn.Dense{Out: 1}}, likelihood.Normal{}, false},
		{"correlated", nn.Vec(3), nn.Correlate(nn.Chain{nn.Dense{Out: 8}, leaky(), nn.Dense{Out: 5}, leaky(), nn.Dense{Out: 1}}), likelihood.Normal{}, false},
		{"learned rule", nn.Vec(3), nn.Chain{nn.Dense{Out: 7}, nn.Apply{F: fn.Sigmoid(), Rule: moment.LearnedUT(2)}, nn.Dense{Out: 1}, nn.Scale{Start: 1.5}}, likelihood.Normal{}, false},
		{"samples", nn.Vec(3), nn.Chain{nn.Dense{Out: 7}, nn.Apply{F: fn.Softplus(), Rule: moment.MonteCarlo(6)}, nn.Dense{Out: 1}}, likelihood.Normal{}, false},
		{"image", nn.Shape{H: 6, W: 5, C: 2}, nn.Chain{nn.Conv2D{Out: 3, Kernel: [2]int{3, 3}}, leaky(), nn.Dense{Out: 1}}, likelihood.Normal{}, false},
		{"learned statistics", nn.Shape{H: 3, W: 2, C: 2}, nn.Chain{nn.BatchNorm{}, nn.Conv2D{Out: 3, Kernel: [2]int{2, 2}}, nn.BatchNorm{}, leaky(), nn.Dense{Out: 1}}, likelihood.Normal{}, false},
		{"graph", nn.Vec(4), gate(), likelihood.Normal{}, false},
		{"pixels with noise", nn.Shape{H: 4, W: 3, C: 1}, nn.Chain{nn.Conv2D{Out: 2, Kernel: [2]int{3, 3}, Padding: nn.Same}}, likelihood.PerPlace{Of: likelihood.Heteroscedastic{}, Channels: 2}, false},
		{"two outputs", nn.Vec(4), nn.Graph{Steps: []nn.Step{
			{Name: "seen", Layer: nn.Chain{nn.Dense{Out: 6}, leaky()}},
			{Name: "size", Layer: nn.Dense{Out: 2}, From: []string{"seen"}},
			{Name: "rate", Layer: nn.Dense{Out: 1}, From: []string{"seen"}},
		}, Outputs: []string{"size", "rate"}}, likelihood.Several{Parts: []likelihood.Part{{Outputs: 2, Of: likelihood.Heteroscedastic{}}, {Outputs: 1, Weight: 3, Of: likelihood.Normal{}}}}, false},
		{"correlated graph", nn.Vec(4), nn.Correlated{Layers: nn.Chain{gate()}}, likelihood.Normal{}, false},
		{"a user's function", nn.Vec(2), nn.Chain{nn.Dense{Out: 5}, nn.Apply{F: &moment.Func{Name: "root", F: func(x float64) float64 { return math.Cbrt(x*x + 1) }}}, nn.Dense{Out: 1}}, likelihood.Normal{}, false},
		{"a user's layer", nn.Vec(2), nn.Chain{nn.Dense{Out: 5}, foreign{nn.Scale{Start: 2}}, nn.Dense{Out: 1}}, likelihood.Normal{}, false},
	}
}

// gate is a graph whose signals part and meet.
func gate() nn.Graph {
	return nn.Graph{Steps: []nn.Step{
		{Name: "seen", Layer: nn.Chain{nn.Dense{Out: 6}, leaky()}},
		{Name: "gate", Layer: nn.Chain{nn.Dense{Out: 6}, nn.Apply{F: fn.Sigmoid(), Rule: moment.UT(2)}}, From: []string{"in"}},
		{Name: "gated", Layer: nn.Product{}, From: []string{"seen", "gate"}},
		{Name: "out", Layer: nn.Chain{nn.Concat{}, nn.Dense{Out: 1}}, From: []string{"gated", "seen", "in"}},
	}}
}

// foreign is a layer that no engine has heard of. It can be bound, so the CPU runs it.
type foreign struct{ nn.Layer }

// Kind implements nn.Layer.
func (foreign) Kind() string { return "foreign" }

// network returns the subject's network, always with the same parameters.
func (s subject) network(t testing.TB) engine.Network[float32] {
	t.Helper()
	n := engine.Network[float32]{Input: s.in, Layers: s.layers, Params: &vi.Params[float32]{}, Seed: rng.New(7)}
	declare(t, n)
	n.Params.Start(rng.New(5), vi.Std(0.1))
	return n
}

// declare declares and allocates the parameters of a network.
func declare[T gauss.Float](t testing.TB, n engine.Network[T]) {
	t.Helper()
	if _, err := engine.Bind(n, &nn.Binder[T]{}); err != nil {
		t.Fatal(err)
	}
	n.Params.Alloc()
}

// exact returns a network in float64.
func exact(t testing.TB, n engine.Network[float32]) engine.Network[float64] {
	t.Helper()
	m := engine.Network[float64]{Input: n.Input, Layers: n.Layers, Params: &vi.Params[float64]{}, Seed: n.Seed}
	declare(t, m)
	for i, x := range n.Params.Theta {
		m.Params.Theta[i] = float64(x)
	}
	return m
}

// refused reports whether an engine refused the subject, as it may if it names a layer or the likelihood.
func (s subject) refused(t testing.TB, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	if s.required || !slices.ContainsFunc(s.names(t), func(name string) bool { return strings.Contains(err.Error(), name) }) {
		t.Errorf("%s: the engine says %q; it must run this network, or name the layer or the likelihood that it cannot run", s.name, err)
	}
	t.Logf("%s: %v", s.name, err)
	return true
}

// names are those of all layers of the subject, and of its likelihood.
func (s subject) names(t testing.TB) (all []string) {
	t.Helper()
	all = append(all, fmt.Sprint("likelihood ", s.likelihood))
	p, err := engine.CPU[float32]().Compile(s.network(t), nn.Fixed)
	if err != nil {
		t.Fatal(err)
	}
	for n := range p.Graph().All() {
		all = append(all, cmp.Or(n.Name, n.Layer.Kind())) // the whole network has no name
	}
	return all
}

// inputs returns rows, always the same, with or without variances.
func (s subject) inputs(rows int, form nn.Form) gauss.Batch[float32] {
	x := gauss.New[float32](rows, s.in.Size())
	for i := range x.Mean {
		x.Mean[i] = float32(rng.Normal(rng.New(11), uint64(i)))
		x.Var[i] = float32(0.1 + rng.Uniform(rng.New(12), uint64(i)))
	}
	if form == nn.Fixed {
		x.Var = nil
	}
	return x
}

// rows is how many the table of a training has, and batch how many a step takes of them: no whole
// number of any engine's blocks.
const (
	rows  = 90
	batch = 37
)

// table returns rows to train on.
func (s subject) table(t testing.TB, form nn.Form) data.Source {
	t.Helper()
	targets, err := s.likelihood.Targets(s.outputs(t))
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float32, rows*targets)
	for i := range y {
		y[i] = float32(rng.Normal(rng.New(3), uint64(i)))
	}
	d, err := data.NewTable(s.inputs(rows, form), targets, y)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (s subject) outputs(t testing.TB) int {
	t.Helper()
	p, err := engine.CPU[float32]().Compile(s.network(t), nn.Fixed)
	if err != nil {
		t.Fatal(err)
	}
	return p.Graph().Out.Size()
}

// job describes a training of the subject.
func (s subject) job(t testing.TB) engine.Job {
	t.Helper()
	pool := engine.NewPool(1)
	t.Cleanup(pool.Close)
	return engine.Job{Data: s.table(t, nn.Fixed), Likelihood: s.likelihood, Optimizer: optim.AdamW{Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8},
		Batch: batch, Seed: rng.New(9), Pool: pool}
}
