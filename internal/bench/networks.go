package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"utvi/data"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/localization"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// A net is a stack of dense layers, on top of a convolution if it has one.
type net struct {
	name   string
	image  nn.Shape  // of the convolution's input
	conv   nn.Conv2D // none if it has no outputs
	widths []int     // inputs and outputs of the dense layers
	paper  bool      // with the output chains of the paper's localisation; it is measured by name, or on a card
	made   *made     // what its layers are, if they are others
}

var nets = []net{
	{name: "1-128-128-1", widths: []int{1, 128, 128, 1}},
	{name: "64-512-512-512-8", widths: []int{64, 512, 512, 512, 8}},
	{name: "64-512-512-512-1", widths: []int{64, 512, 512, 512, 1}}, // what correlations cost with one output
	{name: "784-2048-2048-10", widths: []int{784, 2048, 2048, 10}},
	// The paper's localisation network, up to its output chains.
	{name: "conv8-288-128-3", image: nn.Shape{H: 8, W: 8, C: 1}, conv: nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, widths: []int{288, 128, 3}},
	{name: localizer, image: nn.Shape{H: 8, W: 8, C: 1}, conv: nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, widths: []int{288, 128, 3}, paper: true},
	lstm, attention, grouped, depthwise, transposed, pooled,
}

// localizer is the paper's localisation network with its output chains. Its rows are
// drawn emitters.
const localizer = "localization"

var emitters = localization.Emitters{Side: 8, Spread: 2, Blur: 1.05, Photons: 100}

// chains are the paper's output chains: positions are quantiles of their prior, and the
// photon count is that expected at the position plus its deviation.
func chains(name string, rule moment.Rule) nn.Chain {
	if name == "exact" || name == correlated { // the function has no closed form
		rule = moment.GaussHermite(9)
	}
	return nn.Chain{nn.Scale{}, nn.Apply{F: fn.NormalInverse(), Rule: rule}, nn.Multiply{By: []float64{emitters.Spread, emitters.Spread, 1}},
		nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(emitters.Photons, emitters.Blur, float64(emitters.Side))}}
}

// source returns rows to train a network with.
func (n net) source(batch int) data.Source {
	if n.paper {
		return emitters.Source(300 * batch)
	}
	return newRows(batch, n.input().Size(), n.outputs())
}

// places is how often the convolution's weights are used in one image.
func (n net) places() int { return n.widths[0] / n.conv.Out }

// byName reports whether the network is measured only by name.
func (n net) byName() bool { return n.paper || n.made != nil }

func (n net) input() nn.Shape {
	if n.made != nil {
		return n.made.input
	}
	if n.conv.Out > 0 {
		return n.image
	}
	return nn.Vec(n.widths[0])
}

func (n net) outputs() int {
	if n.made != nil {
		return n.made.outputs
	}
	return n.widths[len(n.widths)-1]
}

var rules = []struct {
	name string
	rule moment.Rule // nil: fixed weights, the deterministic pass
}{
	{"ut", moment.UT(2)}, {"exact", moment.Exact()}, {correlated, moment.Exact()}, {"gh5", moment.GaussHermite(5)},
	{"mc3", moment.MonteCarlo(3)}, {"mc10", moment.MonteCarlo(10)}, {"mc128", moment.MonteCarlo(128)},
	{"none", nil},
}

// correlated is the exact rule with the correlations of units carried; each output costs
// about a backward pass.
const correlated = "correlated"

// floors returns the operations of the products alone: forward and of a whole
// step. A deterministic network has one product forward and three in a step; one
// with moments three and nine. The first layer, fed by numbers, has fewer.
func (n net) floors(batch int, fixed bool) (forward, step float64) {
	var weights []int // uses of a weight per row, layer by layer
	if n.made != nil {
		return n.made.floors(batch, fixed)
	}
	if n.conv.Out > 0 {
		k := n.conv.Kernel
		weights = append(weights, k[0]*k[1]*n.image.C*n.conv.Out*n.places())
	}
	for i := range len(n.widths) - 1 {
		weights = append(weights, n.widths[i]*n.widths[i+1])
	}
	for i, w := range weights {
		f, s := floorOf(batch, w, i == 0, fixed)
		forward += f
		step += s
	}
	return forward, step
}

