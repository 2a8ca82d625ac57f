package fit

import (
	"context"
	"io"

	"utvi/internal/compute"
	"utvi/table"
)

// stream does work on the chunks of a source, many at a time on the workers of a
// pool, and hands the results to emit in the order of the rows. While some tasks
// work on one round of chunks, one emits the results of the round before.
func stream[T any](ctx context.Context, src table.Source, pool *compute.Pool, work func(worker int, c *table.Chunk) (T, error), emit func(T) error) error {
	type done struct {
		value T
		err   error
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
		})
		if flushed != nil {
			return flushed
		}
		if ready = next; failed != nil {
			ready = append(ready, done{err: failed})
		}
	}
	return flush()
}
