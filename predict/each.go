package predict

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"utvi/engine"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/table"
)

// Inputs predicts rows of the networks' inputs, with or without variances. For a
// tabular model these are encoded columns.
func (p *Predictor) Inputs(ctx context.Context, x gauss.Batch[float32]) ([]Prediction, error) {
	out := make([]Prediction, 0, max(0, x.Rows))
	err := p.Each(ctx, x, func(b *Batch, _ int) error {
		out = b.appendTo(out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Each predicts rows as Inputs does, and calls visit for some of them at a time, without
// copies; first is the number of the batch's first row.
func (p *Predictor) Each(ctx context.Context, x gauss.Batch[float32], visit func(b *Batch, first int) error) error {
	if err := p.m.checkInputs(x); err != nil {
		return err
	}
	return p.some(ctx, x.Rows, func(s *session, lo, hi int) error {
		if err := s.predict(x.Slice(lo, hi)); err != nil {
			return err
		}
		return visit(&s.batch, lo)
	})
}

// EachOn is Each on the workers of a pool (nil is a pool of all cores): several goroutines
// call visit at the same time, in any order of the rows. Rows before one that cannot be
// predicted may have been visited.
func (p *Predictor) EachOn(ctx context.Context, x gauss.Batch[float32], pool *engine.Pool, visit func(b *Batch, first int) error) error {
	if err := p.m.checkShape(x); err != nil {
		return err
	}
	if pool == nil {
		pool = compute.NewPool(runtime.GOMAXPROCS(0))
		defer pool.Close()
	}
	sessions := make([]*session, pool.Workers())
	step := p.m.most(p.m.tierOf(table.MaxRows))
	errs := make([]error, (x.Rows+step-1)/step)
	var failed atomic.Bool
	pool.Run(len(errs), func(worker, task int) {
		if failed.Load() || ctx.Err() != nil {
			return
		}
		s := sessions[worker]
		if s == nil {
			s = p.m.session(table.MaxRows)
			s.batch.p = p
			s.batch.s = s
			sessions[worker] = s
		}
		lo := task * step
		part := x.Slice(lo, min(x.Rows, lo+step))
		err := checkNumbers(part, lo)
		if err == nil {
			err = s.predict(part)
		}
		if err == nil {
			err = visit(&s.batch, lo)
		}
		if err != nil {
			errs[task] = err
			failed.Store(true)
		}
	})
	for _, s := range sessions {
		if s != nil {
			s.release()
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (m *Model) checkInputs(x gauss.Batch[float32]) error {
	if err := m.checkShape(x); err != nil {
		return err
	}
	return checkNumbers(x, 0)
}

func (m *Model) checkShape(x gauss.Batch[float32]) error {
	n := x.Rows * x.Width
	switch {
	case x.Width != m.Inputs():
		return fmt.Errorf("a row has %d numbers; the network has %d inputs", x.Width, m.Inputs())
	case x.Rows < 0 || len(x.Mean) != n || x.Var != nil && len(x.Var) != n:
		return fmt.Errorf("%d rows of %d inputs do not hold %d numbers and %d variances", x.Rows, x.Width, len(x.Mean), len(x.Var))
	}
	return nil
}

// checkNumbers reports numbers that cannot be predicted; first is the number of the first
// row.
func checkNumbers(x gauss.Batch[float32], first int) error {
	for i, v := range x.Mean {
		if v-v != 0 {
			return fmt.Errorf("row %d, input %d: %v is not a finite number", first+i/x.Width+1, i%x.Width+1, v)
		}
	}
	for i, v := range x.Var {
		if !(v >= 0) || v-v != 0 {
			return fmt.Errorf("row %d, input %d: the variance is %v; it must be finite and ≥ 0", first+i/x.Width+1, i%x.Width+1, v)
		}
	}
	return nil
}