// floorOf is the floor of a layer whose weights, or factors, are multiplied so many times for each
// row; first says that its inputs are numbers.
func floorOf(batch, uses int, first, fixed bool) (forward, step float64) {
	flop := 2 * float64(batch) * float64(uses)
	switch {
	case fixed && first:
		return flop, 2 * flop
	case fixed:
		return flop, 3 * flop
	case first:
		return 2 * flop, 4 * flop
	}
	return 3 * flop, 9 * flop
}

// traffic returns the bytes of the weights read once, a mean and a variance each, and of
// the parameters and the optimizer's moments read and written once.
func (n net) traffic(fixed bool) (read, moved float64) {
	if n.made != nil {
		return 0, 0 // its weights are few
	}
	w := float64(n.conv.Out * n.conv.Kernel[0] * n.conv.Kernel[1] * n.image.C)
	for i := range len(n.widths) - 1 {
		w += float64(n.widths[i] * n.widths[i+1])
	}
	if fixed {
		return 4 * w, 2 * 3 * 4 * w
	}
	return 8 * w, 2 * 6 * 4 * w
}

func (n net) build(name string, rule moment.Rule) (*model.Model, error) {
	fixed := rule == nil
	if fixed {
		rule = moment.UT(2)
	}
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: rule}
	var layers nn.Chain
	if n.made != nil {
		layers = n.made.layers(n.made.ruleOf(rule), fixed)
	}
	if conv := n.conv; conv.Out > 0 {
		conv.Fixed = fixed
		layers = append(layers, conv, act)
	}
	for i := 1; i < len(n.widths); i++ {
		w := n.widths[i]
		layers = append(layers, nn.Dense{Out: w, Fixed: fixed})
		if i < len(n.widths)-1 {
			layers = append(layers, act)
		}
	}
	if n.paper {
		layers = append(layers, chains(name, rule)...)
	}
	if name == correlated {
		layers = nn.Correlate(layers)
	}
	c := model.Config{Input: n.input(), Layers: layers, Seed: 1}
	if n.paper {
		c.Init = vi.Std(0.05)
	}
	return model.New(c)
}

// networks lists the measurements of whole networks; their results go to r.
func networks(r *Report, o Options, m *memory) []timing {
	var todo []timing
	for _, n := range nets {
		for _, rule := range rules {
			for _, batch := range []int{1, 128, 1024} {
				for _, threads := range o.Threads {
					if n.byName() && o.Nets == nil || !o.wants(n.name, rule.name, batch, threads) {
						continue
					}
					what := fmt.Sprintf("%s %s, batch %d, %d threads", n.name, rule.name, batch, threads)
					todo = append(todo, timing{what, func(ctx context.Context, windows int, window time.Duration) error {
						f, err := network(n, rule.name, rule.rule, batch, threads, windows, window, m)
						r.Networks = append(r.Networks, f)
						return err
					}})
				}
			}
		}
	}
	return todo
}

// Nets are the names of networks that Options know.
func Nets() (names []string) {
	for _, n := range nets {
		names = append(names, n.name)
	}
	return names
}

