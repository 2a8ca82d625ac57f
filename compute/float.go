// Package compute holds the kernels every layer stands on: vector code in
// assembly where the CPU has it, a pure-Go twin for everywhere else, and the
// worker pool that shares work among cores.
package compute

// Float is what a network can be computed in: float32 to run, float64 to prove.
type Float interface{ float32 | float64 }
