package compute

import "sync"

// Pool runs tasks on a fixed set of workers.
type Pool struct{ workers int }

// NewPool returns a pool of the given number of workers, the caller included.
func NewPool(workers int) *Pool { return &Pool{workers: max(1, workers)} }

// Workers is the number of workers.
func (p *Pool) Workers() int { return p.workers }

// Run calls f(worker, task) for each task < tasks and returns when all are done.
func (p *Pool) Run(tasks int, f func(worker, task int)) {
	var wg sync.WaitGroup
	for w := range p.workers {
		wg.Go(func() {
			for t := w; t < tasks; t += p.workers {
				f(w, t)
			}
		})
	}
	wg.Wait()
}

// Close ends the workers.
func (p *Pool) Close() {}