// Rules are the names of rules that Options know.
func Rules() (names []string) {
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

func (o Options) wants(net, rule string, batch, threads int) bool {
	return chosen(o.Nets, net) && chosen(o.Rules, rule) && chosen(o.Batches, batch) &&
		(!o.Quick || quick(net, rule, batch, threads))
}

// chosen reports whether list, if there is one, holds x.
func chosen[T comparable](list []T, x T) bool { return len(list) == 0 || slices.Contains(list, x) }

// quick keeps the cases with a required speed and the cases that take no time.
func quick(net, rule string, batch, threads int) bool {
	if net == "784-2048-2048-10" {
		return rule == "ut" && batch == 128 && threads == 1
	}
	if net == "64-512-512-512-1" {
		return (rule == "exact" || rule == correlated) && batch == 1024 && threads == 1
	}
	if net == "64-512-512-512-8" {
		return (rule == "ut" || rule == "none") && (threads == 1 || batch == 1024)
	}
	return threads == 1 && (rule != "mc128" || batch < 1024) || rule == "ut"
}

func network(n net, name string, rule moment.Rule, batch, threads, windows int, window time.Duration, mem *memory) (Network, error) {
	f := Network{Net: n.name, Rule: name, Batch: batch, Threads: threads}
	r, err := n.rig(name, rule, batch, threads)
	if err != nil {
		return f, err
	}
	defer r.close()
	forward, step := n.floors(batch, rule == nil)
	readBytes, moveBytes := n.traffic(rule == nil)
	far := readBytes > float64(mem.l2) // else the weights stay in a core's own cache

	g := measure(windows, window, forward, threads, r.predict)
	f.ForwardUS, f.ForwardFloor = 1e6*g.seconds, g.overFloor
	if far {
		f.ForwardMemory = measureMemory(windows, window, readBytes, r.pool, mem, r.predict)
	}
	f.Allocs = allocs(r.predict)

	g = measure(windows, window, step, threads, r.step)
	f.StepUS, f.StepFloor = 1e6*g.seconds, g.overFloor
	if far {
		f.StepMemory = g.seconds * mem.read(r.pool, window) * 1e9 / moveBytes
	}
	if threads == 1 || r.failed != nil {
		return f, r.failed
	}
	one, err := n.rig(name, rule, batch, 1)
	if err != nil {
		return f, err
	}
	defer one.close()
	rounds := max(windows, min(threads, gainRounds))
	f.ForwardGain = measureGain(rounds, window, one.predict, r.predict)
	f.StepGain = measureGain(rounds, window, one.step, r.step)
	return f, errors.Join(r.failed, one.failed)
}

// A rig is a network that predicts and is trained with some threads.
type rig struct {
	pool    *compute.Pool
	trainer *train.Trainer
	predict func()
	failed  error // the last step that did
}

func (n net) rig(name string, rule moment.Rule, batch, threads int) (*rig, error) {
	m, err := n.build(name, rule)
	if err != nil {
		return nil, err
	}
	t, err := train.New(m, train.Config{Data: n.source(batch), Batch: batch, Steps: 1 << 30, Workers: threads})
	if err != nil {
		return nil, err
	}
	pool := compute.NewPool(threads)
	p, src := m.NewPredictorOn(pool, batch), newRows(batch, n.input().Size(), n.outputs())
	return &rig{pool: pool, trainer: t, predict: func() { p.Predict(src.x) }}, nil
}

func (r *rig) step() {
	if _, err := r.trainer.Advance(); err != nil {
		r.failed = err
	}
}

func (r *rig) close() {
	r.trainer.Close()
	r.pool.Close()
}

// rows is a data source that is one fixed batch.
type rows struct {
	x gauss.Batch[float32]
	y []float32
}

func newRows(n, in, out int) *rows {
	r := &rows{gauss.Fixed(in, make([]float32, n*in)), make([]float32, n*out)}
	for i := range r.x.Mean {
		r.x.Mean[i] = float32(rng.Normal(rng.New(1), uint64(i)))
	}
	for i := range r.y {
		r.y[i] = float32(rng.Normal(rng.New(2), uint64(i)))
	}
	return r
}

func (r *rows) Rows() int                  { return r.x.Rows }
func (r *rows) Inputs() int                { return r.x.Width }
func (r *rows) Targets() int               { return len(r.y) / r.x.Rows }
func (r *rows) Uncertain() bool            { return false }
func (r *rows) Begin(rng.Key, uint64, int) {}
func (r *rows) Fill(lo, hi int, x gauss.Batch[float32], y []float32) {
	copy(x.Mean, r.x.Mean[lo*r.x.Width:hi*r.x.Width])
	copy(y, r.y[lo*r.Targets():hi*r.Targets()])
}
