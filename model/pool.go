package model

import "utvi/engine"

// A Pool shares work among a fixed number of goroutines. Calls of one pool take turns.
// Close ends its goroutines; those of a pool that is no longer reachable end by
// themselves.
type Pool = engine.Pool

// NewPool returns a pool of the given number of workers, the caller included.
func NewPool(workers int) *Pool { return engine.NewPool(workers) }
