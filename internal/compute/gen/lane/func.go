package lane

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/reg"
)

// Func opens a leaf function.
func Func(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Doc(name + " " + doc)
	Pragma("noescape")
}

// End closes it.
func End() {
	VZEROUPPER()
	RET()
}

// Arg loads an argument into a register.
func Arg(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }
