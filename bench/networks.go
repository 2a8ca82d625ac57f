package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"utvi/compute"
	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
	"utvi/train"
)

// A net is a stack of dense layers.
type net struct {
	name   string
	widths []int
}

var nets = []net{
	{"1-128-128-1", []int{1, 128, 128, 1}},
	{"64-512-512-512-8", []int{64, 512, 512, 512, 8}},
	{"784-2048-2048-10", []int{784, 2048, 2048, 10}},
}

var rules = []struct {
	name string
	rule moment.Rule // nil: fixed weights, the deterministic pass
}{
	{"ut", moment.UT(2)}, {"exact", moment.Exact()}, {"gh5", moment.GaussHermite(5)},
	{"mc3", moment.MonteCarlo(3)}, {"mc10", moment.MonteCarlo(10)}, {"mc128", moment.MonteCarlo(128)},
	{"none", nil},
}

// floors returns the operations of the products alone: forward and of a whole
// step. A deterministic network has one product forward, three in a step (two in
// its first layer).
func (n net) floors(batch int, fixed bool) (forward, step float64) {
	for i := range len(n.widths) - 1 {
		w := 2 * float64(batch) * float64(n.widths[i]*n.widths[i+1])
		switch {
		case fixed && i == 0:
			forward, step = forward+w, step+2*w
		case fixed:
			forward, step = forward+w, step+3*w
		case i == 0:
			forward, step = forward+2*w, step+4*w
		default:
			forward, step = forward+3*w, step+9*w
		}
	}
	return forward, step
}

func (n net) build(rule moment.Rule) (*model.Model, error) {
	fixed := rule == nil
	if fixed {
		rule = moment.UT(2)
	}
	var layers nn.Chain
	for i, w := range n.widths[1:] {
		layers = append(layers, nn.Dense{Out: w, Fixed: fixed})
		if i < len(n.widths)-2 {
			layers = append(layers, nn.Apply{F: fn.LeakyReLU(0.01), Rule: rule})
		}
	}
	return model.New(model.Config{Input: nn.Vec(n.widths[0]), Layers: layers, Seed: 1})
}

// networks lists the measurements of whole networks; their results go to r.
func networks(r *Report, o Options) []timing {
	var todo []timing
	for _, n := range nets {
		for _, rule := range rules {
			for _, batch := range []int{1, 128, 1024} {
				for _, threads := range []int{1, 2} {
					if !o.wants(n.name, rule.name, batch, threads) {
						continue
					}
					what := fmt.Sprintf("%s %s, batch %d, %d threads", n.name, rule.name, batch, threads)
					todo = append(todo, timing{what, func(ctx context.Context, windows int, window time.Duration) error {
						f, err := network(n, rule.name, rule.rule, batch, threads, windows, window)
						r.Networks = append(r.Networks, f)
						return err
					}})
				}
			}
		}
	}
	return todo
}

// Nets and Rules are the names that Options know.
func Nets() (names []string) {
	for _, n := range nets {
		names = append(names, n.name)
	}
	return names
}

func Rules() (names []string) {
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

func (o Options) wants(net, rule string, batch, threads int) bool {
	return chosen(o.Nets, net) && chosen(o.Rules, rule) && chosen(o.Batches, batch) && chosen(o.Threads, threads) &&
		(!o.Quick || quick(net, rule, batch, threads))
}

// chosen reports whether list, if there is one, holds x.
func chosen[T comparable](list []T, x T) bool { return len(list) == 0 || slices.Contains(list, x) }

// quick keeps what the bars speak of and what takes no time.
func quick(net, rule string, batch, threads int) bool {
	if net == "784-2048-2048-10" {
		return rule == "ut" && batch == 128 && threads == 1
	}
	if net == "64-512-512-512-8" {
		return (rule == "ut" || rule == "none") && (threads == 1 || batch == 1024)
	}
	return threads == 1 || rule == "ut"
}

func network(n net, name string, rule moment.Rule, batch, threads, windows int, window time.Duration) (Network, error) {
	f := Network{Net: n.name, Rule: name, Batch: batch, Threads: threads}
	m, err := n.build(rule)
	if err != nil {
		return f, err
	}
	pool := compute.NewPool(threads)
	defer pool.Close()
	src := newRows(batch, n.widths[0], n.widths[len(n.widths)-1])
	p := m.NewPredictorOn(pool, batch)
	forward, step := n.floors(batch, rule == nil)

	predict := func() { p.Predict(src.x) }
	g := measure(windows, window, forward, threads, predict)
	f.ForwardUS, f.ForwardFloor = 1e6*g.seconds, g.overFloor
	f.Allocs = testing.AllocsPerRun(2, predict)

	t, err := train.New(m, train.Config{Data: src, Batch: batch, Steps: 1 << 30, Workers: threads})
	if err != nil {
		return f, err
	}
	defer t.Close()
	var failed error
	g = measure(windows, window, step, threads, func() {
		if _, err := t.Advance(); err != nil {
			failed = err
		}
	})
	f.StepUS, f.StepFloor = 1e6*g.seconds, g.overFloor
	return f, failed
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
