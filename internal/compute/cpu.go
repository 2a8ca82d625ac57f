package compute

import "unsafe"

// vector tells whether the vector kernels run: the CPU has AVX2 and FMA, and
// GODEBUG=cpu.avx2=off does not deny it. Tests switch it to run both families.
var vector = hasVector

// Family names the kernels that run: "avx2" or "go". Results are bit-identical
// within a family and agree to rounding between families.
func Family() string {
	if vector {
		return "avx2"
	}
	return "go"
}

// is32 tells whether T is float32, the type that has vector kernels.
func is32[T Float]() bool { return unsafe.Sizeof(T(0)) == 4 }

// as32 is s as what it is where is32 holds. An assertion any(s).([]float32)
// would do the same but let every operand escape to the heap.
func as32[T Float](s []T) []float32 { return *(*[]float32)(unsafe.Pointer(&s)) }
