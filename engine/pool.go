package engine

import "utvi/internal/compute"

// A Pool is a number of workers that share the work of the host. Results do not depend on their
// number. Goroutines may share a pool; each runs its work alone.
type Pool = compute.Pool

// NewPool returns a pool of so many workers, the caller among them. Without Close, they end some
// time after the pool is garbage.
func NewPool(workers int) *Pool { return compute.NewPool(workers) }
