package compute

import (
	"runtime"
	"unsafe"
)

// vector tells whether vector kernels run instead of the Go twins, wide whether they are
// those of AVX-512. GODEBUG=cpu.avx512f=off, cpu.avx2=off or, on arm64, cpu.asimd=off
// denies what the CPU has.
// Tests switch both to run every family.
var vector, wide = hasVector, hasWide

// Family names the kernels that run: "avx512", "avx2", "neon" or "go". Results are
// bit-identical within a family and agree to rounding between families.
func Family() string {
	switch {
	case wide:
		return "avx512"
	case vector && runtime.GOARCH == "arm64":
		return "neon"
	case vector:
		return "avx2"
	}
	return "go"
}

// lanes is how many float32 a vector of the family at work holds.
func lanes() int {
	switch {
	case wide:
		return 16
	case runtime.GOARCH == "arm64":
		return 4
	}
	return 8
}

// is32 tells whether T is float32, the type that has vector kernels.
func is32[T Float]() bool { return unsafe.Sizeof(T(0)) == 4 }

// as32 is s as what it is where is32 holds. An assertion any(s).([]float32)
// would do the same but let every operand escape to the heap.
func as32[T Float](s []T) []float32 { return *(*[]float32)(unsafe.Pointer(&s)) }
