// Command cpu generates the two instructions of every x86 processor that Go cannot say: what
// the CPU tells about itself, and a short wait.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/out"
)

func main() {
	cpuid()
	pause()
	out.WriteEvery("cpu", "internal/cpu")
}

// cpuid generates the instruction of that name, which every CPU of this kind has.
func cpuid() {
	TEXT("cpuid", NOSPLIT, "func(leaf, sub uint32) (a, b, c, d uint32)")
	Doc("cpuid asks the CPU about itself.")
	Load(Param("leaf"), EAX)
	Load(Param("sub"), ECX)
	CPUID()
	Store(EAX, Return("a"))
	Store(EBX, Return("b"))
	Store(ECX, Return("c"))
	Store(EDX, Return("d"))
	RET()
}

// pause generates a wait of a few dozen cycles, in which the CPU leaves its units to the
// other thread of a core and does not read ahead of the value that is waited for.
func pause() {
	TEXT("pause", NOSPLIT, "func()")
	Doc("pause waits for a few dozen cycles.")
	PAUSE()
	RET()
}
