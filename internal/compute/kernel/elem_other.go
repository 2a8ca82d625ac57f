//go:build !amd64 && !arm64

package kernel

import "utvi/internal/compute/internal/cpu"

// vectorKernels are never used: vector is false.
var vectorKernels [NumOps]kernel

func leakyMomentsVector(o *Moments[float32], a float32, m, v []float32)      { panic(cpu.Missing) }
func leakyThreeVector(o *Moments[float32], a float32, m, v, xi, w []float32) { panic(cpu.Missing) }
