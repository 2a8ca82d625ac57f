package vec

import (
	"fmt"
	"math"
	"sort"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/x86"

	"utvi/internal/compute/gen/isa"
)

var (
	consts = map[uint32]Mem{} // the constants the file has
	pinned = map[uint32]V{}   // those in registers at present
	uses   = map[uint32]int{} // how often code being recorded reads each
)

// Const is c in all lanes, in read-only memory or pinned.
func Const(c float32) Op { return Bits(math.Float32bits(c)) }

// Hold is a register with c, not to be written to.
func Hold(c float32) V {
	if r, ok := Const(c).(V); ok {
		return r
	}
	return Reg(Const(c))
}

// Bits is the 32-bit pattern b in all lanes.
func Bits(b uint32) Op {
	uses[b]++
	if r, ok := pinned[b]; ok {
		return r
	}
	m, ok := consts[b]
	if !ok {
		m = GLOBL(fmt.Sprintf("c%08x", b), attr.RODATA|attr.NOPTR)
		if isa.AVX512 {
			DATA(0, U32(b))
			All(m)
		} else {
			for i := range isa.Lanes / 2 {
				DATA(8*i, U64(uint64(b)<<32|uint64(b)))
			}
		}
		consts[b] = m
	}
	return m
}

// single are places of one number that instructions read into all lanes; see All.
var single = map[Mem]bool{}

// All makes m, the place of one number, an operand with that number in all lanes, with AVX-512. The
// linker puts whole vectors anywhere in the cache lines, and those that lie in two cost double.
func All(m Mem) Mem {
	single[m] = true
	return m
}

// broadcast lets an instruction read a single number into all lanes.
func broadcast(i *ir.Instruction) {
	for _, op := range i.Operands {
		if m, ok := op.(Mem); !ok || !single[m] {
			continue
		}
		if i.Opcode == "VMOVUPS" {
			i.Opcode = "VBROADCASTSS"
		} else {
			i.Suffixes = append([]string{"BCST"}, i.Suffixes...)
		}
	}
}

// pin loads into registers the k constants that piece reads most often, until
// release. A processor loads two vectors per cycle, and would spend them all on
// constants.
func pin(k int, piece func()) (release func()) {
	clear(uses)
	record(piece)
	var order []uint32
	for b := range uses {
		order = append(order, b)
	}
	sort.Slice(order, func(i, j int) bool {
		a, b := order[i], order[j]
		return uses[a] > uses[b] || uses[a] == uses[b] && a < b
	})
	for _, b := range order[:min(max(k, 0), len(order))] {
		r := isa.Vec()
		put(x86.VMOVUPS(consts[b], r))
		pinned[b] = r
	}
	return func() { clear(pinned) }
}
