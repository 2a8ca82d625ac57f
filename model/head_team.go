package model

import (
	"fmt"

	"utvi/engine"
	"utvi/gauss"
	"utvi/nn"
)

// A team predicts with all networks of a head together, where their engine gains by it: on
// a card, rows without variances are sent once and not once for each network.
type team struct {
	by   engine.EnsemblePredictor[float32] // nil: each network predicts by itself
	outs []gauss.Batch[float32]
}

// gather makes the members of a head ready for inputs without variances.
func (t *team) gather(e *Ensemble, members []*member, pool *engine.Pool, rows int) error {
	var programs []engine.Program[float32]
	for k, n := range e.Members {
		p, err := n.program(nn.Fixed)
		if err != nil {
			return fmt.Errorf("network %d: %w", k, err)
		}
		programs = append(programs, p)
	}
	if lead := e.Members[0].engine; lead != nil && lead.Abilities().NewEnsemble != nil {
		by, ok := lead.Abilities().NewEnsemble(programs, pool, rows)
		if ok {
			t.by = by
			t.outs = make([]gauss.Batch[float32], len(members))
			for k, m := range members {
				m.net.fixed[nn.Fixed] = programs[k].Graph().To == nn.Fixed
			}
			return nil
		}
	}
	for k, m := range members {
		if err := m.net.ready(nn.Fixed); err != nil {
			return fmt.Errorf("network %d: %w", k, err)
		}
	}
	return nil
}

// takes reports whether the team predicts the rows.
func (t *team) takes(x gauss.Batch[float32]) bool { return t.by != nil && x.Var == nil && x.Rows > 0 }

// predict predicts the rows with all networks, if the team takes them.
func (t *team) predict(members []*member, x gauss.Batch[float32]) {
	if !t.takes(x) {
		return
	}
	members[0].net.check(x)
	for k, m := range members {
		_, t.outs[k] = m.net.room(x.Rows, nn.Fixed)
	}
	t.by.PredictAll(x, t.outs)
}

// outputs returns what a network predicts for the rows.
func (t *team) outputs(m *member, x gauss.Batch[float32]) gauss.Batch[float32] {
	if t.takes(x) {
		return m.net.out.Slice(0, x.Rows)
	}
	return m.net.Predict(x)
}
