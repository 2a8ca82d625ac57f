//go:build !amd64 && !arm64

package compute

// vectorKernels are never used: vector is false.
var vectorKernels [NumOps]kernel

func leakyMomentsVector(o *Moments[float32], a float32, m, v []float32)      { panic(missing) }
func leakyThreeVector(o *Moments[float32], a float32, m, v, xi, w []float32) { panic(missing) }
