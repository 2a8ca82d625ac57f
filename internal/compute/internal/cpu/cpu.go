// Package cpu says what the processor offers: which family of kernels is at work, how wide
// its vectors are, how large its caches. Only the packages of compute see it.
package cpu

import (
	"runtime"
	"unsafe"
)

// Vector tells whether vector kernels run instead of the Go twins, Wide whether they are
// those of AVX-512. GODEBUG=cpu.avx512f=off, cpu.avx2=off or, on arm64, cpu.asimd=off
// denies what the CPU has.
// Tests switch both by Use.
var Vector, Wide = hasVector, hasWide

// Family names the kernels that run: "avx512", "avx2", "neon" or "go". Results are
// bit-identical within a family and agree to rounding between families.
func Family() string {
	switch {
	case Wide:
		return "avx512"
	case Vector && runtime.GOARCH == "arm64":
		return "neon"
	case Vector:
		return "avx2"
	}
	return "go"
}

// Lanes is how many float32 a vector of the family at work holds.
func Lanes() int {
	switch {
	case Wide:
		return 16
	case runtime.GOARCH == "arm64":
		return 4
	}
	return 8
}

// Is32 tells whether T is float32, the type that has vector kernels.
func Is32[T float32 | float64]() bool { return unsafe.Sizeof(T(0)) == 4 }

// As32 is s as what it is where Is32 holds. An assertion any(s).([]float32)
// would do the same but let every operand escape to the heap.
func As32[T float32 | float64](s []T) []float32 { return *(*[]float32)(unsafe.Pointer(&s)) }

// Missing and NotWide are what kernels say that this processor does not have. Nothing calls them.
const (
	Missing = "compute: no vector kernels on this machine"
	NotWide = "compute: no kernels of AVX-512 on this machine"
)

// Families are those that this architecture can have.
func Families() []string {
	switch runtime.GOARCH {
	case "amd64":
		return []string{"go", "avx2", "avx512"}
	case "arm64":
		return []string{"go", "neon"}
	}
	return []string{"go"}
}

// Has reports whether this machine can run a family's kernels.
func Has(family string) bool {
	return (family == "go" || hasVector) && (family != "avx512" || hasWide)
}

// Use lets the kernels of a family run, which the machine has. It is for tests.
func Use(family string) {
	Vector = family != "go"
	Wide = family == "avx512"
}
