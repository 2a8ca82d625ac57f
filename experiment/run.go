package experiment

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"utvi/compute"
	"utvi/model"
)

// runAll runs trials, some at a time, and hands each finished network with its
// scores to done, one call per index. The first failure stops the others, which
// keep their state.
func runAll(ctx context.Context, trials []trial, parallel int, tell Progress, done func(i int, m *model.Model, scores []float64)) error {
	if parallel < 1 {
		parallel = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pool := compute.NewPool(min(parallel, len(trials)))
	defer pool.Close()
	pool.Run(len(trials), func(_, i int) {
		if ctx.Err() != nil {
			return
		}
		t := trials[i]
		m, scores, err := t.run(ctx, func(step int, score float64) {
			if tell != nil {
				tell(Event{t.name, i, len(trials), step, t.train.Steps, score})
			}
		})
		switch {
		case err == nil:
			done(i, m, scores)
		case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
			cancel(err)
		default:
			cancel(fmt.Errorf("%s: %w", t.name, err))
		}
	})
	return context.Cause(ctx)
}

// checkSize reports numbers of trainings and steps that cannot be meant.
func checkSize(replicates, steps int) error {
	switch {
	case replicates < 1 || replicates > 1000:
		return fmt.Errorf("%d replicates; there must be 1 to 1000", replicates)
	case steps < 1 || steps > 10_000_000:
		return fmt.Errorf("%d steps; there must be 1 to 10000000", steps)
	}
	return nil
}
