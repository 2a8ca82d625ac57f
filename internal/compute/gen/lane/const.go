// Package lane holds what the elementwise generators share: constants in all lanes of a
// vector, and the loop over the elements of a slice.
package lane

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"

	"utvi/internal/compute/gen/isa"
)

var known = map[string]operand.Mem{}

// Quads is a constant of one 64-bit number each pair of lanes, by its place.
func Quads(name string, v func(i int) uint64) operand.Mem {
	if m, ok := known[name]; ok {
		return m
	}
	m := build.GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range isa.Lanes / 2 {
		build.DATA(8*i, operand.U64(v(i)))
	}
	known[name] = m
	return m
}

// Quad is v in each 64-bit lane.
func Quad(v uint64) operand.Mem {
	return Quads(fmt.Sprintf("quads_%x", v), func(int) uint64 { return v })
}

// Word is v in each 32-bit lane.
func Word(v uint32) operand.Mem { return Quad(uint64(v)<<32 | uint64(v)) }

// Float is v in each float32 lane.
func Float(v float32) operand.Mem { return Word(math.Float32bits(v)) }
