package bench

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"utvi/data"
	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
)

// A CardReport is what `utvi bench --device cuda --json` prints.
type CardReport struct {
	Card     string        `json:"card"`
	Networks []CardNetwork `json:"networks"`
	Tilings  []CardNetwork `json:"tilings"` // the same networks with each size of tiles
	Together []Together    `json:"together"`
	Refused  []string      `json:"refused,omitempty"` // what the engine does not run
	Remarks  []string      `json:"remarks,omitempty"` // of the driver, on kernels that it compiled
}

// A CardNetwork is the figure of one network on a card: how long the card is busy.
type CardNetwork struct {
	Net       string  `json:"net"`
	Rule      string  `json:"rule"`
	Batch     int     `json:"batch"`
	ForwardUS float64 `json:"forward_us"`
	StepUS    float64 `json:"step_us"`

	Tiles   string           `json:"tiles,omitempty"`   // forced on all products
	Kernels []gpu.KernelTime `json:"kernels,omitempty"` // of a step
}

// Together says how fast several trainings of one network run side by side, by the clock on
// the wall.
type Together struct {
	Net            string  `json:"net"`
	Batch          int     `json:"batch"`
	Trainings      int     `json:"trainings"`
	StepsPerSecond float64 `json:"steps_per_second"` // of all of them
}

// together measures trainings of a network. Rows that are not drawn lie on the card.
func together(e *gpu.Engine, n net, batch, trainings int) (Together, error) {
	const warm, steps = 64, 2048 // many runs of a party: in the first and the last ones not all are at work
	o := optim.Paper()
	o.Clip = 100 // as the paper's localisation needs it
	r := Together{Net: n.name, Batch: batch, Trainings: trainings}
	var all []*train.Trainer
	defer func() {
		for _, t := range all {
			t.Close()
		}
	}()
	for range trainings {
		m, err := n.build("ut", moment.UT(2))
		if err != nil {
			return r, err
		}
		source := n.source(4 * batch)
		if x, ok := source.(*rows); ok {
			source, err = data.NewTable(x.x, x.Targets(), x.y)
			if err != nil {
				return r, err
			}
		}
		t, err := train.New(m, train.Config{Engine: e, Data: source, Optimizer: o, Batch: batch, Steps: warm + steps, Workers: 1, Beside: trainings})
		if err != nil {
			return r, err
		}
		all = append(all, t)
		if err := t.AdvanceTo(warm, nil); err != nil {
			return r, err
		}
	}
	errs := make([]error, trainings)
	var group sync.WaitGroup
	begin := time.Now()
	for i, t := range all {
		group.Go(func() { errs[i] = t.AdvanceTo(warm+steps, nil) })
	}
	group.Wait()
	r.StepsPerSecond = float64(trainings*steps) / time.Since(begin).Seconds()
	return r, errors.Join(errs...)
}

// onCard measures a network with one rule.
func onCard(e *gpu.Engine, n net, rule string, r moment.Rule, batch int) (CardNetwork, error) {
	m, err := n.build(rule, r)
	if err != nil {
		return CardNetwork{}, err
	}
	pool := compute.NewPool(1)
	defer pool.Close()
	t, err := e.Time(m.Network(), engine.Job{Data: n.source(batch), Likelihood: likelihood.Normal{},
		Optimizer: optim.Paper(), Batch: batch, Seed: rng.New(1), Pool: pool})
	return CardNetwork{Net: n.name, Rule: rule, Batch: batch, ForwardUS: t.Forward, StepUS: t.Step, Kernels: t.Kernels}, err
}

// tilings measures the networks with each size of tiles, for the rule ut.
func (r *CardReport) tilings(e *gpu.Engine) error {
	defer e.Tile("")
	for _, x := range r.Networks {
		if x.Rule != "ut" {
			continue
		}
		for _, tile := range gpu.Tiles() {
			if err := e.Tile(tile); err != nil {
				return err
			}
			i := slices.IndexFunc(nets, func(n net) bool { return n.name == x.Net })
			y, err := onCard(e, nets[i], x.Rule, moment.UT(2), x.Batch)
			if err != nil {
				return err
			}
			y.Tiles = tile
			r.Tilings = append(r.Tilings, y)
		}
	}
	return nil
}

// Card measures the networks on a card. Without a choice in o, these are all networks
// with ut and exact, at a batch of 1,024, and 256 for the paper's localisation. Quick leaves
// out sizes of tiles, and trainings side by side.
func Card(e *gpu.Engine, o Options) (*CardReport, error) {
	if o.Rules == nil {
		o.Rules = []string{"ut", "exact"}
	}
	r := &CardReport{Card: e.Card()}
	defer func() { r.Remarks = e.Remarks() }()
	if err := r.networks(e, o); err != nil || o.Quick {
		return r, err
	}
	o.tell(len(r.Networks), "sizes of tiles")
	if err := r.tilings(e); err != nil {
		return r, err
	}
	return r, r.sideBySide(e, o)
}

// networks measures the chosen networks, rules and batches.
func (r *CardReport) networks(e *gpu.Engine, o Options) error {
	for _, n := range nets {
		batches := o.Batches
		if batches == nil {
			batches = []int{n.usual()}
		}
		for _, rule := range rules {
			for _, batch := range []int{1, 128, 256, 1024} {
				if !chosen(o.Nets, n.name) || !chosen(o.Rules, rule.name) || !chosen(batches, batch) {
					continue
				}
				o.tell(len(r.Networks), fmt.Sprintf("%s %s, batch %d", n.name, rule.name, batch))
				x, err := onCard(e, n, rule.name, rule.rule, batch)
				if _, refused := errors.AsType[*gpu.Unsupported](err); refused {
					r.Refused = append(r.Refused, fmt.Sprintf("%s %s: %v", n.name, rule.name, err))
					continue
				}
				if err != nil {
					return fmt.Errorf("%s %s, batch %d: %w", n.name, rule.name, batch, err)
				}
				r.Networks = append(r.Networks, x)
			}
		}
	}
	return nil
}

// sideBySide measures trainings of the first network, and of the paper's, side by side.
func (r *CardReport) sideBySide(e *gpu.Engine, o Options) error {
	for _, n := range nets {
		if n.name != nets[0].name && !n.paper || !chosen(o.Nets, n.name) {
			continue
		}
		for _, k := range []int{1, 8, 32, 100} {
			o.tell(len(r.Networks), fmt.Sprintf("%s, %d trainings", n.name, k))
			t, err := together(e, n, n.usual(), k)
			if err != nil {
				return err
			}
			r.Together = append(r.Together, t)
		}
	}
	return nil
}

// usual is the batch that a network is measured with on a card.
func (n net) usual() int {
	if n.paper {
		return 256
	}
	return 1024
}

// tell reports what is measured next.
func (o Options) tell(done int, what string) {
	if o.Progress != nil {
		o.Progress(done, 2*len(nets), what)
	}
}
