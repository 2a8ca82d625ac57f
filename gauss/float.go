package gauss

import "utvi/internal/compute"

// Float is the type that a network is computed in: float32 runs, float64 proves it.
type Float = compute.Float
