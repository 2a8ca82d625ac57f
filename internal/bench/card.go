package bench

import (
	"errors"
	"fmt"
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
	Together []Together    `json:"together"`
	Refused  []string      `json:"refused,omitempty"` // what the engine does not run
}

// A CardNetwork is the figure of one network on a card: how long the card is busy.
type CardNetwork struct {
	Net       string  `json:"net"`
	Rule      string  `json:"rule"`
	Batch     int     `json:"batch"`
	ForwardUS float64 `json:"forward_us"`
	StepUS    float64 `json:"step_us"`
}

// Together says how fast several trainings of one network run at a time, each in its own
// stream, by the clock on the wall.
type Together struct {
	Net            string  `json:"net"`
	Batch          int     `json:"batch"`
	Trainings      int     `json:"trainings"`
	StepsPerSecond float64 `json:"steps_per_second"` // of all of them
}

// together measures trainings of the first network, 1,024 rows a step.
func together(e *gpu.Engine, trainings int) (Together, error) {
	const batch, steps = 1024, 256
	r := Together{Net: nets[0].name, Batch: batch, Trainings: trainings}
	var all []*train.Trainer
	defer func() {
		for _, t := range all {
			t.Close()
		}
	}()
	for range trainings {
		m, err := nets[0].build("ut", moment.UT(2))
		if err != nil {
			return r, err
		}
		x := newRows(4*batch, 1, 1)
		table, err := data.NewTable(x.x, 1, x.y)
		if err != nil {
			return r, err
		}
		t, err := train.New(m, train.Config{Engine: e, Data: table, Batch: batch, Steps: 2 * steps, Workers: 1})
		if err != nil {
			return r, err
		}
		all = append(all, t)
		if err := t.AdvanceTo(steps, nil); err != nil {
			return r, err
		}
	}
	errs := make([]error, trainings)
	var group sync.WaitGroup
	begin := time.Now()
	for i, t := range all {
		group.Go(func() { errs[i] = t.AdvanceTo(2*steps, nil) })
	}
	group.Wait()
	r.StepsPerSecond = float64(trainings*steps) / time.Since(begin).Seconds()
	return r, errors.Join(errs...)
}

// Card measures the networks on a card. Without a choice in o, these are all networks
// with ut and exact, at a batch of 1,024.
func Card(e *gpu.Engine, o Options) (*CardReport, error) {
	if o.Rules == nil {
		o.Rules = []string{"ut", "exact"}
	}
	if o.Batches == nil {
		o.Batches = []int{1024}
	}
	r := &CardReport{Card: e.Card()}
	for _, n := range nets {
		for _, rule := range rules {
			for _, batch := range []int{1, 128, 256, 1024} {
				if !chosen(o.Nets, n.name) || !chosen(o.Rules, rule.name) || !chosen(o.Batches, batch) {
					continue
				}
				m, err := n.build(rule.name, rule.rule)
				if err != nil {
					return r, err
				}
				pool := compute.NewPool(1)
				t, err := e.Time(m.Network(), engine.Job{Data: newRows(batch, n.input().Size(), n.outputs()), Likelihood: likelihood.Normal{},
					Optimizer: optim.Paper(), Batch: batch, Seed: rng.New(1), Pool: pool})
				pool.Close()
				if _, refused := errors.AsType[*gpu.Unsupported](err); refused {
					r.Refused = append(r.Refused, fmt.Sprintf("%s %s: %v", n.name, rule.name, err))
					continue
				}
				if err != nil {
					return r, fmt.Errorf("%s %s, batch %d: %w", n.name, rule.name, batch, err)
				}
				r.Networks = append(r.Networks, CardNetwork{n.name, rule.name, batch, t.Forward, t.Step})
			}
		}
	}
	if !chosen(o.Nets, nets[0].name) {
		return r, nil
	}
	for _, n := range []int{1, 8, 100} {
		t, err := together(e, n)
		if err != nil {
			return r, err
		}
		r.Together = append(r.Together, t)
	}
	return r, nil
}
