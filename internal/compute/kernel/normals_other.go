//go:build !amd64

package kernel

import "utvi/rng"

// normalsVector has no kernel of its own: the Go twin gives the same bits.
func normalsVector(dst []float32, k rng.Key, row uint64, unit, n int, quad uint32, samples int) {
	normalsGo(dst, k, row, unit, n, quad, samples)
}
