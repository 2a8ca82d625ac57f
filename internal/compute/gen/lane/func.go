package lane

import (
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
)

// Func opens a leaf function.
func Func(name, signature, doc string) { isa.Func(name, signature, doc) }

// End closes it.
func End() { isa.End() }

// Arg loads an argument into a register.
func Arg(name string) GPVirtual { return isa.Arg(name) }
