//go:build !amd64

package compute

import "utvi/rng"

func normalsVector(dst []float32, k rng.Key, row uint64, unit, n, samples int) { panic(missing) }
