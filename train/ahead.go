package train

import (
	"errors"

	"utvi/engine"
)

// aheadSteps is the most steps that are given to an engine at a time.
const aheadSteps = 64

// Ahead returns how many steps the engine makes without waiting for the host in between.
func (t *Trainer) Ahead() int {
	if _, ok := t.program.(engine.Pipeline); ok {
		return aheadSteps
	}
	return 1
}

// AdvanceTo makes all steps up to the given one and reports each, if report is not nil.
// It writes no checkpoint. An engine that can, such as a card, makes them without waiting
// for the host in between; the parameters of the network are current when AdvanceTo
// returns.
func (t *Trainer) AdvanceTo(step int, report func(Step)) error {
	step = min(step, t.config.Steps)
	p, ok := t.program.(engine.Pipeline)
	for t.step < step {
		var err error
		if ok {
			err = t.ahead(p, step, report)
		} else {
			var s Step
			s, err = t.Advance()
			if err == nil && report != nil {
				report(s)
			}
		}
		if err != nil {
			return errors.Join(err, t.syncGood(err))
		}
	}
	return t.Sync()
}

// syncGood makes the parameters those of the last good step, after a step that failed by
// its numbers and not by its engine.
func (t *Trainer) syncGood(err error) error {
	if _, bad := errors.AsType[*NotFiniteError](err); bad {
		return t.Sync()
	}
	return nil
}

// ahead makes steps up to the given one, or up to the next update of the priors.
func (t *Trainer) ahead(p engine.Pipeline, step int, report func(Step)) error {
	t.reports, t.updates = t.reports[:0], t.updates[:0]
	for n := t.step + 1; n <= step && len(t.reports) < aheadSteps; n++ {
		if c := t.config; c.Prior != nil && c.Prior.Due(n) {
			if n > t.step+1 {
				break
			}
			p.FitPriors(*c.Prior)
		}
		s, u, err := t.plan(n)
		if err != nil {
			return err
		}
		t.reports, t.updates = append(t.reports, s), append(t.updates, u)
	}
	if t.outcomes == nil {
		t.outcomes = make([]engine.Outcome, aheadSteps)
	}
	for i, o := range t.outcomes[:p.Run(t.updates, t.outcomes)] {
		s, err := t.finish(t.reports[i], o)
		if err != nil {
			return err
		}
		if report != nil {
			report(s)
		}
	}
	return nil
}
