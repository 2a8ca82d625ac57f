//go:build !amd64

package compute

import "utvi/rng"

func normalsVector(dst []float32, k rng.Key, row uint64, unit, n int, quad uint32, samples int) {
	panic(missing)
}
