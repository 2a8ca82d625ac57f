//go:build !amd64

package compute

// vectorKernels are never used: vector is false.
var vectorKernels [NumOps]kernel

func leakyMomentsVector(a float32, m, v, mean, variance, mm, mv, vm, vv []float32) {
	panic("compute: no vector kernels on this machine")
}

func leakyThreeVector(o *Moments[float32], a float32, m, v, s, xi, w []float32) { panic(missing) }
