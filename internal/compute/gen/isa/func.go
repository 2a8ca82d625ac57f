package isa

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// A Kernel is a function the generator has opened.
type Kernel struct{ Name, Signature string }

// Kernels are those of this generator so far.
var Kernels []Kernel

// Func opens a leaf function that all families have. Its callers use name, which
// chooses one of them; see package out.
func Func(name, signature string, doc ...string) {
	Kernels = append(Kernels, Kernel{name, signature})
	if NEON { // the only one there
		open(name, signature, doc)
	} else {
		Own(name, signature, doc...)
	}
}

// Own opens a leaf function of this family alone.
func Own(name, signature string, doc ...string) {
	open(strings.TrimSuffix(name, "Asm")+Title, signature, doc)
}

func open(name, signature string, doc []string) {
	TEXT(name, NOSPLIT, signature)
	if len(doc) > 0 {
		doc[0] = name + " " + doc[0]
		Doc(doc...)
	}
	Pragma("noescape")
}

// End closes a function.
func End() {
	VZEROUPPER()
	RET()
}

// Arg loads an argument into a register.
func Arg(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
