package compute

import "unsafe"

// vector tells whether vector kernels run instead of the Go twins, wide whether they are
// those of AVX-512. GODEBUG=cpu.avx512f=off or cpu.avx2=off denies what the CPU has.
// Tests switch both to run every family.
var vector, wide = hasVector, hasWide

// Family names the kernels that run: "avx512", "avx2" or "go". Results are
// bit-identical within a family and agree to rounding between families.
func Family() string {
	switch {
	case wide:
		return "avx512"
	case vector:
		return "avx2"
	}
	return "go"
}

// lanes is how many float32 a vector of the family at work holds.
func lanes() int {
	if wide {
		return 16
	}
	return 8
}

// is32 tells whether T is float32, the type that has vector kernels.
func is32[T Float]() bool { return unsafe.Sizeof(T(0)) == 4 }

// as32 is s as what it is where is32 holds. An assertion any(s).([]float32)
// would do the same but let every operand escape to the heap.
func as32[T Float](s []T) []float32 { return *(*[]float32)(unsafe.Pointer(&s)) }
