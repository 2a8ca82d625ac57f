// Package lane holds what the elementwise generators share: constants of eight
// float32 lanes, and the loop over the elements of a slice.
package lane

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

var known = map[string]operand.Mem{}

// Quads is a 32-byte constant of four 64-bit numbers.
func Quads(v [4]uint64) operand.Mem {
	name := fmt.Sprintf("quads_%x_%x", v[0], v[3])
	if m, ok := known[name]; ok {
		return m
	}
	m := build.GLOBL(name, attr.RODATA|attr.NOPTR)
	for i, v := range v {
		build.DATA(8*i, operand.U64(v))
	}
	known[name] = m
	return m
}

// Quad is v in each 64-bit lane.
func Quad(v uint64) operand.Mem { return Quads([4]uint64{v, v, v, v}) }

// Word is v in each 32-bit lane.
func Word(v uint32) operand.Mem { return Quad(uint64(v)<<32 | uint64(v)) }

// Float is v in each float32 lane.
func Float(v float32) operand.Mem { return Word(math.Float32bits(v)) }
