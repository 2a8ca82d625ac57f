package predict

import (
	"context"
	"io"
	"runtime"
	"slices"

	"utvi/engine"
	"utvi/internal/compute"
	"utvi/table"
)

// Stream predicts the rows of a table, many at a time on the workers of a pool (nil is
// a pool of all cores), and passes the results of work to emit in the order of the
// rows. Several goroutines call work at the same time; one at a time calls emit. Memory
// does not depend on the number of rows. If rows has a method Done(rows int), these
// goroutines call it with the number of rows after each call of work.
func Stream[T any](ctx context.Context, p *Predictor, rows table.Source, pool *engine.Pool, work func(*Batch) (T, error), emit func(T) error) error {
	if pool == nil {
		pool = compute.NewPool(runtime.GOMAXPROCS(0))
		defer pool.Close()
	}
	next, err := p.m.batches(rows, p.o.SetAside)
	if err != nil {
		return err
	}
	if most := p.m.most(p.m.tierOf(table.MaxRows)); most < table.MaxRows {
		rows = &cut{Source: rows, most: most}
	}
	sessions := make([]*session, pool.Workers())
	for i := range sessions {
		sessions[i] = p.m.session(table.MaxRows)
		sessions[i].batch.p, sessions[i].batch.s = p, sessions[i]
		defer sessions[i].release()
	}
	return inOrder(ctx, rows, pool, func(worker int, c *table.Chunk) (out T, err error) {
		s := sessions[worker]
		if err := next(s, c); err != nil {
			return out, err
		}
		return work(&s.batch)
	}, emit)
}

// batches returns what predicts a chunk of a table: by the names of columns, or, with
// a network, by their order. aside sets rows aside whose cells cannot be read.
func (m *Model) batches(rows table.Source, aside bool) (func(s *session, c *table.Chunk) error, error) {
	read, err := m.reader(rows.Header())
	if err != nil {
		return nil, err
	}
	return func(s *session, c *table.Chunk) error {
		x := s.grow(c.Rows(), m.Inputs(), m.Schema != nil && m.Schema.Uncertain())
		s.batch.unread = nil
		if aside && read.encoder != nil {
			s.unread = slices.Grow(s.unread[:0], c.Rows())[:c.Rows()]
			s.batch.unread = s.unread
			read.encoder.InputsAside(c, x, s.unread)
		} else if err := read.inputs(c, x); err != nil {
			return err
		}
		s.batch.chunk, s.batch.encoder = c, read.encoder
		return s.predict(x)
	}, nil
}

// inOrder does work on the chunks of a source and hands the results to emit in the
// order of the rows. While some tasks work on one round of chunks, one emits the
// results of the round before.
func inOrder[T any](ctx context.Context, src table.Source, pool *compute.Pool, work func(worker int, c *table.Chunk) (T, error), emit func(T) error) error {
	type done struct {
		value T
		err   error
	}
	finished := func(int) {}
	if s, ok := src.(interface{ Done(rows int) }); ok {
		finished = s.Done
	}
	var ready []done
	flush := func() error {
		for _, d := range ready {
			if d.err == nil {
				d.err = emit(d.value)
			}
			if d.err != nil {
				return d.err
			}
		}
		return nil
	}
	for ended := false; !ended; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var round []*table.Chunk
		var failed error
		for len(round) < 4*pool.Workers() && !ended {
			c, err := src.Next()
			if err != nil {
				ended = true
				if err != io.EOF {
					failed = err
				}
				break
			}
			round = append(round, c)
		}
		next := make([]done, len(round), len(round)+1)
		var flushed error
		pool.Run(len(round)+1, func(worker, task int) {
			if task == 0 {
				flushed = flush()
				return
			}
			d := &next[task-1]
			d.value, d.err = work(worker, round[task-1])
			finished(round[task-1].Rows())
		})
		if flushed != nil {
			return flushed
		}
		ready = next
		if failed != nil {
			ready = append(ready, done{err: failed})
		}
	}
	return flush()
}
