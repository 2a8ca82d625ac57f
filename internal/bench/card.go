package bench

import (
	"errors"
	"fmt"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/optim"
	"utvi/rng"
)

// A CardReport is what `utvi bench --device cuda --json` prints.
type CardReport struct {
	Card     string        `json:"card"`
	Networks []CardNetwork `json:"networks"`
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
	return r, nil
}
