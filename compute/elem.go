package compute

// vectorKernels are the kernels of a CPU with AVX2 and FMA.
var vectorKernels = goKernels

func leakyMomentsVector(a float32, m, v, mean, variance, mm, mv, vm, vv []float32) {
	leakyMomentsGo(a, m, v, mean, variance, mm, mv, vm, vv)
}
